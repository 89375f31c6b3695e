"""The log: one JSON object a line on standard error, with the request's id where there is a request."""

import logging
import sys
from typing import Any, BinaryIO

import msgspec
import structlog

from pgs.clock import Clock

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_encode = msgspec.json.Encoder(enc_hook=repr).encode


class _Lines:
    """Writes each line with one call, so that lines of several threads do not mix."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def msg(self, line: bytes) -> None:
        """Write one line."""
        self._file.write(line + b"\n")
        self._file.flush()

    debug = info = warning = error = critical = exception = log = msg


class _FromStandardLibrary(logging.Handler):
    """Passes what libraries log to the same lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a library's record as an event of its own."""
        logger = structlog.get_logger(record.name)
        level = record.levelname.lower() if record.levelname.lower() in _LEVELS else "error"
        getattr(logger, level)("library", text=record.getMessage(), exc_info=record.exc_info)


def configure_logs(level: str, clock: Clock, file: BinaryIO | None = None) -> None:
    """Send every log line to `file` (standard error by default), from `level` on: debug, info, warning or error."""
    lines = _Lines(file or sys.stderr.buffer)

    def stamp(_: Any, level_name: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        return {"at_ms": clock.now_ms(), "level": level_name, **event}

    def render(_: Any, __: str, event: structlog.typing.EventDict) -> bytes:
        return _encode(event)

    structlog.configure(
        processors=[stamp, structlog.processors.format_exc_info, render],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_FromStandardLibrary()], level=max(logging.WARNING, _LEVELS[level]), force=True)
