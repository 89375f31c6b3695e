"""Tells actors that one of their deadlines has come."""

import trio

from pgs.actors.messages.seats import MatchDue, SeatDue
from pgs.actors.messages.table import LookAgain
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.storage import seats as rows

PAGE = 500
"""Rows of due seats or matches in one page. The actors are told of each row, and a mailbox has room
for several pages, so one page of a backlog does not fill it."""

PAGE_PAUSE_S = 0.05
"""Seconds of pause after a page, so that the actors can work: at most 10,000 messages a second."""

SEARCH_AT_LEAST_S = 60
"""Seconds after which the rows are searched again, even if no noted deadline has come.

After a commit of unknown outcome a row may be due although nobody noted its deadline. One example
is a payout that settlement was never asked for.
"""

SEARCH_AGAIN_S = 1.0
"""Seconds until the seats actor is told again of a seat or match that is still due."""

RING_AGAIN_S = 1.0
"""Seconds until a table whose mailbox had no room is told again to look at its clock."""


async def tell_due(parts: Parts, directory: PartnerDirectory) -> None:
    """Tell the seats actors of every seat and match that is due. Raises `StoreOutage`.

    A seat is due if it found no opponent or its charge has no answer. A match is due if nobody has
    come to it in time, if its table has not acted in time (for example, because it is not open), or
    if its payouts have no answer.

    Each page begins after the last row of the page before. So the rows of a degraded partner, which
    stay due, do not hide later rows.
    """
    reader, now = parts.database.reader, parts.clock.now()
    for find, message in ((rows.due_seats, SeatDue), (rows.due_matches, MatchDue)):
        last: rows.Due | None = None
        while page := await find(reader, now, last, PAGE):
            for due in page:
                partner = directory.owned(due.partner_id)
                # A degraded partner is told after its cool-down.
                if partner is not None and not partner.restarts.degraded(trio.current_time()):
                    partner.seats(due.environment).tell(message(due.row_id))
            last = page[-1]
            await trio.sleep(PAGE_PAUSE_S)
    upcoming, latest = await rows.next_due(reader), now + SEARCH_AT_LEAST_S
    parts.deadlines.searched(latest if upcoming is None else min(upcoming, latest))


async def ring_alarms(parts: Parts, directory: PartnerDirectory) -> None:
    """Tell every table whose alarm is due to look at its clock."""
    alarms, now = parts.alarms, trio.current_time()
    while (key := alarms.find_due(now)) is not None:
        alarms.set(key, now + RING_AGAIN_S)  # set first: telling the table may fail
        partner_id, match_id = key
        partner = directory.owned(partner_id)
        if partner is None:
            done = not directory.is_open(partner_id)  # the partner was given up
        else:
            done = partner.table(match_id).tell(LookAgain())
        if done:
            alarms.drop(key)
