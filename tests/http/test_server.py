"""No client can harm a listener or another client, over real sockets."""

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
import pytest
import trio
from hypercorn.events import Event, RawData
from quart import websocket
from quart_trio import QuartTrio
from trio.testing import wait_all_tasks_blocked

from pgs.http.transport.asgi import App, Receive, Scope, Send
from pgs.http.transport.guards import GuardedH11
from tests.http.raw import (
    HANDSHAKE,
    PATIENCE_S,
    QUICK,
    ServeApp,
    live,
    ok,
    only,
    read_body,
    reply,
    serving,
    text_frame,
)

BLOCK = b"x" * (256 * 1024)


# Faults on one connection leave the server and other connections alone


@pytest.mark.parametrize(
    "upgrade",
    [
        HANDSHAKE % b"/" + b"Content-Length: 3\r\n\r\nabc",
        HANDSHAKE % b"/" + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        HANDSHAKE % b"/" + b"\r\nearly bytes",
        HANDSHAKE % b"/"
        + b"Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99\r\n\r\n",
        HANDSHAKE % b"/" + b"Sec-WebSocket-Protocol: \xff\xfe\r\n\r\n",
        HANDSHAKE.replace(b"Upgrade: websocket", b"Upgrade: \xff") % b"/" + b"\r\n",
        HANDSHAKE.replace(b"13", b"12") % b"/" + b"\r\n",
        HANDSHAKE % b"/" + b"\r\n" + b"\xff" * 64,
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
    async with serving(serve_app, ok) as server, await server.client() as client:
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
    async with serving(serve_app, ok) as server, await server.client() as client:
        assert (await client.ask(HANDSHAKE % b"/" + odd)).body == b"ok"
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


async def test_a_frame_that_arrives_before_the_accept_causes_no_crash(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok) as server:
        for _ in range(20):
            async with await server.client() as client:
                assert (
                    await client.ask(HANDSHAKE % b"/" + b"\r\n" + text_frame(b"early"))
                ).status in (101, 400)
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

    async with (
        serving(serve_app, only("/streamed", endless)) as server,
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

    async with (
        serving(serve_app, only("/large", large)) as server,
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


# Idle and slow clients


def quart_app() -> QuartTrio:
    app = QuartTrio("pgs.http", static_folder=None)

    @app.get("/quart")
    async def _page() -> str:
        return "page"

    @app.websocket("/ws")
    async def _socket() -> None:
        while True:
            await websocket.send("x")

    return app


@pytest.mark.parametrize("make", [quart_app, lambda: ok], ids=["quart", "bare"])
async def test_an_idle_connection_is_closed_after_a_request_too(
    serve_app: ServeApp, make: Callable[[], App]
) -> None:
    async with serving(serve_app, make()) as server, await server.client() as client:
        assert (await client.get("/quart")).status == 200
        assert (await client.get("/quart")).status == 200
        assert await client.end() == b""


async def test_a_quart_handler_that_sends_in_a_loop_freezes_nobody(serve_app: ServeApp) -> None:
    async with serving(serve_app, quart_app()) as server:
        async with await server.client() as client:
            await client.ask(HANDSHAKE % b"/ws" + b"\r\n")
        assert await server.is_alive()


async def test_a_request_head_that_drips_is_cut_off(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok) as server, await server.client() as client:
        with trio.fail_after(PATIENCE_S):
            try:
                for byte in b"GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + b"x" * 10_000:
                    await client.send(bytes([byte]))
                    await trio.sleep(0.05)
            except trio.BrokenResourceError:
                pass
            await client.end()
        assert server.events["head_timeout"] == 1


async def test_a_connection_that_says_nothing_is_closed(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok) as server, await server.client() as client:
        assert await client.end() == b""


async def test_a_silent_websocket_is_closed_and_one_that_answers_pings_is_not(
    serve_app: ServeApp,
) -> None:
    limits = msgspec.structs.replace(QUICK, read_s=0.6, websocket_ping_s=0.1)
    async with (
        serving(serve_app, ok, limits) as server,
        await server.client() as silent,
        await server.client() as lively,
    ):
        await silent.ask(HANDSHAKE % b"/" + b"\r\n")
        await lively.ask(HANDSHAKE % b"/" + b"\r\n")
        while not server.events["read_timeout"]:
            assert await lively.frame() == (9, b"")
            await lively.send(text_frame(b"", opcode=10))
        assert await lively.frame() == (9, b"")
        await silent.end()


TWO = msgspec.structs.replace(QUICK, max_connections=2, keep_alive_s=PATIENCE_S)


async def test_the_connection_that_is_idle_for_longest_gives_way_to_a_new_one(
    serve_app: ServeApp,
) -> None:
    async with (
        serving(serve_app, ok, TWO) as server,
        await server.client() as one,
        await server.client() as two,
    ):
        assert (await one.get("/")).status == (await two.get("/")).status == 200
        assert (await one.get("/")).status == 200
        async with await server.client() as three:
            assert (await three.get("/")).status == 200
            assert await two.end() == b""
            assert (await one.get("/")).status == 200
        assert server.events["connection_gave_way"] == 1
        assert server.events["connection_refused"] == 0


async def test_connections_beyond_the_bound_are_closed_while_all_others_are_busy(
    serve_app: ServeApp,
) -> None:
    answer = trio.Event()
    begun, was_begun = trio.open_memory_channel[None](2)

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await live(receive, send)
        await begun.send(None)
        await answer.wait()
        await reply(send, 200, b"done")

    async with serving(serve_app, slow, TWO) as server:
        async with await server.client() as one, await server.client() as two:
            for client in (one, two):
                await client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            with trio.fail_after(PATIENCE_S):
                await was_begun.receive()
                await was_begun.receive()
            async with await server.client() as three:
                assert await three.end() == b""
            assert server.events["connection_refused"] == 1
            answer.set()
        with trio.fail_after(PATIENCE_S):
            while True:
                async with await server.client() as again:
                    await again.send(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                    if await again.end():
                        return


# Answers, bodies and the next request


async def test_pipelined_requests_are_answered_in_order(serve_app: ServeApp) -> None:
    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await live(receive, send)
        await trio.lowlevel.checkpoint()
        await reply(send, 200, scope["path"].encode() + await read_body(receive))

    async with serving(serve_app, echo) as server, await server.client() as client:
        await client.send(
            b"".join(
                b"POST /%d HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n-" % n for n in range(20)
            )
        )
        assert [(await client.answer()).body for _ in range(20)] == [b"/%d-" % n for n in range(20)]


async def test_a_request_after_the_last_one_of_a_connection_is_ignored(serve_app: ServeApp) -> None:
    async def last(scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"connection", b"close"), (b"content-length", b"4")],
            }
        )
        await wait_all_tasks_blocked()
        await send({"type": "http.response.body", "body": b"last"})

    async with serving(serve_app, only("/last", last)) as server, await server.client() as client:
        await client.send(b"GET /last HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert (await client.end()).endswith(b"\r\n\r\nlast")


async def test_an_answer_sent_during_a_flood_of_chunks_arrives_and_the_connection_ends(
    serve_app: ServeApp,
) -> None:

    async def late(scope: Scope, receive: Receive, send: Send) -> None:
        await (
            wait_all_tasks_blocked()
        )  # The queue between reader and application is full now, and nothing empties it.
        await reply(send, 200, b"ok")

    async with serving(serve_app, only("/late", late)) as server, await server.client() as client:
        await client.send(
            b"POST /late HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            + b"1\r\nx\r\n" * 1000
        )
        assert (await client.answer()).body == b"ok"
        await client.end()


async def test_an_answer_overtakes_a_large_unread_body_without_a_reset(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok) as server, await server.client() as client:
        await client.send(
            b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 300_000
        )
        assert (await client.answer()).body == b"ok"
        await client.send(b"x" * 300_000)
        await client.end()


async def test_a_client_that_has_sent_everything_may_close_its_half(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok) as server, await server.client() as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        await client.stream.send_eof()
        assert (await client.answer()).body == b"ok"


async def test_a_handler_learns_that_its_client_left_and_may_go_on(serve_app: ServeApp) -> None:
    told, done = trio.Event(), trio.Event()

    async def patient(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        assert (await receive())["type"] == "http.disconnect"
        assert (await receive())["type"] == "http.disconnect"
        told.set()
        await trio.sleep(0.05)
        await reply(send, 200, b"too late")
        done.set()

    async with serving(serve_app, only("/patient", patient)) as server:
        async with await server.client() as client:
            await client.send(b"GET /patient HTTP/1.1\r\nHost: h\r\n\r\n")
            await server.is_alive()
        with trio.fail_after(PATIENCE_S):
            await told.wait()
            await done.wait()
