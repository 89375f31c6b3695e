"""Reads open charges and payouts, and stores the payouts that an operator has confirmed."""

import msgspec

from pgs.storage.reader import Query, Reader
from pgs.storage.transactions import Params, Stmt


class OpenRow(msgspec.Struct, frozen=True):
    """A seat whose stake is pending, or a match whose money is due. `since`: epoch seconds."""

    since: int
    partner_id: str
    row_id: str


class OpenCount(msgspec.Struct, frozen=True):
    """How many items are open, how many of these are overdue, and since when the oldest is open."""

    count: int = 0
    oldest_since: int | None = None
    overdue: int = 0


def resolve_payout(partner_id: str, match_id: str, seat_id: str, at: int) -> Stmt:
    """Return the statement that notes an operator's confirmation. Repeating it changes nothing."""
    params: Params = {"partner_id": partner_id, "match_id": match_id, "seat_id": seat_id, "at": at}
    return Stmt("open_money.resolve_payout", params)


async def payouts_resolved(reader: Reader, partner_id: str, match_id: str) -> list[str]:
    """Return the seats of a match whose payouts an operator has confirmed."""
    rows = await reader.all("open_money.payouts_resolved", partner_id=partner_id, match_id=match_id)
    return [seat_id for (seat_id,) in rows]


async def open_charges(reader: Reader, after: OpenRow | None, page_size: int) -> list[OpenRow]:
    """Return seats whose stake is pending, the oldest first, beginning after `after`."""
    return await _open(reader, "open_money.open_charges", after, page_size)


async def open_matches(reader: Reader, after: OpenRow | None, page_size: int) -> list[OpenRow]:
    """Return matches whose money is due, the oldest first, beginning after `after`."""
    return await _open(reader, "open_money.open_matches", after, page_size)


async def count_open(reader: Reader, overdue_since: int) -> tuple[OpenCount, OpenCount]:
    """Return the counts of the open charges and of the open payouts.

    Those open since `overdue_since` or earlier count as overdue. This reads every seat that waits
    and every match that runs, because these too have a time at which they are due: call it through
    `read_in_bulk`.
    """
    since: Params = {"overdue_since": overdue_since}
    charges, payouts = await reader.together(
        Query("open_money.count_charges", since), Query("open_money.count_payouts", since)
    )
    return OpenCount(*charges[0]), OpenCount(*payouts[0])


async def _open(reader: Reader, query: str, after: OpenRow | None, page_size: int) -> list[OpenRow]:
    rows = await reader.all(
        query,
        after_since=after.since if after else -1,
        after_partner_id=after.partner_id if after else "",
        after_row_id=after.row_id if after else "",
        page_size=page_size,
    )
    return [OpenRow(*row) for row in rows]
