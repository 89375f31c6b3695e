"""The log: one JSON object a line on standard error.

The line of each answered request has the request's id, and so has the line of an error that made a
request fail. The reader of the log may stop reading, close its end, or run out of disk. Therefore a
log call never waits and never raises: it puts the line into a bounded queue, from which a separate
thread writes. A line that cannot be written is counted, and the count is logged as soon as
something can be written again.
"""

import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

import msgspec
import structlog

from pgs.clock import Clock

LINES_MAX = 5000
"""Lines that wait for the stream: some seconds of a busy service, or 40 MB if each one had a
traceback."""

BATCH_LINES = 1000
"""Lines written with one call, because a call for each would cost far more. They do not count
towards LINES_MAX."""

GATHER_S = 0.02
"""Seconds for which further lines are gathered after the first. At full load the thread then wakes
fifty times a second, not a thousand times."""

FLUSH_S = 0.25
"""Seconds that a stop waits until the queued lines are written. Part of the 15 s that a stop may
take."""

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def _spell(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # a value without a repr must not make the log call raise
        return f"<{type(value).__name__}>"


_encode = msgspec.json.Encoder(enc_hook=_spell).encode


def _line(event: structlog.typing.EventDict | msgspec.Struct) -> bytes:
    try:
        return _encode(event)
    except Exception:  # text that is not valid Unicode: a slower encoder escapes it
        if isinstance(event, msgspec.Struct):
            event = msgspec.structs.asdict(event)
        return json.dumps(event, default=_spell, skipkeys=True).encode()


class _RequestLine(msgspec.Struct):
    """The line of an answered request. structlog takes five times as long to make it."""

    at_ms: int
    level: str
    request_id: str
    method: str
    path: str
    status: int
    duration_ms: float
    event: str


class Lines:
    """Takes lines from any thread and writes them in order.

    `file` should be unbuffered. If it is None, every line is lost and counted as lost.
    """

    def __init__(
        self,
        file: BinaryIO | None,
        tell_lost: Callable[[int], bytes],
        clock: Clock,
        *,
        log_requests: bool,
    ) -> None:
        self._file = file
        self._clock = clock
        self._log_requests = log_requests
        self._tell_lost = tell_lost
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._closing = threading.Event()
        self._given_up = threading.Event()
        self._no_room = 0  # threads add to it without a lock, so two lost lines may count as one
        self._not_written = 0  # counted by the thread that writes
        self._told = 0
        self._torn = False  # the file ends in the middle of a line
        self._thread = threading.Thread(target=self._work, name="pgs-log", daemon=True)
        self._thread.start()

    def msg(self, line: bytes) -> None:
        """Queue one line for the writing thread."""
        if self._closing.is_set() or self._queue.qsize() >= LINES_MAX:
            self._no_room += 1
        else:
            self._queue.put(line + b"\n")

    debug = info = warning = error = critical = exception = log = msg

    def request(
        self, request_id: str, method: str, path: str, status: int, duration_ms: float
    ) -> None:
        """Log an answered request, as a call of structlog's `info` would."""
        if self._log_requests:
            at_ms = self._clock.real_ms()
            self.msg(
                _line(
                    _RequestLine(
                        at_ms, "info", request_id, method, path, status, duration_ms, "request"
                    )
                )
            )

    def lost(self) -> int:
        """Return how many lines have been lost so far."""
        return self._no_room + self._not_written

    def close(self) -> None:
        """Queue no more lines; return once all are written, or after `FLUSH_S`."""
        self._closing.set()
        self._queue.put(None)
        self._thread.join(FLUSH_S)
        self._given_up.set()

    def _work(self) -> None:
        ending = False
        while not ending:
            batch, ending = self._take()
            self._tell()
            self._not_written += self._write(batch)

    def _take(self) -> tuple[list[bytes], bool]:
        """Wait for lines; return them, and whether they are the last ones."""
        batch: list[bytes] = []
        line = self._queue.get()
        self._closing.wait(GATHER_S)
        with suppress(Empty):
            while line is not None:
                batch.append(line)
                if len(batch) == BATCH_LINES:
                    return batch, False
                line = self._queue.get_nowait()
            return batch, True
        return batch, False

    def _tell(self) -> None:
        """Report the lines lost since the last report, if the file takes the report."""
        lost = self.lost()
        if lost > self._told:
            with suppress(Exception):
                if not self._write([self._tell_lost(lost - self._told) + b"\n"]):
                    self._told = lost

    def _write(self, lines: list[bytes]) -> int:
        """Write lines; return how many of them have not been written."""
        if self._file is None:
            return len(lines)
        left = memoryview(b"\n" * self._torn + b"".join(lines))
        with suppress(Exception):  # an error of the log cannot be logged
            while left:
                # None: the file is in non-blocking mode and takes nothing now. Another process that
                # has the file open may have set that mode.
                taken = self._file.write(left) or 0
                if taken:
                    self._torn = left[taken - 1] != ord("\n")
                    left = left[taken:]
                elif self._given_up.wait(GATHER_S):
                    break
            self._file.flush()
        return min(len(lines), bytes(left).count(b"\n"))


class _FromStandardLibrary(logging.Handler):
    """Sends what libraries log to the same log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a library's record as the event `library`."""
        try:
            text = record.getMessage()
        except Exception:  # the arguments do not fit the text
            text = _spell(record.msg)
        logger = structlog.get_logger(record.name)
        level = record.levelname.lower() if record.levelname.lower() in _LEVELS else "error"
        getattr(logger, level)("library", text=text, exc_info=record.exc_info)


@contextmanager
def logging_to(file: BinaryIO | None, level: str, clock: Clock) -> Iterator[Lines]:
    """While a block runs, write to `file` what is logged at `level` or above.

    The levels are debug, info, warning and error. What libraries log below warning is left out at
    every level.
    """

    def stamp(
        _: Any, level_name: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        return {"at_ms": clock.real_ms(), "level": level_name, **event}

    def tell_lost(number: int) -> bytes:
        return _line(
            {
                "at_ms": clock.real_ms(),
                "level": "warning",
                "event": "log_lines_lost",
                "lines": number,
            }
        )

    lines = Lines(file, tell_lost, clock, log_requests=_LEVELS[level] <= logging.INFO)
    structlog.configure(
        processors=[stamp, structlog.processors.format_exc_info, lambda _, __, event: _line(event)],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(
        handlers=[_FromStandardLibrary()], level=max(logging.WARNING, _LEVELS[level]), force=True
    )
    logging.captureWarnings(True)
    try:
        yield lines
    finally:
        lines.close()


def standard_error() -> BinaryIO | None:
    """Return standard error without a buffer; None where it was closed before the start.

    A buffer would keep a line that could not be written, and each later write would fail with it.
    """
    if sys.stderr is None:
        return None
    with suppress(OSError, ValueError):
        return open(sys.stderr.fileno(), "wb", buffering=0, closefd=False)
    return None
