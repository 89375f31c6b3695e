"""The games that the platform runs: those of this package, and those that other distributions bring.

A distribution brings a game with an entry point of the group `pgs.games`, which is named after the game's id and leads to an object that
follows `pgs.games.rules.Rules`. A game of this package cannot be replaced in that way.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Final, cast

import msgspec

from pgs.games.rules import Rules

GROUP: Final = "pgs.games"
"""The entry point group of games from elsewhere."""


class Game(msgspec.Struct, frozen=True):
    """A game by its id. `module` holds its rules as `RULES`; `needs`, where set, names an extra without which it cannot be played."""

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
"""Every game that is known, installed or not; `load_games` adds those from elsewhere."""


class BadGame(Exception):
    """What an entry point leads to is no game, or takes the id of another one."""


def installed_games() -> frozenset[str]:
    """Return the ids of this package's games that can be played in this installation."""
    return frozenset(
        game.game_id
        for game in _BUILT_IN
        if game.needs is None or find_spec(game.needs) is not None
    )


def load_games(brought: Iterable[EntryPoint] | None = None) -> dict[str, Rules]:
    """Return the rules of every game that can be played, by id. Call it once, where the service is composed.

    `brought` stands in for the entry points of this installation. Raises `BadGame`.
    """
    games = {game_id: _built_in(game_id) for game_id in sorted(installed_games())}
    for point in entry_points(group=GROUP) if brought is None else brought:
        rules = point.load()
        if (
            getattr(rules, "game_id", None) != point.name
            or point.name in games
            or any(point.name == game.game_id for game in _BUILT_IN)
        ):
            raise BadGame(
                f"{point.value} is no game called {point.name}, or there is one of that name already"
            )
        games[point.name] = cast(Rules, rules)
        GAMES[point.name] = Game(point.name, rules.name, point.value)
    return games


def _built_in(game_id: str) -> Rules:
    rules: Rules = import_module(GAMES[game_id].module).RULES
    return rules
