"""Reads the totals of each day, game and tier, and builds the statements that raise them."""

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.totals import Totals, TotalsKey
from pgs.storage.reader import Reader
from pgs.storage.transactions import Params, Stmt


def raise_totals(partner_id: str, environment: Environment, key: TotalsKey, change: Totals) -> Stmt:
    """Return the statement that adds a change to the totals of a day, game and tier."""
    seats, stakes = change.seats, change.seat_stakes_usd_cents
    params: Params = {
        "partner_id": partner_id,
        "environment": environment,
        "day": key.day,
        "game_id": key.game_id,
        "tier_id": key.tier_id,
        "seats": seats,
        "seat_stakes_usd_cents": stakes,
    }
    if change == Totals(seats=seats, seat_stakes_usd_cents=stakes):
        return Stmt("totals.raise_seats", params, 1)
    return Stmt("totals.raise_totals", params | msgspec.structs.asdict(change), 1)


async def first_open_day(
    reader: Reader, partner_id: str, environment: Environment, after: int
) -> int | None:
    """Return the first day after `after` that has a seat whose money is not recorded, or None."""
    row = await reader.one(
        "totals.first_open_day", partner_id=partner_id, environment=environment, after=after
    )
    return None if row is None else row[0]


async def totals_by_day(
    reader: Reader, partner_id: str, environment: Environment, first_day: int, last_day: int
) -> dict[int, Totals]:
    """Return the totals of each day from `first_day` to `last_day` on which there was any play."""
    rows = await reader.all(
        "totals.by_day",
        partner_id=partner_id,
        environment=environment,
        first_day=first_day,
        last_day=last_day,
    )
    return {day: Totals(*figures) for day, *figures in rows}


async def totals_by_tier(
    reader: Reader, partner_id: str, environment: Environment, first_day: int, last_day: int
) -> dict[tuple[str, str], Totals]:
    """Return the totals from `first_day` to `last_day` of each game and tier, in their order."""
    rows = await reader.all(
        "totals.by_tier",
        partner_id=partner_id,
        environment=environment,
        first_day=first_day,
        last_day=last_day,
    )
    return {(game_id, tier_id): Totals(*figures) for game_id, tier_id, *figures in rows}
