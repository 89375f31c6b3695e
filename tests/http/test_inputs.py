"""The input of many connections: what arrives is never missed, and ends only its own waits."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import trio
import trio.testing

from pgs.http.transport.inputs import Inputs
from tests.patience import PATIENCE_S


@asynccontextmanager
async def running() -> AsyncIterator[Inputs]:
    """Return inputs whose tasks are woken while a block runs."""
    inputs = Inputs()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(inputs.run)
        with trio.fail_after(PATIENCE_S):
            yield inputs
        nursery.cancel_scope.cancel()


@contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Return the two ends of a connection. Reads of the first one do not block."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        yield ours, theirs


async def test_what_arrives_before_or_during_a_wait_ends_it() -> None:
    async with running() as inputs:
        with pair() as (ours, theirs):
            theirs.send(b"before it enters")
            entered = inputs.enter(ours.fileno())
            await entered.wait()
            assert ours.recv(100) == b"before it enters"
            theirs.send(b"before the wait")
            await trio.testing.wait_all_tasks_blocked()
            await entered.wait()
            assert ours.recv(100) == b"before the wait"
            async with trio.open_nursery() as nursery:
                nursery.start_soon(entered.wait)
                await trio.testing.wait_all_tasks_blocked()
                theirs.send(b"during the wait")
            assert ours.recv(100) == b"during the wait"


async def test_a_wait_lasts_until_something_arrives() -> None:
    async with running() as inputs:
        with pair() as (ours, theirs):
            entered = inputs.enter(ours.fileno())
            theirs.send(b"one")
            await entered.wait()
            assert ours.recv(100) == b"one"
            with trio.move_on_after(0.02) as limit:
                await entered.wait()
            assert limit.cancelled_caught
            theirs.send(b"two")
            await entered.wait()
            assert ours.recv(100) == b"two"


async def test_an_end_that_comes_with_the_last_bytes_ends_every_later_wait() -> None:
    async with running() as inputs:
        with pair() as (ours, theirs):
            entered = inputs.enter(ours.fileno())
            theirs.send(b"last")
            theirs.shutdown(socket.SHUT_WR)
            await entered.wait()
            assert ours.recv(4) == b"last"
            for _ in range(3):
                await entered.wait()
                assert ours.recv(4) == b""


async def test_what_arrived_before_a_wait_that_is_cancelled_ends_the_next_one() -> None:
    async with running() as inputs:
        with pair() as (ours, theirs):
            entered = inputs.enter(ours.fileno())
            theirs.send(b"x")
            await trio.testing.wait_all_tasks_blocked()
            with trio.CancelScope() as scope:
                scope.cancel()
                await entered.wait()
            assert scope.cancelled_caught
            await entered.wait()
            assert ours.recv(100) == b"x"


async def test_a_wait_that_is_woken_ends_and_a_later_one_waits() -> None:
    async with running() as inputs:
        with pair() as (ours, _):
            entered = inputs.enter(ours.fileno())
            entered.wake()  # nobody waits
            async with trio.open_nursery() as nursery:
                nursery.start_soon(entered.wait)
                await trio.testing.wait_all_tasks_blocked()
                entered.wake()
            with trio.move_on_after(0.02) as limit:
                await entered.wait()
            assert limit.cancelled_caught


async def test_a_connection_that_leaves_late_takes_nothing_from_the_next_with_its_number() -> None:
    async with running() as inputs:
        with pair() as (ours, _):
            number = ours.fileno()
            first = inputs.enter(number)
        with pair() as (ours, theirs):
            assert ours.fileno() == number
            second = inputs.enter(number)
            inputs.leave(number, first)
            theirs.send(b"x")
            await second.wait()
            inputs.leave(number, second)
            theirs.send(b"y")
            with trio.move_on_after(0.02) as limit:
                await second.wait()
            assert limit.cancelled_caught
