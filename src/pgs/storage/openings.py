"""Reads how often a player has moved first, and builds the statement that counts a match."""

from pgs.domain.environments import Environment
from pgs.domain.openings import Openings
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


async def find_openings(
    reader: Reader, partner_id: str, environment: Environment, game_id: str, player_id: str
) -> Openings:
    """Return how often a player has moved first at a game."""
    row = await reader.one(
        "openings.find_openings",
        partner_id=partner_id,
        environment=environment,
        game_id=game_id,
        player_id=player_id,
    )
    return Openings(*row) if row else Openings()


def count_opening(
    partner_id: str, environment: Environment, game_id: str, player_id: str, *, begins: bool
) -> Stmt:
    """Return the statement that counts a new match for one of its two players.

    `begins`: whether this player moves first.
    """
    return Stmt(
        "openings.count_opening",
        {
            "partner_id": partner_id,
            "environment": environment,
            "game_id": game_id,
            "player_id": player_id,
            "begun": int(begins),
        },
        1,
    )
