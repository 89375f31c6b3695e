"""When the rows are next searched for seats and matches that are due."""

import trio

from pgs.clock import Clock

CLOCK_CHECK_S = 30.0
"""Seconds after which a wait reads the clock again, because the clock may have been set forward."""


class Deadlines:
    """The time of the next search. It begins in the past, so the first search is due at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._next_at: float = 0  # epoch seconds
        self._changed = trio.Event()

    def note(self, due_at: int | None) -> None:
        """Make sure that the rows are searched no later than `due_at`, in epoch seconds."""
        if due_at is not None and due_at < self._next_at:
            self._next_at = due_at
            self._changed.set()

    def searched(self, next_at: int) -> None:
        """Note that a search is complete, and that the next one is due at `next_at`."""
        self._next_at = next_at

    async def wait(self) -> None:
        """Return once a search is due."""
        await trio.lowlevel.checkpoint()
        while (wait_s := self._next_at - self._clock.now_ms() / 1000) > 0:
            self._changed = trio.Event()
            with trio.move_on_after(min(wait_s, CLOCK_CHECK_S)):
                await self._changed.wait()
