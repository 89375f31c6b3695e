"""Reads the seats that are in no match yet: those that wait, and those whose stake is pending."""

from typing import Final

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.seats import Seat
from pgs.storage.reader import Query, Reader
from pgs.storage.support import SCANNED_FOR_PAGE
from pgs.storage.transactions import Params

SeatPlace = tuple[str, int]
"""A seat's player and its sequence number. Lists of open seats are in the order of these pairs."""

FIRST_PLACE: Final[SeatPlace] = ("", -1)
"""A place before every seat."""


class OpenSeats(msgspec.Struct, frozen=True):
    """A page of open seats. The next page begins after `last`, which is None on the last page."""

    seats: list[Seat]
    last: SeatPlace | None


async def open_seats(
    reader: Reader,
    partner_id: str,
    environment: Environment,
    partner_ref: str | None,
    after: SeatPlace,
    page_size: int,
) -> OpenSeats:
    """Return the seats after `after` that are in no match yet.

    With `partner_ref`, return only the seats with this reference. The call then reads up to
    `SCANNED_FOR_PAGE` seats, and may return fewer than `page_size`, although more follow: call it
    through `read_in_bulk`.
    """
    scanned = page_size + 1 if partner_ref is None else SCANNED_FOR_PAGE
    scope: Params = {
        "partner_id": partner_id,
        "environment": environment,
        "after_player_id": after[0],
        "after_seq": after[1],
    }
    wanted: Params = {"partner_ref": partner_ref, "scanned": scanned, "page_size": page_size + 1}
    # The last seat that is read, and the next one, which shows whether more follow.
    ends: Params = {"page_size": 2, "skipped": scanned - 1}
    rows, places = await reader.together(
        Query("support.open_seats", {**scope, **wanted}),
        Query("support.open_seat_places", {**scope, **ends}),
    )
    seats = [Seat(*row) for row in rows]
    if len(seats) > page_size:
        del seats[page_size:]
        return OpenSeats(seats, (seats[-1].player_id, seats[-1].seq))
    return OpenSeats(seats, (places[0][0], places[0][1]) if len(places) == 2 else None)


async def open_seats_of_player(
    reader: Reader,
    partner_id: str,
    environment: Environment,
    player_id: str,
    after: SeatPlace,
    page_size: int,
) -> OpenSeats:
    """Return the seats of a player after `after` that are in no match yet, the oldest first."""
    rows = await reader.all(
        "support.open_seats_of_player",
        partner_id=partner_id,
        environment=environment,
        player_id=player_id,
        after_seq=after[1],
        page_size=page_size + 1,
    )
    seats = [Seat(*row) for row in rows[:page_size]]
    return OpenSeats(seats, (player_id, seats[-1].seq) if len(rows) > page_size else None)
