"""Log lines are written whole and in order, and a log call never waits."""

import io
import json
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest
import structlog

import pgs.logs
from pgs.clock import SystemClock
from pgs.config import LOG_LEVELS
from pgs.logs import BATCH_LINES, Lines, logging_to
from tests.patience import PATIENCE_S


class Moody(io.RawIOBase):
    """A file that takes `at_once` bytes a write, fails while `broken`, hangs unless `going`."""

    def __init__(self, at_once: int = 1 << 30) -> None:
        self.at_once = at_once
        self.broken = False
        self.going = threading.Event()
        self.going.set()
        self.asked = threading.Event()
        self.content = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self.asked.set()
        self.going.wait()
        if self.broken:
            raise OSError(28, "No space left on device")
        taken = bytes(data)[: self.at_once]
        self.content += taken
        return len(taken)


@contextmanager
def logging_into(file: BinaryIO | Moody | None, level: str = "info") -> Iterator[Lines]:
    was, root = structlog.get_config(), logging.getLogger()
    handlers, root_level = root.handlers[:], root.level
    try:
        # `Moody` is no BinaryIO to mypy, but has the methods that the log calls.
        with logging_to(file, level, SystemClock()) as lines:  # type: ignore[arg-type]
            structlog.configure(cache_logger_on_first_use=False)
            yield lines
    finally:
        logging.captureWarnings(False)
        structlog.configure(**was)
        root.handlers[:], root.level = handlers, root_level


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def events(content: bytes) -> list[str]:
    return [json.loads(line)["event"] for line in content.splitlines()]


@pytest.mark.parametrize("level", LOG_LEVELS)
def test_events_from_the_set_level_on_are_logged(level: str) -> None:
    file = Moody()
    with logging_into(file, level):
        for name in LOG_LEVELS:
            getattr(structlog.get_logger(), name)(f"something at {name}")
    lines = [json.loads(line) for line in file.content.splitlines()]
    assert [(line["level"], line["event"]) for line in lines] == [
        (name, f"something at {name}") for name in LOG_LEVELS[LOG_LEVELS.index(level) :]
    ]


def test_lines_are_whole_and_in_order_even_if_the_file_takes_few_bytes_a_write() -> None:
    file = Moody(at_once=7)
    with logging_into(file):
        for number in range(100):
            structlog.get_logger().info(f"line {number}")
    assert events(file.content) == [f"line {number}" for number in range(100)]


def test_more_lines_than_a_batch_are_all_written() -> None:
    file = Moody()
    with logging_into(file) as lines:
        for number in range(BATCH_LINES + 5):
            structlog.get_logger().info(str(number))
        until(lambda: file.content.count(b"\n") == BATCH_LINES + 5)
    assert lines.lost() == 0


def test_lines_of_several_threads_do_not_mix() -> None:
    file = Moody(at_once=11)
    with logging_into(file):
        threads = [
            threading.Thread(
                target=lambda: [structlog.get_logger().info("x" * 50, n=n) for n in range(100)]
            )
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until(lambda: file.content.count(b"\n") == 400)  # on leaving, the log waits for 0.25 s
    assert events(file.content) == ["x" * 50] * 400


def test_lines_lost_to_a_failing_file_are_reported_once_it_works_again() -> None:
    file = Moody()
    with logging_into(file) as lines:
        file.broken = True
        for _ in range(3):
            structlog.get_logger().info("lost")
        until(lambda: lines.lost() == 3)
        file.broken = False
        structlog.get_logger().info("kept")
        until(lambda: b"kept" in file.content)
    told, kept = (json.loads(line) for line in file.content.splitlines())
    assert (told["event"], told["level"], told["lines"], kept["event"]) == (
        "log_lines_lost",
        "warning",
        3,
        "kept",
    )


def test_a_cut_line_is_ended_before_the_next_one() -> None:
    class Torn(Moody):
        def write(self, data: Any, /) -> int:
            taken = super().write(data)
            self.broken = self.at_once == 5  # after five bytes, every write fails
            return taken

    file = Torn(at_once=5)
    with logging_into(file) as lines:
        structlog.get_logger().info("cut")
        until(lambda: lines.lost() == 1)
        file.broken, file.at_once = False, 1 << 30
        structlog.get_logger().info("whole")
        until(lambda: b"whole" in file.content)
    first, *others = file.content.splitlines(keepends=True)
    assert first == b'{"at_\n'
    assert events(b"".join(others)) == ["log_lines_lost", "whole"]


def test_a_file_that_hangs_delays_no_log_call_and_excess_lines_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pgs.logs, "LINES_MAX", 10)
    file = Moody()
    with logging_into(file) as lines:
        file.going.clear()
        structlog.get_logger().info("first")
        assert file.asked.wait(PATIENCE_S)  # the log's thread hangs in writing the first line
        for _ in range(25):
            structlog.get_logger().info("more")
        assert lines.lost() == 15
        file.going.set()
        until(lambda: file.content.count(b"more") == 10)
    assert "log_lines_lost" in events(file.content)


