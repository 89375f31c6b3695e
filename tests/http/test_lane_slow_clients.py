"""Clients that send too early, read too late, or leave in the middle, over real sockets."""

import socket
import struct
from collections import Counter
from collections.abc import Callable
from functools import partial

import msgspec
import pytest
import trio

from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.sockets import OpenSockets, serve_socket
from tests.http.apps import edge, http_app, ok, only, read_body, reply
from tests.http.raw import HANDSHAKE, SERVERS, UNHURRIED, Client, ServeApp, serving
from tests.http.raw import text_frame as frame
from tests.http.sockets import (
    LIMITS,
    OFFER,
    PING,
    PONG,
    PROTOCOL,
    app_of,
    closed,
    gone,
    idle,
    upgraded,
)

GET = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
BODY = 30_000
POST = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % BODY
PATIENT = msgspec.structs.replace(UNHURRIED, lane_body_s=60.0)


def reset(client: Client) -> None:
    """End a connection with a reset, at once."""
    client.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.stream.socket.close()


async def test_a_head_that_arrives_in_two_pieces_is_answered(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok) as server, await server.client() as client:
        for _ in range(2):
            await client.send(GET[:10])
            await trio.sleep(0.02)
            await client.send(GET[10:])
            assert (await client.answer()).body == b"ok"


async def test_a_client_that_reads_late_gets_every_answer_whole(serve_app: ServeApp) -> None:
    size, number = 50_001, 60
    calls = 0

    async def count_up(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal calls
        calls += 1
        await reply(send, 200, b"%02d" % calls * (size // 2))

    async with (
        serving(serve_app, edge(http_app(count_up)), PATIENT) as server,
        await server.client(receive_buffer=4096) as client,
    ):
        await client.send(GET * number)
        await trio.sleep(0.05)
        for each in range(1, number + 1):
            assert (await client.answer()).body == b"%02d" % each * (size // 2)


async def test_a_client_that_takes_no_answer_loses_its_connection(serve_app: ServeApp) -> None:
    limits = msgspec.structs.replace(UNHURRIED, send_s=0.05)

    async def much(scope: Scope, receive: Receive, send: Send) -> None:
        await reply(send, 200, bytes(10_000_000))

    async with (
        serving(serve_app, edge(http_app(only("/x", much))), limits) as server,
        await server.client(receive_buffer=4096) as client,
    ):
        await client.send(GET)
        await server.event("send_timeout")
        assert len(await client.end()) < 10_000_000
        assert await server.is_alive()


async def test_a_client_that_leaves_before_its_answer_disturbs_nobody(serve_app: ServeApp) -> None:
    leave: list[Callable[[], None]] = []

    async def late(scope: Scope, receive: Receive, send: Send) -> None:
        leave[0]()
        await reply(send, 200, b"nobody reads this")

    app = edge(http_app(only("/x", late)))
    async with serving(serve_app, app) as server:
        client = await server.client()
        leave.append(partial(reset, client))
        await client.stream.send_all(GET)
        assert await server.is_alive()
        assert server.events.total() == 0


async def test_what_a_client_sends_behind_a_held_call_is_answered_after_it(
    serve_app: ServeApp,
) -> None:
    told = []
    news = trio.Event()

    async def held(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await reply(send, 200, b"%d" % len(await read_body(receive)))
            return

        async def await_leaving() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            told.append("the client has left")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(await_leaving)
            await news.wait()
            nursery.cancel_scope.cancel()
        await reply(send, 200, b"news")

    async with (
        serving(serve_app, edge(http_app(held)), PATIENT) as server,
        await server.client() as client,
        trio.open_nursery() as nursery,
    ):
        await client.send(GET)
        nursery.start_soon(client.send, (POST + b"x" * BODY) * 8)
        await trio.sleep(0.05)
        news.set()
        assert (await client.answer()).body == b"news"
        for _ in range(8):
            assert (await client.answer()).body == b"%d" % BODY
    assert told == []


async def test_what_arrives_after_the_last_answer_is_dropped_without_a_reset(
    serve_app: ServeApp,
) -> None:
    limits = msgspec.structs.replace(UNHURRIED, requests_per_connection=1)
    async with serving(serve_app, ok, limits) as server, await server.client() as client:
        assert (await client.ask(GET)).body == b"ok"
        assert await client.end() == b""
        await client.send(b"x" * 10_000)
        await trio.sleep(0.05)
        await client.send(b"x")  # this would fail after a reset


async def test_frames_before_the_answer_to_the_handshake_are_refused(serve_app: ServeApp) -> None:
    early = trio.Event()

    async def late(scope: Scope, receive: Receive, send: Send) -> None:
        await early.wait()
        await serve_socket(
            scope,
            receive,
            send,
            subprotocol=PROTOCOL,
            handler=idle,
            limits=LIMITS,
            sockets=OpenSockets(),
        )

    app = edge(http_app(only("/ws", late)), sockets=(b"/ws",))
    async with serving(serve_app, app) as server, await server.client() as client:
        await client.send(HANDSHAKE % b"/ws" + OFFER + b"\r\n")
        await trio.sleep(0.02)
        await client.send(frame(b"early"))
        await trio.sleep(0.02)
        early.set()
        assert (await client.answer()).status == 400
        assert await client.end() == b""


async def test_a_client_that_is_behind_gets_neither_pings_nor_pongs_until_it_has_read() -> None:
    limits = msgspec.structs.replace(UNHURRIED, sweep_s=0.02, websocket_ping_s=0.1)
    none_queued = msgspec.structs.replace(LIMITS, outbox_messages=0, outbox_chars=20_000_000)
    size = 6_000_000

    async def much(socket: AcceptedSocket) -> None:
        assert socket.send("x" * size)
        await socket.receive()

    async with (
        serving(SERVERS["lane"], app_of(much, limits=none_queued), limits) as server,
        await upgraded(server, receive_buffer=4096) as client,
    ):
        await client.send(frame(b"are you there", opcode=PING))
        await trio.sleep(1)  # ten pings fall due
        assert await client.frame() == (1, b"x" * size)
        await client.send(frame(b"done"))
        rest = []
        while (got := await client.frame()) != closed(1000):
            rest.append(got)
        assert len(rest) < 4, "pings of the time after the message"
        assert (PONG, b"are you there") not in rest


@pytest.mark.parametrize("messages", [1, 3])
async def test_messages_to_a_client_that_has_just_left_disturb_nobody(
    serve_app: ServeApp, messages: int
) -> None:
    leave: list[Callable[[], None]] = []
    sockets = OpenSockets()
    events: Counter[str] = Counter()

    async def say_farewell(socket: AcceptedSocket) -> None:
        await socket.receive()
        leave[0]()
        told = [socket.send("farewell") for _ in range(messages)]
        assert all(told), "the reader finds out, not the sender"
        await socket.receive()

    app = app_of(say_farewell, sockets=sockets, events=events)
    async with serving(serve_app, app) as server:
        client = await upgraded(server)
        leave.append(partial(reset, client))
        await client.stream.send_all(frame(b"go"))
        await gone(sockets)
        assert await server.is_alive()
        assert (events, server.events) == ({}, {})
