"""The games that the platform runs."""

from importlib.util import find_spec

import msgspec


class Game(msgspec.Struct, frozen=True):
    """A game by its id. `needs` names the module of an optional extra without which it cannot be played."""

    game_id: str
    name: str
    needs: str | None = None


GAMES: dict[str, Game] = {
    game.game_id: game
    for game in (
        Game("tic-tac-toe", "Tic-tac-toe"),
        Game("connect-four", "Connect Four"),
        Game("reversi", "Reversi"),
        Game("chess", "Chess", needs="chess"),
    )
}


def installed_games() -> frozenset[str]:
    """Return the ids of the games that can be played in this installation."""
    return frozenset(game.game_id for game in GAMES.values() if game.needs is None or find_spec(game.needs) is not None)
