"""Connections to other nodes are kept and used again, and no call looks at all of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpcore
import pytest
import trio

from pgs.domain.shards import Node
from pgs.http.nodes import connections
from pgs.http.nodes.calls import Lost, NodeCalls, NotReached, Outgoing
from tests.journeys.process import free_port
from tests.patience import PATIENCE_S

ASKED = Outgoing("GET", b"/partner/me", [(b"host", b"h")], b"")
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Other:
    """A node that counts its connections. It answers each request once `open` is set."""

    def __init__(self) -> None:
        self.streams: list[trio.SocketStream] = []
        self.requests = 0
        self.expected = 0
        self.all_here = trio.Event()
        self.open = trio.Event()
        self.open.set()
        self.answer = ANSWER

    async def serve(self, stream: trio.SocketStream) -> None:
        self.streams.append(stream)
        try:
            while await stream.receive_some(65536):
                self.requests += 1
                if self.requests == self.expected:
                    self.all_here.set()
                await self.open.wait()
                await stream.send_all(self.answer)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass


@asynccontextmanager
async def other_node() -> AsyncIterator[tuple[Other, Node, NodeCalls]]:
    other, calls = Other(), NodeCalls()
    async with trio.open_nursery() as nursery:
        listeners: list[Any] = await nursery.start(trio.serve_tcp, other.serve, 0)
        port = listeners[0].socket.getsockname()[1]
        with trio.fail_after(PATIENCE_S):
            yield other, Node("n2", f"127.0.0.1:{port}"), calls
        await calls.aclose()
        nursery.cancel_scope.cancel()


async def at_once(calls: NodeCalls, node: Node, other: Other, number: int) -> None:
    """Make calls that are all under way at the same time."""
    other.open, other.all_here = trio.Event(), trio.Event()
    other.expected = other.requests + number
    async with trio.open_nursery() as nursery:
        for _ in range(number):
            nursery.start_soon(calls.whole, node, ASKED)
        await other.all_here.wait()
        other.open.set()


async def test_one_connection_serves_calls_that_follow_each_other() -> None:
    async with other_node() as (other, node, calls):
        for _ in range(5):
            assert (await calls.whole(node, ASKED))[::2] == (200, b"ok")
        assert len(other.streams) == 1


async def test_calls_at_the_same_time_have_a_connection_each_and_some_are_kept() -> None:
    async with other_node() as (other, node, calls):
        await at_once(calls, node, other, connections.KEPT_MAX + 8)
        assert len(other.streams) == connections.KEPT_MAX + 8
        await at_once(calls, node, other, connections.KEPT_MAX)
        assert len(other.streams) == connections.KEPT_MAX + 8


async def test_a_call_asks_only_the_connection_that_it_takes_for_its_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0

    class Counting(httpcore.AsyncHTTPConnection):
        def has_expired(self) -> bool:
            nonlocal asked
            asked += 1
            return super().has_expired()

    monkeypatch.setattr(httpcore, "AsyncHTTPConnection", Counting)
    async with other_node() as (other, node, calls):
        await at_once(calls, node, other, connections.KEPT_MAX)
        asked = 0
        await at_once(calls, node, other, connections.KEPT_MAX)
        assert asked == connections.KEPT_MAX


async def test_a_kept_connection_that_the_other_node_has_closed_is_not_used() -> None:
    async with other_node() as (other, node, calls):
        await calls.whole(node, ASKED)
        await other.streams[0].aclose()
        with trio.fail_after(PATIENCE_S):
            assert (await calls.whole(node, ASKED))[0] == 200
        assert len(other.streams) == 2


async def test_a_call_that_is_cut_off_leaves_no_connection_with_half_an_answer() -> None:
    async with other_node() as (other, node, calls):
        other.open = trio.Event()
        with trio.move_on_after(0.05):
            await calls.whole(node, ASKED)
        other.open.set()
        assert (await calls.whole(node, ASKED))[2] == b"ok"
        assert len(other.streams) == 2


async def test_an_answer_that_breaks_off_is_lost_and_its_connection_is_not_kept() -> None:
    async with other_node() as (other, node, calls):
        other.answer = b"nonsense\r\n\r\n"
        with pytest.raises(Lost):
            await calls.whole(node, ASKED)
        other.answer = ANSWER
        assert (await calls.whole(node, ASKED))[2] == b"ok"
        assert len(other.streams) == 2


async def test_a_node_that_cannot_be_reached_takes_no_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 1)
    calls = NodeCalls()
    for _ in range(3):
        with pytest.raises(NotReached):
            await calls.whole(Node("n2", f"127.0.0.1:{free_port()}"), ASKED)


async def test_a_call_for_which_there_is_no_connection_is_not_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 1)
    monkeypatch.setattr(connections, "CONNECT_S", 0.05)
    async with other_node() as (other, node, calls), calls.exchange(node, ASKED):
        with pytest.raises(NotReached):
            await calls.whole(node, ASKED)
        assert other.requests == 1
