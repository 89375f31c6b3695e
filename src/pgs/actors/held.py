"""Asks that a table holds while an end that it has decided is on its way to disk: their answers would tell of what a crash can undo."""

import trio

from pgs.actors.mail import Crashed, Envelope, Overloaded

HELD_MAX = 64  # two players' sockets ask one thing at a time; the rest is for calls that join


class Held:
    """Asks in the order in which they came, each for no longer than it might have waited in the mailbox."""

    def __init__(self) -> None:
        self._asks: list[tuple[Envelope, bool]] = []

    def add(self, envelope: Envelope, *, decides: bool = False) -> None:
        """Hold an ask. `decides`: it is the one that ends the match. Raises `Overloaded` when there are too many."""
        if len(self._asks) >= HELD_MAX:
            raise Overloaded("too many wait for the end of the match")
        self._asks.append((envelope, decides))

    def take(self) -> list[tuple[Envelope, bool]]:
        """Return all that is held, each with whether it is the one that ends the match, and hold it no more."""
        taken, self._asks = self._asks, []
        return taken

    def expire(self) -> None:
        """Fail the asks whose deadline has passed."""
        now = trio.current_time()
        for envelope, decides in self._asks:
            if envelope.deadline <= now:
                # What decides may still come about: only of the others is it certain that nothing was done.
                envelope.fail(Crashed("the end is not written yet") if decides else Overloaded("deadline"))
        self._asks = [ask for ask in self._asks if ask[0].deadline > now]

    def deadline(self) -> float:
        """Return when the first of them has waited long enough, in trio's time; infinity where nothing is held."""
        return min((envelope.deadline for envelope, _ in self._asks), default=float("inf"))


class Ending(Exception):
    """An ask has to wait until the end that was decided is on disk. `decides`: it is the one that ends the match."""

    def __init__(self, *, decides: bool = False) -> None:
        super().__init__()
        self.decides = decides
