"""The results feed as tests read it: the seats of a page, found by the service's own query."""

from pgs.domain.environments import Environment
from pgs.domain.seats import Seat
from pgs.http.partner.results import ResultRow
from pgs.storage import seats as rows
from pgs.storage.reader import Reader

_SEAT_ID = ResultRow.__struct_fields__.index("seat_id")


async def feed_page(
    reader: Reader, partner_id: str, environment: Environment, after: int, page_size: int
) -> list[Seat]:
    """Return the seats of the feed's rows after a position, in order."""
    seats = []
    for row in await rows.feed_page(reader, partner_id, environment, after, page_size):
        seat = await rows.find_seat(reader, partner_id, row[_SEAT_ID])
        assert seat is not None
        assert seat.position == row[-1]
        seats.append(seat)
    return seats
