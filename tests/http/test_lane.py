"""Which requests the lane takes, and its bounds, over real sockets."""

import socket
from contextlib import ExitStack
from functools import partial
from typing import Any

import msgspec
import pytest
import trio
from hypercorn.events import Event

from pgs.config import BadSettings, load_config
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.lane import Lane
from pgs.http.transport.server import bind
from tests.http.apps import edge, http_app, ok, read_body, reply
from tests.http.raw import QUICK, SERVERS, UNHURRIED, ServeApp, Server, serving
from tests.patience import PATIENCE_S

PLAIN = b"GET /partner/me HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    await reply(send, 200, await read_body(receive))


async def test_hypercorn_sees_nothing_of_a_plain_request(by_hypercorn: list[Event]) -> None:
    async with serving(SERVERS["lane"], ok) as server:
        async with await server.client() as client:
            for _ in range(3):
                assert (await client.ask(PLAIN)).body == b"ok"
        await trio.testing.wait_all_tasks_blocked()
    assert by_hypercorn == []


async def test_without_the_lane_hypercorn_sees_every_request(by_hypercorn: list[Event]) -> None:
    async with serving(SERVERS["hypercorn"], ok) as server, await server.client() as client:
        assert (await client.ask(PLAIN)).body == b"ok"
    assert by_hypercorn


async def test_a_connection_goes_on_after_a_request_that_is_not_plain(
    by_hypercorn: list[Event],
) -> None:
    async with serving(SERVERS["lane"], ok) as server, await server.client() as client:
        assert (await client.ask(PLAIN)).body == b"ok"
        assert by_hypercorn == []
        await client.send(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert (await client.answer(to_head=True)).status == 200
        assert by_hypercorn
        assert (await client.ask(PLAIN)).body == b"ok"


async def test_the_last_request_of_a_connection_is_counted_across_both_ways(
    serve_app: ServeApp,
) -> None:
    limits = msgspec.structs.replace(UNHURRIED, requests_per_connection=4)
    options = b"OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n"
    async with serving(serve_app, ok, limits) as server:
        for third in (PLAIN, options):
            async with await server.client() as client:
                for request in (PLAIN, PLAIN, third):
                    assert "connection" not in (await client.ask(request)).headers
                assert (await client.ask(PLAIN)).headers["connection"] == "close"
                assert await client.end() == b""


async def test_an_idle_connection_is_closed(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok, QUICK) as server, await server.client() as client:
        assert (await client.ask(PLAIN)).body == b"ok"
        assert await client.end() == b""
        assert server.events.total() == 0


async def test_a_head_that_stays_unfinished_is_counted(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok, QUICK) as server, await server.client() as client:
        await client.send(PLAIN[:30])
        assert await client.end() == b""
        assert server.events == {"head_timeout": 1}


@pytest.mark.parametrize("cut", [0, 1, 5], ids=["whole body late", "all but one", "last byte late"])
async def test_a_body_that_arrives_late_is_read(serve_app: ServeApp, cut: int) -> None:
    async with serving(serve_app, edge(http_app(echo))) as server, await server.client() as client:
        await client.send(POST + b"abcdef"[:cut])
        await trio.sleep(3 * QUICK.sweep_s)
        await client.send(b"abcdef"[cut:])
        assert (await client.answer()).body == b"abcdef"


async def test_requests_that_arrive_byte_by_byte_are_answered(serve_app: ServeApp) -> None:
    limits = msgspec.structs.replace(UNHURRIED, lane_body_s=60.0)
    app = edge(http_app(echo))
    async with serving(serve_app, app, limits) as server, await server.client() as client:
        for byte in (POST + b"abcdef") * 2:
            await client.send(bytes([byte]))
            await trio.lowlevel.checkpoint()
        assert (await client.answer()).body == b"abcdef"
        assert (await client.answer()).body == b"abcdef"


async def test_a_held_call_ends_when_its_connection_was_silent_for_too_long(
    serve_app: ServeApp,
) -> None:
    told = trio.Event()

    async def held(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        assert (await receive())["type"] == "http.disconnect"
        told.set()

    limits = msgspec.structs.replace(UNHURRIED, read_s=0.2)
    app = edge(http_app(held))
    async with serving(serve_app, app, limits) as server, await server.client() as client:
        await client.send(PLAIN)
        with trio.fail_after(PATIENCE_S):
            await told.wait()
        assert await client.end() == b""


async def test_a_fault_of_the_lane_affects_its_connection_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take = Lane.take

    def broken(self: Lane, raw: bytes) -> object:
        if b"/broken" in raw:
            raise ValueError
        return take(self, raw)

    monkeypatch.setattr(Lane, "take", broken)
    async with serving(SERVERS["lane"], ok) as server, await server.client() as client:
        await client.send(b"GET /broken HTTP/1.1\r\nHost: h\r\n\r\n")
        assert await client.end() == b""
        assert server.events["connection_crash"] == 1
        assert await server.is_alive()


def _listener(sock: socket.socket, events: list[str]) -> Any:
    """Return a listener to start in a nursery. It appends its events to a list."""
    settings: dict[str, Any] = {"limits": UNHURRIED, "on_event": events.append}
    return partial(SERVERS["lane"], ok, [sock], stop=trio.Event(), **settings)


async def test_a_cancelled_listener_ends_its_connections_without_a_crash() -> None:
    events: list[str] = []
    sock = bind("127.0.0.1:0")
    async with trio.open_nursery() as nursery:
        await nursery.start(_listener(sock, events))
        server = Server(sock.getsockname()[1], trio.Event(), trio.Event())
        async with await server.client() as client:
            assert (await client.ask(PLAIN)).body == b"ok"
            nursery.cancel_scope.cancel()
    assert events == []


async def test_a_listener_that_is_cancelled_while_it_accepts_does_not_crash() -> None:
    events: list[str] = []
    for _ in range(10):  # which task a cancellation ends first is random
        with bind("127.0.0.1:0") as sock, ExitStack() as clients:
            async with trio.open_nursery() as nursery:
                await nursery.start(_listener(sock, events))
                for _ in range(20):
                    clients.enter_context(socket.create_connection(sock.getsockname()))
                for _ in range(10):
                    await trio.lowlevel.checkpoint()
                nursery.cancel_scope.cancel()
    assert events == []


def test_the_lane_is_on_unless_a_setting_says_otherwise() -> None:
    assert load_config(environ={}).lane == "on"
    assert load_config(environ={"PGS_LANE": "off"}).lane == "off"
    with pytest.raises(BadSettings, match="PGS_LANE must be on or off"):
        load_config(environ={"PGS_LANE": "no"})
