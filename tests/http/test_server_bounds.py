"""A listener bounds how long and how many connections may wait, over real sockets."""

from collections.abc import Callable

import msgspec
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from pgs.http.transport.asgi import App, Receive, Scope, Send
from tests.http.apps import live, ok, only, read_body, reply
from tests.http.raw import HANDSHAKE, QUICK, UNHURRIED, ServeApp, serving, text_frame
from tests.http.server_apps import quart_app
from tests.http.sockets import app_of, echo
from tests.patience import PATIENCE_S


@pytest.mark.parametrize("make", [quart_app, lambda: ok], ids=["quart", "bare"])
async def test_an_idle_connection_is_closed_after_a_request_too(
    serve_app: ServeApp, make: Callable[[], App]
) -> None:
    async with serving(serve_app, make(), QUICK) as server, await server.client() as client:
        assert (await client.get("/quart")).status == 200
        assert (await client.get("/quart")).status == 200
        assert await client.end() == b""


async def test_a_quart_handler_that_sends_in_a_loop_freezes_nobody(serve_app: ServeApp) -> None:
    async with serving(serve_app, quart_app()) as server:
        async with await server.client() as client:
            await client.ask(HANDSHAKE % b"/ws" + b"\r\n")
        assert await server.is_alive()


async def test_a_request_head_that_drips_is_cut_off(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok, QUICK) as server, await server.client() as client:
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
    async with serving(serve_app, ok, QUICK) as server, await server.client() as client:
        assert await client.end() == b""


@pytest.mark.usefixtures("lane_serves_socket")
async def test_a_silent_websocket_is_closed_and_one_that_answers_pings_is_not(
    serve_app: ServeApp,
) -> None:
    limits = msgspec.structs.replace(UNHURRIED, read_s=2.0, websocket_ping_s=0.1)
    async with (
        serving(serve_app, app_of(echo, subprotocol=None), limits) as server,
        await server.client() as silent,
        await server.client() as lively,
    ):
        await silent.ask(HANDSHAKE % b"/ws" + b"\r\n")
        await lively.ask(HANDSHAKE % b"/ws" + b"\r\n")
        while not server.events["read_timeout"]:
            assert await lively.frame() == (9, b"")
            await lively.send(text_frame(b"", opcode=10))
        assert await lively.frame() == (9, b"")
        await silent.end()


TWO = msgspec.structs.replace(UNHURRIED, max_connections=2)


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
