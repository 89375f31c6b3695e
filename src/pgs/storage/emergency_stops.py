"""Reads and writes the marks of emergency stops whose open play is not closed yet.

An environment's generation is the number of its emergency stops so far. Each stop adds one to the
generation, and the stop's mark holds the new number.
"""

from typing import Any

from pgs.domain.environments import Environment
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


def put_stop(partner_id: str, environment: Environment, generation: int, at: int) -> Stmt:
    """Return the statement that marks an environment's open play for closing.

    The mark replaces an earlier one.
    """
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "environment": environment,
        "generation": generation,
        "at": at,
    }
    return Stmt("emergency_stops.put_stop", params, 1)


def delete_stop(partner_id: str, environment: Environment, generation: int) -> Stmt:
    """Return the statement that deletes a mark if the mark still has that generation."""
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "environment": environment,
        "generation": generation,
    }
    return Stmt("emergency_stops.delete_stop", params)


async def unfinished_stops(reader: Reader) -> list[tuple[str, Environment, int]]:
    """Return partner, environment and generation of every unfinished stop."""
    return [
        (partner_id, environment, generation)
        for partner_id, environment, generation in await reader.all("emergency_stops.stops")
    ]


async def find_stop(reader: Reader, partner_id: str, environment: Environment) -> int | None:
    """Return the generation of the unfinished stop, or None."""
    row = await reader.one(
        "emergency_stops.find_stop", partner_id=partner_id, environment=environment
    )
    return row[0] if row else None
