"""How a listener stops, and which addresses it takes, over real sockets."""

import time

import msgspec
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.server import bind
from tests.http.apps import live, ok, only, read_body, reply
from tests.http.raw import HANDSHAKE, UNHURRIED, ServeApp, serving
from tests.patience import PATIENCE_S

BLOCK = b"x" * (256 * 1024)


async def test_a_request_in_flight_at_the_stop_is_answered(serve_app: ServeApp) -> None:
    entered = trio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        entered.set()
        await server.stop.wait()
        await trio.sleep(0.2)
        await reply(send, 200, b"done")

    limits = msgspec.structs.replace(UNHURRIED, grace_s=PATIENCE_S)
    async with (
        serving(serve_app, only("/slow", slow), limits) as server,
        await server.client() as client,
    ):
        await client.send(b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        await entered.wait()
        server.stop.set()
        assert (await client.answer()).body == b"done"
        assert await client.end() == b""


async def test_a_request_pipelined_behind_one_in_flight_does_not_delay_the_stop(
    serve_app: ServeApp,
) -> None:
    entered = trio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        entered.set()
        await server.stop.wait()
        await wait_all_tasks_blocked()
        await reply(send, 200, b"done")

    limits = msgspec.structs.replace(UNHURRIED, grace_s=60)
    async with (
        serving(serve_app, only("/slow", slow), limits) as server,
        await server.client() as client,
    ):
        await client.send(b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
        await entered.wait()
        server.stop.set()
        assert (await client.end()).endswith(b"\r\n\r\ndone")
        with trio.fail_after(PATIENCE_S):
            await server.stopped.wait()


async def test_the_pings_of_a_closed_websocket_do_not_delay_the_stop(serve_app: ServeApp) -> None:
    limits = msgspec.structs.replace(UNHURRIED, grace_s=60, websocket_ping_s=60)
    async with serving(serve_app, ok, limits) as server:
        async with await server.client() as client:
            await client.ask(HANDSHAKE % b"/" + b"\r\n")
            assert await client.frame() == (9, b"")
        server.stop.set()
        with trio.fail_after(PATIENCE_S):
            await server.stopped.wait()


async def test_an_idle_connection_does_not_delay_the_stop(serve_app: ServeApp) -> None:
    limits = msgspec.structs.replace(UNHURRIED, keep_alive_s=600, grace_s=600)
    async with (
        serving(serve_app, ok, limits) as server,
        await server.client() as idle,
        await server.client() as silent,
    ):
        assert (await idle.get("/")).status == 200
        server.stop.set()
        with trio.fail_after(PATIENCE_S):
            await server.stopped.wait()
        assert await silent.end() == b""


async def test_half_a_head_does_not_delay_the_stop(serve_app: ServeApp) -> None:
    limits = msgspec.structs.replace(UNHURRIED, head_s=600, grace_s=600)
    async with serving(serve_app, ok, limits) as server, await server.client() as client:
        await client.send(b"GET /half-a-he")
        await wait_all_tasks_blocked(0.05)
        server.stop.set()
        with trio.fail_after(PATIENCE_S):
            await server.stopped.wait()


async def test_a_stop_takes_no_longer_than_promised_whatever_clients_do(
    serve_app: ServeApp,
) -> None:
    async def stubborn(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await live(receive, send)
        elif scope["path"] == "/poll":
            await trio.sleep_forever()
        elif scope["path"] == "/body":
            await read_body(receive)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while True:
                await send({"type": "http.response.body", "body": BLOCK, "more_body": True})
        else:
            await ok(scope, receive, send)

    limits = msgspec.structs.replace(UNHURRIED, linger_s=60)
    async with serving(serve_app, stubborn, limits) as server:
        clients = [await server.client(receive_buffer=4096) for _ in range(6)]
        await clients[0].send(b"GET /poll HTTP/1.1\r\nHost: h\r\n\r\n")
        await clients[1].send(b"POST /body HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nx")
        await clients[2].send(b"GET /streamed HTTP/1.1\r\nHost: h\r\n\r\n")
        await clients[3].send(b"GET /half-a-he")
        await clients[4].send(HANDSHAKE % b"/ws" + b"\r\n")
        await clients[5].send(
            b"GET /poll HTTP/1.1\r\nHost: h\r\n\r\nGET /poll HTTP/1.1\r\nHost: h\r\n\r\n"
        )
        await trio.sleep(0.2)
        begun = time.perf_counter()
        server.stop.set()
        with trio.fail_after(PATIENCE_S):
            await server.stopped.wait()
        # Late only by what the machine delays. Any other limit would end it after 60 s.
        assert time.perf_counter() - begun < limits.grace_s + limits.shutdown_s + 10
        for client in clients:
            rest = await client.end()
            assert b" 500 " not in rest, (
                "a request that was cut off must look unanswered, not answered"
            )
            await trio.aclose_forcefully(client.stream)


async def test_a_lifespan_that_hangs_does_not_delay_the_stop(serve_app: ServeApp) -> None:
    async def hangs(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await trio.sleep_forever()

    async with serving(serve_app, hangs) as server:
        server.stop.set()
        with trio.fail_after(PATIENCE_S):
            await server.stopped.wait()
        assert server.events["lifespan_timeout"] == 1


# Addresses


def test_an_address_is_bound_once() -> None:
    with bind("127.0.0.1:0") as first:
        port = first.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            bind(f"127.0.0.1:{port}")


def test_ipv6_addresses_and_host_names_are_accepted() -> None:
    with bind("localhost:0") as named:
        assert named.getsockname()[1] > 0
    try:
        with bind("[::1]:0") as six:
            assert six.getsockname()[0] == "::1"
    except OSError:
        pass  # This machine has no IPv6; the address was understood.


@pytest.mark.parametrize(
    "listen", ["", ":", "8000", ":8000", "h:", "h:x", "h:70000", "::1:80", "[::1]", "h:-1", "h:٣"]
)
def test_text_that_is_no_address_is_refused(listen: str) -> None:
    with pytest.raises(ValueError, match=r"host:port|brackets"):
        bind(listen)
