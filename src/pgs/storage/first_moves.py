"""Reads how often a player has moved first, and builds the statement that counts a match."""

from pgs.domain.environments import Environment
from pgs.domain.first_moves import FirstMoves
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


async def find_first_moves(
    reader: Reader, partner_id: str, environment: Environment, game_id: str, player_id: str
) -> FirstMoves:
    """Return how often a player has moved first at a game."""
    row = await reader.one(
        "first_moves.find_first_moves",
        partner_id=partner_id,
        environment=environment,
        game_id=game_id,
        player_id=player_id,
    )
    return FirstMoves(*row) if row else FirstMoves()


def count_match(
    partner_id: str, environment: Environment, game_id: str, player_id: str, *, moves_first: bool
) -> Stmt:
    """Return the statement that counts a new match for one of its two players.

    `moves_first`: whether this player moves first in it.
    """
    return Stmt(
        "first_moves.count_match",
        {
            "partner_id": partner_id,
            "environment": environment,
            "game_id": game_id,
            "player_id": player_id,
            "moved_first": int(moves_first),
        },
        1,
    )
