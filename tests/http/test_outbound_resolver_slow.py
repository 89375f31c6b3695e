"""Any number of hanging look-ups leaves enough threads for other names."""

import socket
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.http.outbound import resolver
from pgs.http.outbound.resolver import (
    LOOKUPS_AT_ONCE,
    LOOKUPS_LEFT,
    LOOKUPS_OF_SLOW,
    LOOKUPS_PER_HOST,
    SLOW_S,
    LimitedResolver,
    look_up,
)
from tests.patience import PATIENCE_S

ADDRESS = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))
GIVES_UP_S = 2.0  # seconds, as a try does


class _System:
    """A system resolver that answers at once. Names in `hanging` wait until the test says so."""

    def __init__(self) -> None:
        self.hanging: set[str] = set()
        self.answer = threading.Event()
        self.running = Counter[str]()
        self.begun = 0
        self._count = threading.Lock()  # adding to a number is not atomic between threads

    def __call__(self, host: bytes, *arguments: Any) -> list[Any]:
        name = host.decode()
        with self._count:
            self.running[name] += 1
            self.begun += 1
        try:
            if name in self.hanging and not self.answer.wait(PATIENCE_S):
                raise AssertionError("a test never answered")
            return [ADDRESS]
        finally:
            with self._count:
                self.running[name] -= 1


@asynccontextmanager
async def _resolver(**limits: int) -> AsyncIterator[tuple[LimitedResolver, _System]]:
    system = _System()
    limited = LimitedResolver(system=system, **limits)
    before = trio.socket.set_custom_hostname_resolver(limited)
    try:
        yield limited, system
        system.answer.set()
        await _until(lambda: not system.running.total() and not limited.statistics().names)
        found = limited.statistics()
        assert (found.waited_for, found.of_slow, found.left) == (0, 0, 0)
    finally:
        system.answer.set()
        trio.socket.set_custom_hostname_resolver(before)


async def _until(happened: Callable[[], bool]) -> None:
    """Wait for what happens in threads, which do not follow the virtual clock."""
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        await wait_all_tasks_blocked(0.001)
        if happened():
            return
    raise AssertionError("it never happened")


async def _begin(nursery: trio.Nursery, name: str) -> None:
    async def attempt() -> None:
        with trio.move_on_after(GIVES_UP_S):
            await look_up(name, 443)

    nursery.start_soon(attempt)
    await wait_all_tasks_blocked()


async def _hang(
    system: _System, clock: MockClock, names: list[str], times: int = LOOKUPS_PER_HOST
) -> None:
    """Start `times` look-ups of each name and give all of them up. Their threads keep running."""
    system.hanging.update(names)
    async with trio.open_nursery() as nursery:
        for name in names:
            for _ in range(times):
                await _begin(nursery, name)
        await _until(lambda: all(system.running[name] for name in names))
        clock.jump(GIVES_UP_S)


@asynccontextmanager
async def _looking_up(name: str) -> AsyncIterator[list[str]]:
    """Look a name up during a block; the list receives its addresses."""
    async with trio.open_nursery() as nursery:
        found: list[str] = []

        async def attempt() -> None:
            found.extend(await look_up(name, 443))

        nursery.start_soon(attempt)
        yield found
        nursery.cancel_scope.cancel()


async def _is_looked_up(name: str) -> None:
    """Return once a name is looked up, while the clock stands still."""
    async with _looking_up(name) as found:
        await _until(lambda: bool(found))


async def _is_not_looked_up(name: str) -> None:
    """Check that a name waits for a slot."""
    async with _looking_up(name) as found:
        for _ in range(200):
            await wait_all_tasks_blocked(0.001)
            assert not found


