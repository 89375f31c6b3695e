"""Finds open charges and payouts for the `settlement` commands: a page of them, or one by id."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from pgs.actors.core import Core
from pgs.domain.matches import MatchWithSeats
from pgs.domain.payouts import Payout, payout_id, payouts
from pgs.domain.seats import Seat
from pgs.operator.accounts import find_anywhere
from pgs.operator.settlement_records import OpenItem
from pgs.storage.bulk import read_in_bulk
from pgs.storage.open_money import OpenRow, open_charges, open_matches, payouts_resolved
from pgs.storage.reader import Reader
from pgs.storage.seats import find_match_with_seats, find_seat

UNSET = "PGS_SETTLEMENT_URL names no settlement server"
DECLINED = "settlement has declined it: retry or resolve it"

Phase = Literal["charges", "payouts"]


class After(msgspec.Struct, frozen=True):
    """Where a page begins: in which of the two lists, after which of its rows."""

    phase: Phase = "charges"
    row: OpenRow | None = None

    @property
    def text(self) -> str:
        """The place as text, for the next call."""
        return msgspec.json.encode(self).decode()


def after_of(text: str) -> After | None:
    """Return the place that a text names, or None if it names none."""
    if not text:
        return After()
    try:
        return msgspec.json.decode(text, type=After)
    except msgspec.MsgspecError:
        return None


class Found(msgspec.Struct, frozen=True):
    """A page of pending seats or unpaid matches, and where the next one begins."""

    seats: tuple[Seat, ...] = ()
    matches: tuple[MatchWithSeats, ...] = ()
    next_after: After | None = None


async def page_of(core: Core, after: After, rows: int) -> Found:
    """Return up to `rows` pending seats or unpaid matches. Raises `StoreOutage`."""

    async def read(reader: Reader) -> Found:
        if after.phase == "charges":
            page = await open_charges(reader, after.row, rows)
            seats = [await find_seat(reader, row.partner_id, row.row_id) for row in page]
            further = After("charges", page[-1]) if len(page) == rows else After("payouts")
            return Found(
                seats=tuple(one for one in seats if one is not None and one.status == "pending"),
                next_after=further,
            )
        page = await open_matches(reader, after.row, rows)
        found = [await find_match_with_seats(reader, row.partner_id, row.row_id) for row in page]
        return Found(
            matches=tuple(one for one in found if one is not None and one.match.money == "due"),
            next_after=After("payouts", page[-1]) if len(page) == rows else None,
        )

    found = await read_in_bulk(core.parts.database, read)
    for record in found.matches:
        await _note_resolved(core, record)
    return found


async def find_open(core: Core, item_id: str) -> Seat | MatchWithSeats | None:
    """Return the seat or match of an id if it has an open charge or payout, else None.

    The id is a seat's, a match's, or a payout's.
    """
    row_id = item_id.partition(":")[0]
    one: Seat | MatchWithSeats | None = await find_anywhere(core, _find_open, row_id)
    if isinstance(one, MatchWithSeats):
        await _note_resolved(core, one)
    return one


async def _find_open(reader: Reader, partner_id: str, row_id: str) -> Seat | MatchWithSeats | None:
    seat = await find_seat(reader, partner_id, row_id)
    if seat is not None and seat.status == "pending":
        return seat
    record = await find_match_with_seats(reader, partner_id, row_id)
    return record if record is not None and record.match.money == "due" else None


async def _note_resolved(core: Core, record: MatchWithSeats) -> None:
    """Copy from the rows into memory which payouts of a match an operator has confirmed.

    `payout_items` looks only in memory, which is empty after a restart.
    """
    match = record.match
    reader = core.parts.database.reader
    for seat_id in await payouts_resolved(reader, match.partner_id, match.match_id):
        core.parts.settlements.asks.confirm(match.partner_id, payout_id(match.match_id, seat_id))


def items_of(core: Core, found: Found) -> list[OpenItem]:
    """Return the open items of a page as operators see them."""
    charges = [charge_item(core, seat) for seat in found.seats]
    return charges + [item for record in found.matches for item in payout_items(core, record)]


def charge_item(core: Core, seat: Seat) -> OpenItem:
    """Return a pending stake as operators see it."""
    return _item(core, seat, seat.seat_id, "charge", seat.stake_usd_cents, seat.seated_at)


def payout_items(core: Core, record: MatchWithSeats) -> Iterable[OpenItem]:
    """Yield what a match owes and settlement has not confirmed, as operators see it."""
    seats = {seat.seat_id: seat for seat in record.seats}
    match = record.match
    asks = core.parts.settlements.asks
    for payout in payouts(record):
        item_id = payout_id(match.match_id, payout.seat_id)
        if asks.find(match.partner_id, item_id).said != "confirmed":
            yield _payout_item(core, seats[payout.seat_id], payout, item_id, match.ended_at or 0)


def _payout_item(core: Core, seat: Seat, payout: Payout, item_id: str, since: int) -> OpenItem:
    return _item(core, seat, item_id, payout.kind, payout.amount_usd_cents, since)


def _item(
    core: Core,
    seat: Seat,
    item_id: str,
    kind: Literal["charge", "prize", "refund"],
    amount_usd_cents: int,
    since: int,
) -> OpenItem:
    settlements = core.parts.settlements
    ask = settlements.asks.find(seat.partner_id, item_id)
    unset = settlements.port(seat.settlement) is None
    return OpenItem(
        id=item_id,
        kind=kind,
        partner_id=seat.partner_id,
        environment=seat.environment,
        seat_id=seat.seat_id,
        match_id=seat.match_id,
        player_id=seat.player_id,
        amount_usd_cents=amount_usd_cents,
        since=since,
        settlement=seat.settlement,
        tries=ask.tries,
        last_answer=ask.answer,
        last_at=ask.at,
        why=UNSET if unset else DECLINED if ask.said == "declined" else None,
    )
