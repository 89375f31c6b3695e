"""No client can harm a listener or another client, over real sockets."""

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
import pytest
import trio
from hypercorn.events import Event, RawData

from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.hypercorn_http1 import GuardedH11
from tests.http.apps import ok, only, reply
from tests.http.raw import HANDSHAKE, QUICK, UNHURRIED, ServeApp, serving, text_frame
from tests.http.sockets import app_of, echo
from tests.patience import PATIENCE_S

BLOCK = b"x" * (256 * 1024)


# Faults on one connection leave the server and other connections alone


@pytest.mark.parametrize(
    "upgrade",
    [
        HANDSHAKE % b"/ws" + b"Content-Length: 3\r\n\r\nabc",
        HANDSHAKE % b"/ws" + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        HANDSHAKE % b"/ws" + b"\r\nearly bytes",
        HANDSHAKE % b"/ws"
        + b"Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99\r\n\r\n",
        HANDSHAKE % b"/ws" + b"Sec-WebSocket-Protocol: \xff\xfe\r\n\r\n",
        HANDSHAKE.replace(b"Upgrade: websocket", b"Upgrade: \xff") % b"/ws" + b"\r\n",
        HANDSHAKE.replace(b"13", b"12") % b"/ws" + b"\r\n",
        HANDSHAKE % b"/ws" + b"\r\n" + b"\xff" * 64,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=[
        "body",
        "chunked body",
        "early bytes",
        "bad window",
        "8-bit protocol",
        "8-bit upgrade",
        "old version",
        "no frames",
        "tls",
        "bad chunk",
    ],
)
async def test_a_hostile_client_ends_no_connection_but_its_own(
    serve_app: ServeApp, upgrade: bytes
) -> None:
    async with (
        serving(serve_app, app_of(echo, subprotocol=None)) as server,
        await server.client() as client,
    ):
        await client.send(upgrade)
        await client.stream.send_eof()
        await client.end()
        assert await server.is_alive()


@pytest.mark.parametrize(
    "odd",
    [
        b"Content-Length: 3\r\n\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Sec-WebSocket-Protocol: \xff\r\n\r\n",
    ],
    ids=["body", "chunked", "8-bit protocol"],
)
async def test_an_impossible_upgrade_is_answered_as_a_plain_request(
    serve_app: ServeApp, odd: bytes
) -> None:
    async with (
        serving(serve_app, app_of(echo, subprotocol=None)) as server,
        await server.client() as client,
    ):
        assert (await client.ask(HANDSHAKE % b"/ws" + odd)).body == b"ok"
        assert server.events.total() == 0


@pytest.mark.parametrize(
    "handshake",
    [
        HANDSHAKE.replace(b"13", b"12") % b"/" + b"\r\n",
        HANDSHAKE % b"/slow" + b"\r\n" + text_frame(b"early"),
    ],
    ids=["old version", "early frame"],
)
async def test_a_handshake_that_is_refused_ends_the_connection(
    serve_app: ServeApp, handshake: bytes
) -> None:
    async def slow_to_accept(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "websocket.disconnect":
            pass

    async with (
        serving(serve_app, only("/slow", slow_to_accept)) as server,
        await server.client() as client,
    ):
        assert (await client.ask(handshake)).status == 400
        await client.end()


@pytest.mark.usefixtures("lane_serves_socket")
async def test_a_frame_that_arrives_before_the_accept_causes_no_crash(serve_app: ServeApp) -> None:
    async with serving(serve_app, app_of(echo, subprotocol=None)) as server:
        for attempt in range(20):
            async with await server.client() as client:
                await client.send(HANDSHAKE % b"/ws" + b"\r\n")
                for _ in range(attempt):
                    await trio.lowlevel.checkpoint()  # later, the lane has read the handshake
                assert (await client.ask(text_frame(b"early"))).status in (101, 400)
                await client.stream.send_eof()
                await client.end()
        assert server.events["connection_crash"] == 0


async def test_after_an_early_frame_the_handler_learns_that_the_client_is_gone(
    serve_app: ServeApp,
) -> None:
    told = trio.Event()

    async def slow_to_accept(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "websocket.connect"
        assert (await receive())["type"] == "websocket.disconnect"
        told.set()

    async with (
        serving(serve_app, only("/ws", slow_to_accept)) as server,
        await server.client() as client,
    ):
        await client.send(HANDSHAKE % b"/ws" + b"\r\n" + text_frame(b"early"))
        with trio.fail_after(PATIENCE_S):
            await told.wait()


async def test_an_exception_of_the_application_affects_its_connection_only(
    serve_app: ServeApp,
) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise ValueError("inside")

    async with (
        serving(serve_app, only("/broken", broken)) as server,
        await server.client() as client,
    ):
        await client.send(b"GET /broken HTTP/1.1\r\nHost: h\r\n\r\n")
        await client.end()
        assert await server.is_alive()


@pytest.mark.parametrize(
    "error",
    [
        LookupError("protocol"),
        ExceptionGroup("protocol", [KeyError("within"), TypeError("within")]),
    ],
)
async def test_a_fault_of_the_protocol_affects_its_connection_only(
    serve_app: ServeApp, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = GuardedH11.handle

    async def broken(self: GuardedH11, event: Event) -> None:
        if isinstance(event, RawData) and b"/streamed" in event.data:
            raise error
        await handle(self, event)

    monkeypatch.setattr(GuardedH11, "handle", broken)
    async with serving(serve_app, ok) as server, await server.client() as client:
        await client.send(b"GET /streamed HTTP/1.1\r\nHost: h\r\n\r\n")
        assert await client.end() == b""
        assert server.events["connection_crash"] == 1
        assert await server.is_alive()


# Clients that do not read


@pytest.mark.parametrize(
    "size", [1000, len(BLOCK), 20 * len(BLOCK)], ids=["little at a time", "blocks", "all at once"]
)
async def test_a_client_that_never_reads_is_cut_off(serve_app: ServeApp, size: int) -> None:
    ended = trio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await until_gone(
            receive,
            partial(send, {"type": "http.response.body", "body": b"x" * size, "more_body": True}),
        )
        ended.set()

    limits = msgspec.structs.replace(UNHURRIED, send_s=QUICK.send_s)
    async with (
        serving(serve_app, only("/streamed", endless), limits) as server,
        await server.client(receive_buffer=4096) as client,
    ):
        await client.send(b"GET /streamed HTTP/1.1\r\nHost: h\r\n\r\n")
        await server.event("send_timeout")
        with trio.fail_after(PATIENCE_S):
            await ended.wait()


async def until_gone(receive: Receive, send: Callable[[], Awaitable[None]]) -> None:
    """Send in a loop until the client has left."""
    async with trio.open_nursery() as nursery:

        async def listen() -> None:
            while not (await receive())["type"].endswith(".disconnect"):
                pass
            nursery.cancel_scope.cancel()

        nursery.start_soon(listen)
        while True:
            await send()


async def test_a_client_that_reads_slowly_gets_everything(serve_app: ServeApp) -> None:
    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await reply(send, 200, BLOCK * 8)

    limits = msgspec.structs.replace(UNHURRIED, send_s=QUICK.send_s)
    async with (
        serving(serve_app, only("/large", large), limits) as server,
        await server.client(receive_buffer=65536) as client,
    ):
        answer = await client.get("/large")
        assert answer.body == BLOCK * 8


async def test_a_loop_of_sends_to_a_client_that_left_freezes_nobody(serve_app: ServeApp) -> None:
    left = trio.Event()

    async def chatty(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        await until_gone(receive, partial(send, {"type": "websocket.send", "text": "x"}))
        left.set()

    async with serving(serve_app, only("/ws", chatty)) as server:
        async with await server.client() as client:
            await client.ask(HANDSHAKE % b"/ws" + b"\r\n")
        assert await server.is_alive()
        with trio.fail_after(PATIENCE_S):
            await left.wait()