async def test_look_ups_that_hang_in_all_threads_make_room_once_they_are_given_up(
    mock_clock: MockClock,
) -> None:
    async with _resolver() as (_, system):
        names = [
            f"hung{number}.example.com" for number in range(LOOKUPS_AT_ONCE // LOOKUPS_PER_HOST)
        ]
        await _hang(system, mock_clock, names)
        await _until(lambda: system.running.total() == LOOKUPS_AT_ONCE)
        await _is_looked_up("hooks.example.com")


async def test_names_that_are_known_to_be_slow_have_eight_threads_together(
    mock_clock: MockClock,
) -> None:
    async with _resolver() as (limited, system):
        names = [f"hung{number}.example.com" for number in range(LOOKUPS_AT_ONCE)]
        for start in range(0, LOOKUPS_AT_ONCE, 8):
            await _hang(system, mock_clock, names[start : start + 8], 1)
        system.answer.set()
        await _until(lambda: not system.running.total())
        system.answer.clear()
        assert len(limited.statistics().slow_names) == LOOKUPS_AT_ONCE
        async with trio.open_nursery() as nursery:
            for name in names:
                for _ in range(8):
                    await _begin(nursery, name)
            await _until(lambda: system.running.total() == LOOKUPS_OF_SLOW)
            assert max(system.running.values()) == 1
            await _is_looked_up("hooks.example.com")
            nursery.cancel_scope.cancel()


async def test_a_name_that_hangs_takes_no_further_thread_with_each_try(
    mock_clock: MockClock,
) -> None:
    async with _resolver() as (_, system):
        await _hang(system, mock_clock, ["hung.example.com"], 1)
        for _ in range(10):
            async with trio.open_nursery() as nursery:
                await _begin(nursery, "hung.example.com")
                mock_clock.jump(GIVES_UP_S)
        assert system.running.total() == 1


async def test_a_name_that_answers_in_time_again_has_all_its_threads_again(
    mock_clock: MockClock,
) -> None:
    async with _resolver() as (limited, system):
        await _hang(system, mock_clock, ["hooks.example.com"], 1)
        system.answer.set()
        await _until(lambda: not system.running.total() and not limited.statistics().names)
        system.answer.clear()
        system.hanging.clear()
        # It was answered in the end, but it took too long.
        assert limited.statistics().slow_names == (b"hooks.example.com",)
        await _is_looked_up("hooks.example.com")
        assert limited.statistics().slow_names == ()
        system.hanging.add("hooks.example.com")
        async with trio.open_nursery() as nursery:
            for _ in range(6):
                await _begin(nursery, "hooks.example.com")
            await _until(lambda: system.running.total() == LOOKUPS_PER_HOST)
            nursery.cancel_scope.cancel()


async def test_a_look_up_that_is_given_up_early_does_not_mark_its_name_as_slow(
    mock_clock: MockClock,
) -> None:
    async with _resolver() as (limited, system):
        system.hanging.add("hooks.example.com")
        async with trio.open_nursery() as nursery:
            await _begin(nursery, "hooks.example.com")
            await _until(lambda: system.running.total() == 1)
            mock_clock.jump(SLOW_S / 2)
            nursery.cancel_scope.cancel()
        assert limited.statistics().slow_names == ()


async def test_beyond_their_limit_look_ups_that_nobody_waits_for_keep_their_thread_slots(
    mock_clock: MockClock,
) -> None:
    async with _resolver(threads=3, per_host=1, of_slow=3, left=2) as (_, system):
        for number in range(5):
            await _hang(system, mock_clock, [f"hung{number}.example.com"], 1)
        assert system.running.total() == 5
        await _is_not_looked_up("hooks.example.com")
        assert LOOKUPS_LEFT < 100  # the threads of a process are limited


async def test_beyond_their_limit_the_name_that_has_been_slow_longest_is_forgotten(
    mock_clock: MockClock, monkeypatch: Any
) -> None:
    monkeypatch.setattr(resolver, "SLOW_HOSTS_MAX", 2)
    async with _resolver() as (limited, system):
        for name in ("a.example.com", "b.example.com", "c.example.com"):
            await _hang(system, mock_clock, [name], 1)
        assert limited.statistics().slow_names == (b"b.example.com", b"c.example.com")
