"""Time that is stored: whole seconds, and never going back."""

import time

import pytest
import trio
from trio.testing import MockClock

from pgs.clock import SystemClock, SystemRng
from tests.virtual import START, SeededRng, clock


def test_the_clock_stands_still_while_the_machines_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([1_000_500, 999_000, 1_000_900, 1_001_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(readings) * 1_000_000)
    wall = SystemClock()
    assert [wall.now_ms(), wall.now_ms(), wall.now(), wall.now()] == [1_000_500, 1_000_500, 1000, 1001]


async def test_a_virtual_clock_gives_exact_seconds(autojump_clock: MockClock) -> None:
    wall = clock()
    assert wall.now() == START
    for _ in range(10):
        await trio.sleep(0.1)
    assert wall.now_ms() == START * 1000 + 1000
    assert wall.now() == START + 1
    await trio.sleep(0.999)
    assert wall.now() == START + 1


def test_randomness_has_the_length_asked_for_and_repeats_only_in_tests() -> None:
    assert len(SystemRng().bytes(16)) == 16
    assert SystemRng().bytes(16) != SystemRng().bytes(16)
    assert SeededRng(1).bytes(16) == SeededRng(1).bytes(16) != SeededRng(2).bytes(16)
