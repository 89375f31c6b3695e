"""For a partner's support staff: a search for seats that are in no match yet, and one seat."""

from typing import Final

import msgspec

from pgs.actors.waiting_seats import why_held_back
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.seats import Seat
from pgs.http.admin.authorization import AdminCall
from pgs.http.admin.endpoints import LIST_QUERY, admin_read
from pgs.http.admin.paths import environment_asked
from pgs.http.api.endpoint import Answer
from pgs.http.api.lists import Wanted, page_to, wanted_page
from pgs.http.partner.seats import SeatRecord, seat_record
from pgs.storage.bulk import read_in_bulk
from pgs.storage.open_seats import (
    FIRST_PLACE,
    OpenSeats,
    SeatPlace,
    open_seats,
    open_seats_of_player,
)
from pgs.storage.reader import Reader
from pgs.storage.seats import find_by_idempotency_key, find_match, find_seat

_KIND: Final = "admin.seats"

OPEN: Final = ("pending", "waiting")
"""The states of a seat that is in no match yet: `pending` until its stake is confirmed, then
`waiting`."""


class FoundSeats(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the seats that are in no match yet, ordered by player, then from the oldest on."""

    seats: list[SeatRecord]
    next_cursor: str | None
    has_more: bool


async def list_seats(call: AdminCall) -> Answer:
    """Return a page of the seats that are in no match yet and fit the query."""
    environment = environment_asked(call)
    if isinstance(environment, Refusal | BadRequest):
        return environment
    wanted = wanted_page(call, _KIND, environment)
    if not isinstance(wanted, Wanted):
        return wanted
    found = await _find(call, environment, wanted)
    records = [seat_record(seat) for seat in found.seats if _fits(call, seat)]
    last = None if found.last is None else "{1}.{0}".format(*found.last)
    page = page_to(call, _KIND, last, environment)
    return FoundSeats(records, page.next_cursor, page.has_more)


async def seat_named(call: AdminCall, environment: Environment) -> Seat | None:
    """Return the seat with the `seatId` or `idempotencyKey` of the query, None if there is none."""
    reader, query = call.services.parts.database.reader, call.query
    partner_id = call.principal.account.partner_id
    if "seatId" not in query:
        key = query["idempotencyKey"]
        return await find_by_idempotency_key(reader, partner_id, environment, key)
    seat = await find_seat(reader, partner_id, query["seatId"])
    return seat if seat and seat.environment == environment else None


async def _find(call: AdminCall, environment: Environment, wanted: Wanted) -> OpenSeats:
    """Return the seats that the narrowest filter finds."""
    database, query = call.services.parts.database, call.query
    owner = (call.principal.account.partner_id, environment)
    if "seatId" in query or "idempotencyKey" in query:
        seat = await seat_named(call, environment)
        return OpenSeats([seat] if seat and seat.status in OPEN else [], None)
    page = (_place(wanted), wanted.limit)

    async def read(reader: Reader) -> OpenSeats:
        if "playerId" in query:
            return await open_seats_of_player(reader, *owner, query["playerId"], *page)
        return await open_seats(reader, *owner, query.get("partnerRef"), *page)

    return await read_in_bulk(database, read)


def _place(wanted: Wanted) -> SeatPlace:
    """Return the place after which the page begins. A cursor names a seat's number and player."""
    if not isinstance(wanted.after, str):
        return FIRST_PLACE
    seq, _, player_id = wanted.after.partition(".")
    return player_id, int(seq)


def _fits(call: AdminCall, seat: Seat) -> bool:
    """Return whether a seat fits every filter."""
    asked = _OF_A_SEAT.keys() & call.query.keys()
    return all(getattr(seat, _OF_A_SEAT[name]) == call.query[name] for name in asked)


async def read_seat(call: AdminCall) -> Answer:
    """Return a seat in whichever state it is, with its pairing."""
    environment = environment_asked(call)
    if isinstance(environment, Refusal | BadRequest):
        return environment
    parts, partner_id = call.services.parts, call.principal.account.partner_id
    seat = await find_seat(parts.database.reader, partner_id, call.path["seat_id"])
    if seat is None or seat.environment != environment:
        return refuse("seat_not_found")
    match = seat.match_id and await find_match(parts.database.reader, partner_id, seat.match_id)
    held_back = await why_held_back(parts, seat)
    return seat_record(seat, match.pairing if match else None, held_back=held_back)


_OF_A_SEAT: Final = {
    "playerId": "player_id",
    "partnerRef": "partner_ref",
    "seatId": "seat_id",
    "idempotencyKey": "idempotency_key",
}

ENDPOINTS = (
    admin_read(
        "seats",
        list_seats,
        FoundSeats,
        "The seats of an environment that wait, by player, reference, seat or idempotency key",
        query=LIST_QUERY | {"environment", *_OF_A_SEAT},
        errors=("missing_parameter", "invalid_cursor"),
    ),
    admin_read(
        "seats/{seat_id}",
        read_seat,
        SeatRecord,
        "A seat as it is now",
        query=frozenset({"environment"}),
        errors=("missing_parameter", "seat_not_found"),
    ),
)
