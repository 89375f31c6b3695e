"""Asks that a table holds while an end that it has decided is on its way to disk: their answers would tell of what a crash can undo."""

from collections.abc import Sequence

import trio

from pgs.actors.kernel.mail import Crashed, Envelope, Message, Overloaded
from pgs.actors.messages.table import Resign
from pgs.domain.seats import Seat

HELD_MAX = 64
"""Asks about one match that wait until its end is on disk. Two players' sockets ask one thing at a
time each; the rest is for join calls."""


class Held:
    """Asks in the order in which they came, each for no longer than it might have waited in the mailbox."""

    def __init__(self) -> None:
        self._asks: list[Envelope] = []

    def add(self, envelope: Envelope) -> None:
        """Hold an ask. Raises `Overloaded` when there are too many."""
        if len(self._asks) >= HELD_MAX:
            raise Overloaded("too many wait for the end of the match")
        self._asks.append(envelope)

    def take(self) -> list[Envelope]:
        """Return all that is held, and hold it no more."""
        taken, self._asks = self._asks, []
        return taken

    def expire(self) -> None:
        """Fail the asks whose deadline has passed."""
        now = trio.current_time()
        for envelope in self._asks:
            if envelope.deadline <= now:
                # A resignation may still come about: only of the others is it certain that nothing was done.
                resigns = isinstance(envelope.message, Resign)
                envelope.fail(
                    Crashed("the end is not written yet") if resigns else Overloaded("deadline")
                )
        self._asks = [ask for ask in self._asks if ask.deadline > now]

    def deadline(self) -> float:
        """Return when the first of them has waited long enough, in trio's time; infinity where nothing is held."""
        return min((envelope.deadline for envelope in self._asks), default=float("inf"))


def has_ended(message: Message, seats: Sequence[Seat]) -> bool:
    """Return whether a message is the resignation by which a match ended that these seats were in."""
    own = [
        seat
        for seat in seats
        if isinstance(message, Resign) and seat.player_id == message.player_id
    ]
    return any(seat.end_reason == "resigned" and seat.result == "lost" for seat in own)


class Ending(Exception):
    """An ask has to wait until the end that was decided is on disk."""
