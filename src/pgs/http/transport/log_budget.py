"""Bounds how many lines of one kind go into the log, so that a flood of refusals cannot fill it."""

from typing import Final

import msgspec
import structlog

from pgs.http.transport.asgi import OnEvent, ignore_event

LINES_PER_S: Final = 10
"""Lines of one kind that the log gets in a second. They are enough to show a flood; the rest are
counted."""

_log = structlog.get_logger("pgs.http")


class _Second(msgspec.Struct):
    """The lines of one kind since `began`: how many were logged, and how many were left out."""

    began: float
    logged: int = 0
    left_out: int = 0


class LogBudget:
    """Allows `LINES_PER_S` lines of each kind, and logs in one more line how many were left out.

    Kinds come from a fixed set. `left_out` has the kinds whose left-out lines must still be
    reported. Each line that is left out is counted as `log_lines_left_out`.
    """

    def __init__(self, on_event: OnEvent = ignore_event) -> None:
        self._on_event = on_event
        self._seconds: dict[str, _Second] = {}
        self.left_out: set[str] = set()

    def may_log(self, kind: str, now: float) -> bool:
        """Return whether a line of this kind is logged at `now`, on trio's clock."""
        self.report(now)
        second = self._seconds.get(kind)
        if second is None or now >= second.began + 1:
            second = self._seconds[kind] = _Second(now)
        if second.logged < LINES_PER_S:
            second.logged += 1
            return True
        second.left_out += 1
        self.left_out.add(kind)
        self._on_event("log_lines_left_out")
        return False

    def report(self, now: float) -> None:
        """Log how many lines were left out in each second that has ended by `now`."""
        for kind in [kind for kind in self.left_out if now >= self._seconds[kind].began + 1]:
            self.left_out.discard(kind)
            left_out = self._seconds.pop(kind).left_out
            _log.warning("log_lines_left_out", kind=kind, lines=left_out)