def test_closing_does_not_wait_for_a_file_that_hangs() -> None:
    file = Moody()
    with logging_into(file):
        file.going.clear()
        structlog.get_logger().info("late")
    # The log is closed, although the write still hangs.
    assert file.asked.wait(PATIENCE_S)
    assert file.content == b""
    file.going.set()
    until(lambda: events(file.content) == ["late"])


def test_closing_the_log_writes_the_queued_lines() -> None:
    file = Moody()
    with logging_into(file):
        structlog.get_logger().info("the last")
    assert events(file.content) == ["the last"]


@contextmanager
def full_pipe() -> Iterator[tuple[BinaryIO, Callable[[], bytes]]]:
    """Give the end of a full pipe in non-blocking mode, and a function that empties the pipe.

    The function returns the bytes without the spaces that fill the pipe.
    """
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    with open(reading, "rb", buffering=0) as out, open(writing, "wb", buffering=0) as into:
        while into.write(b" " * 4096):
            pass

        def drain() -> bytes:
            return b"".join(iter(lambda: out.read(1 << 16), None)).lstrip(b" ")

        yield into, drain


def test_a_pipe_in_non_blocking_mode_gets_every_line() -> None:
    content = b""
    with full_pipe() as (file, drain), logging_into(file) as lines:
        for number in range(900):
            structlog.get_logger().info("x" * 200, n=number)
        while content.count(b"\n") < 900:
            content += drain()
            time.sleep(0.001)
    assert [json.loads(line)["n"] for line in content.splitlines()] == list(range(900))
    assert lines.lost() == 0


def test_closing_waits_for_a_full_pipe_that_is_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    content: list[bytes] = []
    closing, closed = threading.Event(), threading.Event()

    class SaysWhenItCloses(Lines):
        def close(self) -> None:
            closing.set()
            super().close()
            closed.set()

    monkeypatch.setattr(pgs.logs, "Lines", SaysWhenItCloses)
    with full_pipe() as (file, drain):

        def read_once_it_closes() -> None:
            closing.wait()
            while not closed.is_set():
                content.append(drain())
            content.append(drain())

        thread = threading.Thread(target=read_once_it_closes)
        with logging_into(file):
            structlog.get_logger().info("the last")
            thread.start()
        thread.join()
    assert events(b"".join(content)) == ["the last"]


def test_without_a_file_lines_are_counted_as_lost() -> None:
    with logging_into(None) as lines:
        structlog.get_logger().info("nowhere")
        until(lambda: lines.lost() == 1)


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("\ud800", "\ud800"),
        (Unspeakable(), "<Unspeakable>"),
        ({"a": [Unspeakable()]}, {"a": ["<Unspeakable>"]}),
    ],
)
def test_a_value_that_cannot_be_encoded_is_written_in_another_form(
    field: object, told: object
) -> None:
    file = Moody()
    with logging_into(file):
        structlog.get_logger().error("odd", request_id="req_1", field=field)
    line = json.loads(file.content)
    assert (line["event"], line["level"], line["request_id"], line["field"]) == (
        "odd",
        "error",
        "req_1",
        told,
    )


def test_a_line_after_closing_is_counted_as_lost() -> None:
    file = Moody()
    with logging_into(file) as lines:
        pass
    lines.msg(b"too late")
    assert (lines.lost(), file.content) == (1, b"")


def test_lines_written_before_their_batch_failed_are_not_counted_as_lost() -> None:
    class Filling(Moody):
        def write(self, data: Any, /) -> int:
            self.broken = self.content.count(b"\n") >= 3
            return super().write(data)

    file = Filling(at_once=1)
    with logging_into(file) as lines:
        for _ in range(10):
            structlog.get_logger().info("x")
        until(lambda: lines.lost() == 7)
    assert events(file.content) == ["x"] * 3


def test_warnings_and_records_of_libraries_are_logged_too() -> None:
    file = Moody()
    with logging_into(file):
        logging.getLogger("some.library").error("it %s", "broke")
        logging.getLogger("some.library").error("%d", "no number")
        logging.getLogger("some.library").error(Unspeakable())
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("soon gone", stacklevel=1)
    texts = [json.loads(line)["text"] for line in file.content.splitlines()]
    assert texts[:3] == ["it broke", "'%d'", "<Unspeakable>"]
    assert "soon gone" in texts[3]


def test_standard_error_is_written_without_a_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "err").open("w") as file:
        monkeypatch.setattr("sys.stderr", file)
        raw = pgs.logs.standard_error()
        assert raw is not None
        raw.write(b"at once")
        assert (tmp_path / "err").read_bytes() == b"at once"
    monkeypatch.setattr("sys.stderr", None)
    assert pgs.logs.standard_error() is None
