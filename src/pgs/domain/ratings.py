"""A player's skill at a game, by OpenSkill's Plackett-Luce model.

Every live match that ends with a result updates it. Ratings are whole millionths of OpenSkill's
points, because no column holds a float and sums of whole numbers are the same on every machine.
"""

import math

import msgspec
from openskill.models import PlackettLuce

from pgs.domain.seats import Result

POINT = 1_000_000
"""Scale of ratings: millionths in a point. Whole numbers give the same sums on every machine."""

# The model with its defaults: mean 25, deviation 25/3. Each match adds a little deviation, so that
# later matches can always change a rating.
_MODEL = PlackettLuce()

# The ranks that the library takes, by the first player's result. The lower rank wins.
_RANKS: dict[Result, list[float]] = {"won": [0, 1], "lost": [1, 0], "drawn": [0, 0]}


class Rating(msgspec.Struct, frozen=True):
    """A player's skill at one game. `mu` (mean) and `sigma` (deviation): millionths of a point.

    `matches`: rated matches played. `last_opponent`: the opponent of the last one.
    """

    mu: int
    sigma: int
    matches: int = 0
    last_opponent: str | None = None


PERFORMANCE = round(math.sqrt(2) * _MODEL.beta * POINT)
"""Millionths of a point: the standard deviation, in one match, of the difference between two
players' performances. The deviation of one player's performance is the model's beta."""

UNRATED = Rating(round(_MODEL.mu * POINT), round(_MODEL.sigma * POINT))


def after_match(
    players: tuple[str, str], before: tuple[Rating, Rating], first_result: Result
) -> tuple[Rating, Rating]:
    """Return two players' ratings after a match, in the same order.

    `first_result`: the result of the first player.
    """
    teams = [[_MODEL.rating(mu=rating.mu / POINT, sigma=rating.sigma / POINT)] for rating in before]
    (one,), (two,) = _MODEL.rate(teams, ranks=_RANKS[first_result])
    return (
        Rating(round(one.mu * POINT), round(one.sigma * POINT), before[0].matches + 1, players[1]),
        Rating(round(two.mu * POINT), round(two.sigma * POINT), before[1].matches + 1, players[0]),
    )
