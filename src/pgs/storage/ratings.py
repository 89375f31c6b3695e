"""Reads ratings, builds the statement that writes them, and finds partners with seats to pair."""

from pgs.domain.environments import Environment
from pgs.domain.ratings import UNRATED, Rating
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


async def find_rating(
    reader: Reader, partner_id: str, environment: Environment, game_id: str, player_id: str
) -> Rating:
    """Return a player's rating at a game; `UNRATED` before the first rated match."""
    row = await reader.one(
        "ratings.find_rating",
        partner_id=partner_id,
        environment=environment,
        game_id=game_id,
        player_id=player_id,
    )
    return Rating(*row) if row else UNRATED


def save_rating(
    partner_id: str,
    environment: Environment,
    game_id: str,
    player_id: str,
    was: Rating,
    rating: Rating,
) -> Stmt:
    """Return the statement that updates a player's rating after one match.

    It conflicts if another match has updated the rating since `was`.
    """
    return Stmt(
        "ratings.save_rating",
        {
            "partner_id": partner_id,
            "environment": environment,
            "game_id": game_id,
            "player_id": player_id,
            "mu": rating.mu,
            "sigma": rating.sigma,
            "matches": rating.matches,
            "last_opponent": rating.last_opponent,
            "was_matches": was.matches,
        },
        1,
    )


async def partners_with_seats_to_pair(reader: Reader) -> list[str]:
    """Return the partners with two or more waiting live seats that could be paired."""
    return list(
        dict.fromkeys(
            str(partner_id)
            for (partner_id,) in await reader.all("ratings.partners_with_seats_to_pair")
        )
    )
