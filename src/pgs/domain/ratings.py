"""How strong a player is at a game: OpenSkill's Plackett-Luce model, moved by each match that ended with a result.

Ratings are whole millionths of OpenSkill's points, because no column holds a float and sums of whole numbers are the same on every machine.
"""

import msgspec
from openskill.models import PlackettLuce

from pgs.domain.seats import Result

POINT = 1_000_000
"""Scale of ratings: millionths in a point. Whole numbers give the same sums on every machine."""

_MODEL = PlackettLuce()  # its defaults: mean 25, deviation 25/3, and a little deviation added back with each match, so that nobody freezes

# The library takes ranks, the lowest first; equal ones are a draw. By the first player's result.
_RANKS: dict[Result, list[float]] = {"won": [0, 1], "lost": [1, 0], "drawn": [0, 0]}


class Rating(msgspec.Struct, frozen=True):
    """A player's skill at one game: mean and deviation in millionths of a point, and whom the last rated match was against."""

    mu: int
    sigma: int
    matches: int = 0
    last_opponent: str | None = None


UNRATED = Rating(round(_MODEL.mu * POINT), round(_MODEL.sigma * POINT))


def after_match(
    players: tuple[str, str], before: tuple[Rating, Rating], first_result: Result
) -> tuple[Rating, Rating]:
    """Return two players' ratings after a match, in the same order. `first_result`: how it went for the first of them."""
    teams = [[_MODEL.rating(mu=rating.mu / POINT, sigma=rating.sigma / POINT)] for rating in before]
    (one,), (two,) = _MODEL.rate(teams, ranks=_RANKS[first_result])
    return (
        Rating(round(one.mu * POINT), round(one.sigma * POINT), before[0].matches + 1, players[1]),
        Rating(round(two.mu * POINT), round(two.sigma * POINT), before[1].matches + 1, players[0]),
    )
