"""The games that the platform runs: those of this package, and those of other distributions.

A distribution adds a game with an entry point in the group `pgs.games`. The entry point's name is
the game's id, and it refers to an object that implements `pgs.games.rules.Rules`. An entry point
cannot replace a game of this package.
"""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Final, cast

import msgspec

from pgs.games.rules import Rules

GROUP: Final = "pgs.games"
"""The entry point group in which other distributions register games."""


class Game(msgspec.Struct, frozen=True):
    """What is known of a game without loading it.

    `module`: the module that has its rules as `RULES`, or the value of its entry point. `needs`:
    the package that the game needs besides those of the service, or None.
    """

    game_id: str
    name: str
    module: str
    needs: str | None = None


_BUILT_IN: Final = (
    Game("tic-tac-toe", "Tic-tac-toe", "pgs.games.tic_tac_toe"),
    Game("connect-four", "Connect Four", "pgs.games.connect_four"),
    Game("reversi", "Reversi", "pgs.games.reversi"),
    Game("chess", "Chess", "pgs.games.chess", needs="chess"),
)

GAMES: Final[dict[str, Game]] = {game.game_id: game for game in _BUILT_IN}
"""Every known game, installed or not. `load_games` adds those of other distributions."""


class BadGame(Exception):
    """An entry point refers to something that is not a game, or to a game with a wrong id.

    The id must be the name of the entry point, and no other game may have it.
    """


def installed_games() -> frozenset[str]:
    """Return the ids of this package's games that can be played in this installation."""
    return frozenset(
        game.game_id
        for game in _BUILT_IN
        if game.needs is None or find_spec(game.needs) is not None
    )


def load_games(points: Iterable[EntryPoint] | None = None) -> dict[str, Rules]:
    """Return the rules of every game that can be played, by id.

    Call this once, at the start of the service: it adds the games of other distributions to
    `GAMES`. `points`: entry points to use in place of the installed ones. Raises `BadGame`.
    """
    games = {game_id: _built_in(game_id) for game_id in sorted(installed_games())}
    for point in _of_other_distributions() if points is None else points:
        rules = point.load()
        if (
            getattr(rules, "game_id", None) != point.name
            or point.name in games
            or any(point.name == game.game_id for game in _BUILT_IN)
        ):
            raise BadGame(
                f"{point.value} is no game called {point.name}, "
                "or a game of that name exists already"
            )
        games[point.name] = cast(Rules, rules)
        GAMES[point.name] = Game(point.name, rules.name, point.value)
    return games


@cache  # finding entry points reads the metadata of all distributions
def _of_other_distributions() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def _built_in(game_id: str) -> Rules:
    rules: Rules = import_module(GAMES[game_id].module).RULES
    return rules
