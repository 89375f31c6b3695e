"""The line of an answered request is made without structlog, and looks the same."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import structlog

from pgs.clock import SystemClock
from pgs.logs import Lines, logging_to


@contextmanager
def logging_into(file: io.BytesIO, level: str) -> Iterator[Lines]:
    was, root = structlog.get_config(), logging.getLogger()
    handlers, root_level = root.handlers[:], root.level
    try:
        with logging_to(file, level, SystemClock()) as lines:
            structlog.configure(cache_logger_on_first_use=False)
            yield lines
    finally:
        logging.captureWarnings(False)
        root.handlers[:] = handlers
        root.setLevel(root_level)
        structlog.configure(**was)


@pytest.mark.parametrize(
    "path", ["/partner/me", '/\u00e9"', "/\udcff"], ids=["usual", "odd", "cut"]
)
def test_a_requests_line_is_the_one_that_structlog_makes(path: str) -> None:
    file = io.BytesIO()
    with logging_into(file, "info") as lines:
        lines.request("req_1", "GET", path, 200, 1.25)
        structlog.get_logger("pgs.access").info(
            "request", request_id="req_1", method="GET", path=path, status=200, duration_ms=1.25
        )
    fast, usual = (json.loads(line) for line in file.getvalue().splitlines())
    assert list(fast) == list(usual)
    fast["at_ms"] = usual["at_ms"]
    assert fast == usual


@pytest.mark.parametrize(("level", "number"), [("debug", 1), ("info", 1), ("warning", 0)])
def test_requests_are_logged_at_info(level: str, number: int) -> None:
    file = io.BytesIO()
    with logging_into(file, level) as lines:
        lines.request("req_1", "GET", "/", 200, 1.25)
    assert len(file.getvalue().splitlines()) == number
