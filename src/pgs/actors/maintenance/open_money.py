"""The chore that counts open charges and payouts, and logs those that stay open."""

import structlog

from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.shared.open_money import OVERDUE_S
from pgs.storage.bulk import read_in_bulk
from pgs.storage.open_money import OpenCount, OpenRow, count_open, open_charges, open_matches
from pgs.storage.reader import Reader

NAMED = 10
"""Seats that the log line about overdue money names at most: the oldest ones. The line also names
the oldest matches, up to the same number. `pgs settlement list` shows all open ones."""

log = structlog.get_logger("pgs.settlement")


async def count_open_money(parts: Parts, directory: PartnerDirectory) -> None:
    """Count what is open; once a day, log what has been open for over a day.

    One of several nodes counts for all of them. Raises `StoreOutage`.
    """
    now = parts.clock.now()
    if not directory.leads:
        parts.open_money.note_count(OpenCount(), OpenCount(), now)
        return

    async def read(reader: Reader) -> tuple[OpenCount, OpenCount]:
        return await count_open(reader, now - OVERDUE_S)

    charges, payouts = await read_in_bulk(parts.database, read)
    if not parts.open_money.note_count(charges, payouts, now):
        return
    oldest = [
        *await read_in_bulk(parts.database, lambda reader: open_charges(reader, None, NAMED)),
        *await read_in_bulk(parts.database, lambda reader: open_matches(reader, None, NAMED)),
    ]
    parts.on_event("settlement_overdue")
    log.error(
        "settlement_overdue",
        charges=charges.overdue,
        payouts=payouts.overdue,
        oldest_since=min(row.since for row in oldest) if oldest else None,
        ids=[_name(row) for row in oldest if row.since <= now - OVERDUE_S],
    )


def _name(row: OpenRow) -> str:
    return f"{row.partner_id} {row.row_id}"
