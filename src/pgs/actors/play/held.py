"""Commands that a table holds back until the end of its match is on disk.

A table can decide an end that is in no row yet: after a resignation, when a clock has run out, or
when the game cannot be played any more. A crash would undo that end, so commands that arrive
meanwhile are answered only after the end is written.
"""

from collections.abc import Sequence

import trio

from pgs.actors.kernel.mail import Envelope, Interrupted, Message, Overloaded
from pgs.actors.messages.table import Resign
from pgs.domain.seats import Seat

HELD_MAX = 64
"""Commands about one match that wait until its end is on disk. The sockets of the two players send
one command at a time each; the rest is for join calls."""


class Ending(Exception):
    """The command must wait: the table has decided an end that is not on disk yet."""


class HeldCommands:
    """Held commands in order of arrival. Each is held no longer than its own deadline."""

    def __init__(self) -> None:
        self._envelopes: list[Envelope] = []

    def add(self, envelope: Envelope) -> None:
        """Hold a command. Raises `Overloaded` when `HELD_MAX` are held."""
        if len(self._envelopes) >= HELD_MAX:
            raise Overloaded("too many commands wait for the end of the match")
        self._envelopes.append(envelope)

    def take(self) -> list[Envelope]:
        """Return all held commands and remove them."""
        taken, self._envelopes = self._envelopes, []
        return taken

    def expire(self) -> None:
        """Fail the commands whose deadline has passed.

        A resignation may still take effect, so it fails as `Interrupted` (outcome unknown). The
        others fail as `Overloaded`: nothing was done.
        """
        now = trio.current_time()
        for envelope in self._envelopes:
            if envelope.deadline <= now:
                late = Overloaded("deadline")
                unknown = Interrupted("the end is not written yet")
                unknown.__cause__ = late
                envelope.fail(unknown if isinstance(envelope.message, Resign) else late)
        self._envelopes = [envelope for envelope in self._envelopes if envelope.deadline > now]

    def deadline(self) -> float:
        """Return the earliest deadline in trio's time; infinity when nothing is held."""
        return min((envelope.deadline for envelope in self._envelopes), default=float("inf"))


def ended_the_match(message: Message, seats: Sequence[Seat]) -> bool:
    """Return whether `message` is the resignation that ended the match of these seats."""
    if not isinstance(message, Resign):
        return False
    return any(
        seat.player_id == message.player_id
        and seat.end_reason == "resigned"
        and seat.result == "lost"
        for seat in seats
    )
