"""The clock never goes back, and the virtual clock gives exact seconds."""

import time

import pytest
import structlog
import trio
from trio.testing import MockClock

from pgs.clock import BEHIND_MS, HeldTime, SystemClock, SystemRng
from tests.virtual import START, SeededRng, clock


def test_the_clock_stands_still_while_the_machines_clock_is_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readings = iter([1_000_500, 999_000, 1_000_900, 1_001_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(readings) * 1_000_000)
    wall = SystemClock()
    assert [wall.now_ms(), wall.now_ms(), wall.now(), wall.now()] == [
        1_000_500,
        1_000_500,
        1000,
        1001,
    ]


def test_each_time_that_readings_fall_behind_is_reported_once() -> None:
    held = HeldTime()
    jump = 100_000
    told = {
        reading: held.newly_behind_ms(reading)
        for reading in (0, 1_000, 1_000 + jump, 2_000, 3_000, 1_000 + jump - BEHIND_MS)
    }
    assert {reading: behind for reading, behind in told.items() if behind} == {2_000: jump - 1_000}
    assert held.latest_ms == 1_000 + jump
    assert held.newly_behind_ms(2_000 + jump) == 0  # the readings have caught up
    assert held.newly_behind_ms(2_000 + jump - BEHIND_MS - 1) == BEHIND_MS + 1
    assert held.latest_ms == 2_000 + jump


def test_a_small_correction_of_the_machines_clock_is_not_reported() -> None:
    held = HeldTime()
    assert [held.newly_behind_ms(reading) for reading in (10_000, 10_000 - BEHIND_MS, 10_001)] == [
        0,
        0,
        0,
    ]


def test_a_clock_that_falls_behind_is_counted_and_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readings = iter([1_000_000, 100_000, 200_000, 1_000_001, 300_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(readings) * 1_000_000)
    events: list[str] = []
    wall = SystemClock(events.append)
    with structlog.testing.capture_logs() as lines:
        assert [wall.now() for _ in range(5)] == [1000] * 5
    assert events == ["clock_behind"] * 2
    assert [(line["event"], line["behind_s"], line["log_level"]) for line in lines] == [
        ("clock_behind", 900, "error"),
        ("clock_behind", 700, "error"),
    ]


def test_a_clock_without_on_event_logs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([1_000_000, 100_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(readings) * 1_000_000)
    wall = SystemClock()
    with structlog.testing.capture_logs() as lines:
        assert [wall.now(), wall.now()] == [1000, 1000]
    assert lines == []


async def test_a_virtual_clock_gives_exact_seconds(autojump_clock: MockClock) -> None:
    wall = clock()
    assert wall.now() == START
    for _ in range(10):
        await trio.sleep(0.1)
    assert wall.now_ms() == START * 1000 + 1000
    assert wall.now() == START + 1
    await trio.sleep(0.999)
    assert wall.now() == START + 1


def test_random_bytes_have_the_requested_length_and_repeat_only_for_a_seed() -> None:
    assert len(SystemRng().bytes(16)) == 16
    assert SystemRng().bytes(16) != SystemRng().bytes(16)
    assert SeededRng(1).bytes(16) == SeededRng(1).bytes(16) != SeededRng(2).bytes(16)
