"""Deadlines: wakes whoever owns a row whose `due_at` has come. The rows are the index; all that is kept here is when to look next."""

from collections.abc import Callable

import structlog
import trio

from pgs.actors.messages.seats import MatchDue, SeatDue
from pgs.actors.partners import PartnerDirectory
from pgs.clock import Clock
from pgs.storage import seats as rows
from pgs.storage.database import Database
from pgs.storage.transactions import StoreOutage

PAGE = 500  # rows told in one go; a mailbox holds several pages, so that a backlog does not fill it before its actor runs
PAGE_PAUSE_S = 0.05  # between pages, for the actors to work: 10,000 rows a second
LOOK_AGAIN_S = 1.0  # rows that were told and are still due are told again no sooner
LOOK_AT_LEAST_S = 60  # a commit that landed without a word has rows that nobody noted: a payout, say, that was never asked for

log = structlog.get_logger("pgs.deadlines")


class Deadlines:
    """One alarm for all that falls due: seats that find no opponent, matches nobody comes to, stakes and payouts without an answer."""

    def __init__(self, database: Database, clock: Clock, on_event: Callable[[str], None]) -> None:
        self._database = database
        self._clock = clock
        self._on_event = on_event
        self._next_at: float = 0  # epoch seconds
        self._changed = trio.Event()

    def note(self, due_at: int | None) -> None:
        """Make sure that the rows are looked at no later than `due_at`, in epoch seconds."""
        if due_at is not None and due_at < self._next_at:
            self._next_at = due_at
            self._changed.set()

    async def run(self, directory: PartnerDirectory) -> None:
        """Tell owners what is due, for ever. What was due before the start is told at once."""
        while True:
            wait_s = self._next_at - self._clock.now_ms() / 1000
            if wait_s > 0:
                self._changed = trio.Event()
                with trio.move_on_after(wait_s):
                    await self._changed.wait()
                continue
            try:
                await self._tell(directory)
            except StoreOutage:
                self._on_event("deadlines_unreadable")
                log.exception("deadlines_unreadable")
            await trio.sleep(LOOK_AGAIN_S)

    async def _tell(self, directory: PartnerDirectory) -> None:
        # From behind the last row told, never from the front again: a partner that rests must not hold up those after it.
        reader, now = self._database.reader, self._clock.now()
        for find, message in ((rows.due_seats, SeatDue), (rows.due_matches, MatchDue)):
            last: rows.Due | None = None
            while page := find(reader, now, last, PAGE):
                for due in page:
                    partner = directory.partner(due.partner_id)
                    if not partner.watch.degraded(
                        trio.current_time()
                    ):  # a resting partner is told after its rest
                        partner.seats(due.environment).tell(message(due.row_id))
                last = page[-1]
                await trio.sleep(PAGE_PAUSE_S)
        upcoming = rows.next_due(reader)
        latest = now + LOOK_AT_LEAST_S
        self._next_at = latest if upcoming is None else min(upcoming, latest)
