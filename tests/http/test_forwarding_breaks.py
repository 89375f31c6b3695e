"""Calls that a node hands on, and that break off on the way."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, cast

import pytest
import trio

from pgs.domain.keyring import new_ring
from pgs.domain.shards import Node
from pgs.http.nodes.calls import Lost, NodeCalls
from pgs.http.nodes.forwarding import Forwarding, NodeApp
from pgs.http.transport.asgi import Message
from pgs.http.transport.direct import DirectAnswer
from tests.http.edge_apps import count_in
from tests.journeys.nodes import FakeOwners, breaking_server
from tests.journeys.process import free_port
from tests.patience import PATIENCE_S

PATH = b"/embed/acme"  # acme's shard follows from the path alone
GONE = {"type": "http.disconnect"}
REQUEST = {"type": "http.request", "body": b"", "more_body": False}
CONNECT = {"type": "websocket.connect"}


class NothingHere:
    """Stands for the application of a node that serves no partner."""

    def unserved(self, method: str, path: bytes, /) -> DirectAnswer:
        return DirectAnswer(503, (), b"{}")


class Call:
    """One scope of a client at a node that does not own acme, and what the client was sent."""

    def __init__(self, address: str, kind: str, *messages: Message) -> None:
        self.events: Counter[str] = Counter()
        self.sent: list[Message] = []
        self._messages = list(messages)
        self._owners = FakeOwners(Node("n1", "127.0.0.1:1"))
        self._owners.give("acme", Node("n2", address))
        self._scope: dict[str, Any] = {
            "type": kind,
            "method": "POST",
            "path": PATH.decode(),
            "raw_path": PATH,
            "query_string": b"",
            "headers": [(b"host", b"h")],
            "state": {"request_id": "req_1"},
        }

    async def run(self) -> None:
        async with _calls() as calls:
            node = Forwarding(
                cast("NodeApp", NothingHere()),
                self._owners,
                lambda: new_ring(b"k" * 6, b"s" * 32),
                calls,
                partial(count_in, self.events),
            )
            with trio.fail_after(PATIENCE_S):
                await node(self._scope, self._receive, self._send)

    async def _receive(self) -> Message:
        if not self._messages:
            await trio.sleep_forever()
        return self._messages.pop(0)

    async def _send(self, message: Message) -> None:
        self.sent.append(message)


@asynccontextmanager
async def _calls() -> AsyncIterator[NodeCalls]:
    calls = NodeCalls()
    try:
        yield calls
    finally:
        await calls.aclose()


async def test_an_answer_that_breaks_off_after_its_head_is_not_passed_off_as_whole() -> None:
    half = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"
    async with breaking_server(half) as address:
        call = Call(address, "http", REQUEST)
        with pytest.raises(Lost):
            await call.run()
    start, *pieces = call.sent
    assert (start["status"], (b"content-length", b"10") in start["headers"]) == (200, True)
    assert [(piece["body"], piece["more_body"]) for piece in pieces] == [(b"half", True)]
    assert call.events == {"forward_lost": 1}


async def test_a_handshake_whose_owner_cannot_be_reached_may_be_repeated_in_a_second() -> None:
    call = Call(f"127.0.0.1:{free_port()}", "websocket", CONNECT)
    await call.run()
    start = call.sent[0]
    assert (start["type"], start["status"]) == ("websocket.http.response.start", 503)
    assert (b"retry-after", b"1") in start["headers"]
    assert call.events == {"forward_not_reached": 1}


async def test_a_client_that_gives_up_its_handshake_ends_it_at_the_owner_too() -> None:
    ended = trio.Event()

    async def silent(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            while await stream.receive_some():
                pass
        ended.set()

    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, silent, 0, host="127.0.0.1")
        [listener] = await nursery.start(serve)
        address = f"127.0.0.1:{listener.socket.getsockname()[1]}"
        call = Call(address, "websocket", CONNECT, {"type": "websocket.disconnect"})
        await call.run()
        with trio.fail_after(PATIENCE_S):
            await ended.wait()
        nursery.cancel_scope.cancel()
    assert call.sent == []
    assert not call.events


async def test_a_call_whose_client_leaves_within_its_body_is_not_handed_on() -> None:
    first = {"type": "http.request", "body": b"half", "more_body": True}
    # Nobody listens there, so a call that is handed on would count as not reached.
    call = Call(f"127.0.0.1:{free_port()}", "http", first, GONE)
    await call.run()
    assert call.sent == []
    assert not call.events
