"""The limits of look-ups: a name server that never answers takes no thread from other names."""

import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.domain.ip_addresses import REFUSED_MESSAGE
from pgs.domain.nudges import TryOutcome
from pgs.http.outbound.resolver import LimitedResolver, look_up
from tests.http.internet import keeping_none
from tests.patience import PATIENCE_S

ADDRESS = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))


class _System:
    """A system resolver that answers names beginning with `slow` only when the test says so."""

    def __init__(self) -> None:
        self.answer = threading.Event()
        self.running: list[bytes] = []
        self.ended = 0

    def __call__(self, host: bytes, *arguments: Any) -> list[Any]:
        self.running.append(host)
        try:
            if host.startswith(b"slow") and not self.answer.wait(PATIENCE_S):
                raise AssertionError("a test never answered")
            if host.startswith(b"missing"):
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return [ADDRESS]
        finally:
            self.ended += 1


@asynccontextmanager
async def _resolver(**limits: int) -> AsyncIterator[tuple[LimitedResolver, _System]]:
    system = _System()
    resolver = LimitedResolver(system=system, **limits)
    before = trio.socket.set_custom_hostname_resolver(resolver)
    try:
        with trio.fail_after(PATIENCE_S):
            yield resolver, system
            system.answer.set()
            await _until(
                lambda: system.ended == len(system.running) and not resolver.statistics().names
            )
            assert resolver.statistics().waited_for == 0
    finally:
        system.answer.set()
        trio.socket.set_custom_hostname_resolver(before)


async def _until(happened: Callable[[], bool]) -> None:
    while not happened():  # noqa: ASYNC110 - it happens in a thread
        await trio.sleep(0.002)


async def test_a_look_up_returns_what_the_system_resolver_returns() -> None:
    async with _resolver() as (_, system):
        assert await look_up("hooks.example.com", 443) == ["93.184.216.34"]
        assert await look_up("missing.example.com", 443) == []
        with pytest.raises(socket.gaierror):
            await trio.socket.getaddrinfo("missing.example.com", 443)
        assert system.running == [
            b"hooks.example.com",
            b"missing.example.com",
            b"missing.example.com",
        ]


async def test_one_name_takes_at_most_its_threads_and_leaves_the_others_theirs() -> None:
    async with _resolver(threads=8, per_host=2) as (_, system), trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(look_up, "slow.example.com", 443)
        await _until(lambda: len(system.running) == 2)
        assert await look_up("hooks.example.com", 443) == ["93.184.216.34"]
        assert system.running.count(b"slow.example.com") == 2
        system.answer.set()
    assert system.running.count(b"slow.example.com") == 6


async def test_all_names_together_have_a_limit() -> None:
    async with _resolver(threads=3, per_host=2) as (_, system), trio.open_nursery() as nursery:
        for number in range(9):
            nursery.start_soon(look_up, f"slow{number}.example.com", 443)
        await _until(lambda: len(system.running) == 3)
        await wait_all_tasks_blocked()
        assert len(system.running) == 3
        system.answer.set()


async def test_slow_look_ups_take_no_thread_that_others_use() -> None:
    async with _resolver() as (_, system), trio.open_nursery() as nursery:
        nursery.start_soon(look_up, "slow.example.com", 443)
        await _until(lambda: len(system.running) == 1)
        assert trio.to_thread.current_default_thread_limiter().borrowed_tokens == 0
        system.answer.set()


async def test_a_cancelled_look_up_returns_at_once_and_its_thread_keeps_the_slot_of_its_name() -> (
    None
):
    async with _resolver(threads=8, per_host=1) as (resolver, system):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(look_up, "slow.example.com", 443)
            await _until(lambda: len(system.running) == 1)
            nursery.cancel_scope.cancel()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(look_up, "slow.example.com", 443)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert system.running == [b"slow.example.com"]
        assert system.ended == 0
        # The cancelled look-up has freed its thread slot for other names.
        assert (resolver.statistics().waited_for, resolver.statistics().left) == (0, 1)


async def test_waiting_for_the_slot_of_a_name_takes_no_thread_from_others() -> None:
    async with _resolver(threads=2, per_host=1) as (_, system), trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(look_up, "slow.example.com", 443)
        await _until(lambda: len(system.running) == 1)
        assert await look_up("hooks.example.com", 443) == ["93.184.216.34"]
        system.answer.set()


async def test_waiting_for_a_slot_counts_towards_the_two_seconds_of_a_try(
    mock_clock: MockClock,
) -> None:
    mock_clock.rate = 1.0  # so that `_until` goes on
    async with _resolver(threads=1) as (_, system), trio.open_nursery() as nursery:
        nursery.start_soon(look_up, "slow.example.com", 443)
        await _until(lambda: len(system.running) == 1)
        mock_clock.rate = 0.0
        outcomes: list[TryOutcome] = []

        async def post() -> None:
            client = keeping_none()
            outcomes.append(await client.post("https://hooks.example.com/", b"{}", {}))

        nursery.start_soon(post)
        await wait_all_tasks_blocked()
        mock_clock.jump(1.9)
        await wait_all_tasks_blocked()
        assert outcomes == []
        mock_clock.jump(0.1)
        await wait_all_tasks_blocked()
        mock_clock.rate = 1.0
        (outcome,) = outcomes
        assert (outcome.status, outcome.duration_ms) == (None, 2_000)
        assert len(system.running) == 1
        system.answer.set()


async def test_a_try_at_a_name_that_does_not_exist_is_refused() -> None:
    async with _resolver():
        outcome = await keeping_none().post("https://missing.example.com/", b"{}", {})
        assert (outcome.status, outcome.error) == (None, REFUSED_MESSAGE)


def test_the_end_of_the_run_waits_for_no_look_up() -> None:
    system = _System()

    async def main() -> None:
        trio.socket.set_custom_hostname_resolver(LimitedResolver(system=system))
        with trio.move_on_after(0.01):
            await look_up("slow.example.com", 443)

    trio.run(main)
    assert system.ended == 0
    system.answer.set()
