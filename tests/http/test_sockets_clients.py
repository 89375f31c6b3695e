"""What a WebSocket's client may do, and how it may leave, over real sockets."""

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from random import Random

import msgspec
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.sockets import OpenSockets
from tests.http.raw import QUICK, UNHURRIED, ServeApp, serving, text_frame
from tests.http.sockets import (
    ABUSE,
    CLOSE,
    LIMITS,
    PING,
    PONG,
    TALKATIVE,
    app_of,
    closed,
    echo,
    gone,
    idle,
    send_all_or_nothing,
    until,
    upgraded,
)
from tests.patience import PATIENCE_S

# How a client leaves


@pytest.mark.parametrize(
    ("sent", "echoed"),
    [
        (b"", b""),
        (b"\x03\xe8", b"\x03\xe8"),
        ((4000).to_bytes(2) + "tschüß".encode(), (4000).to_bytes(2) + "tschüß".encode()),
        ((1013).to_bytes(2), (1013).to_bytes(2)),
    ],
    ids=["no code", "1000", "4000 with a reason", "1013"],
)
async def test_a_close_is_answered_with_a_close_and_the_handler_ends(
    serve_app: ServeApp, sent: bytes, echoed: bytes
) -> None:
    sockets = OpenSockets()
    async with (
        serving(serve_app, app_of(idle, sockets=sockets)) as server,
        await upgraded(server) as client,
    ):
        await client.send(text_frame(sent, opcode=CLOSE))
        assert await client.frame() == (CLOSE, echoed)
        assert await client.end() == b""
        await gone(sockets)


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        (text_frame(b"\xff"), 1007),
        (text_frame(b"fine \xc3", final=False) + text_frame(b"(", opcode=0), 1007),
        (text_frame(b"\xed\xa0\x80"), 1007),
        (text_frame(b"cut \xf0\x9f"), 1007),
        (text_frame((4000).to_bytes(2) + b"\xff", opcode=CLOSE), 1007),
        (text_frame(b"\x03", opcode=CLOSE), 1002),
        (text_frame((1005).to_bytes(2), opcode=CLOSE), 1002),
        (text_frame((999).to_bytes(2), opcode=CLOSE), 1002),
        (text_frame((2500).to_bytes(2), opcode=CLOSE), 1002),
        (text_frame(b"x", opcode=0), 1002),
        (text_frame(b"x", final=False) + text_frame(b"y"), 1002),
        (text_frame(b"x", opcode=3), 1002),
        (text_frame(b"x", opcode=11), 1002),
        (text_frame(b"x", opcode=PING, final=False), 1002),
        (text_frame(b"x" * 126, opcode=PING), 1002),
        (b"\x81\x01x", 1002),
        (b"\xc1\x81\0\0\0\0x", 1002),
        (b"\x81\xfe\x00\x01\0\0\0\0x", 1002),
        (b"\x81\xff" + b"\xff" * 8, 1002),
    ],
    ids=[
        "bad utf-8",
        "bad utf-8 across fragments",
        "a surrogate",
        "half a character",
        "bad utf-8 in a close",
        "half a code",
        "a code nobody may send",
        "a code too small",
        "a code nobody defined",
        "nothing to continue",
        "a message within a message",
        "a reserved kind",
        "a reserved control",
        "a ping in pieces",
        "a long ping",
        "not masked",
        "a reserved bit",
        "a length in too many bytes",
        "a negative length",
    ],
)
async def test_a_protocol_error_gets_its_close_code_and_crashes_nothing(
    serve_app: ServeApp, frames: bytes, code: int
) -> None:
    events: Counter[str] = Counter()
    sockets = OpenSockets()
    async with (
        serving(serve_app, app_of(echo, sockets=sockets, events=events)) as server,
        await upgraded(server) as client,
    ):
        await client.send(frames)
        assert await client.frame() == closed(code)
        await client.end()
        await gone(sockets)
        assert await server.is_alive()
        assert server.events.total() == 0
    assert events == {}


async def test_whatever_bytes_follow_a_handshake_nothing_crashes(serve_app: ServeApp) -> None:
    events: Counter[str] = Counter()
    sockets = OpenSockets()
    random = Random(1)
    opcodes = [0, 0, 1, 1, 1, 2, 3, CLOSE, PING, PONG, 15]
    async with serving(
        serve_app, app_of(echo, sockets=sockets, events=events, limits=TALKATIVE)
    ) as server:
        for _ in range(100):
            async with await upgraded(server) as client:
                frames = b"".join(
                    text_frame(
                        random.randbytes(random.choice((0, 1, 2, 125, 126, 300))),
                        final=random.random() < 0.6,
                        opcode=opcode,
                    )
                    for opcode in random.choices(opcodes, k=6)
                )
                noise = bytearray(frames)
                for _ in range(random.choice((0, 0, 1, 5))):
                    noise[random.randrange(len(noise))] ^= 1 << random.randrange(8)
                await send_all_or_nothing(client, bytes(noise))
                with suppress(trio.BrokenResourceError):
                    await client.stream.send_eof()
                await client.end()
        await gone(sockets)
        assert server.events.total() == 0
    assert events.keys() <= {"socket_abuse"}


@pytest.mark.parametrize("how", ["close frame", "end", "reset"])
async def test_a_handler_that_never_reads_is_ended_when_its_client_leaves(
    serve_app: ServeApp, how: str
) -> None:
    ended = trio.Event()

    async def busy(socket: AcceptedSocket) -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    async with (
        serving(serve_app, app_of(busy, limits=TALKATIVE)) as server,
        await upgraded(server) as client,
    ):
        await client.send(
            text_frame(b"unread") * 50
        )  # More than the server would hold for a handler that does not read.
        if how == "close frame":
            await client.send(text_frame((1000).to_bytes(2), opcode=CLOSE))
        elif how == "end":
            await client.stream.send_eof()
        else:
            client.stream.setsockopt(
                trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
            )
            await trio.aclose_forcefully(client.stream)
        with trio.fail_after(PATIENCE_S):
            await ended.wait()


async def test_messages_sent_just_before_a_client_leaves_still_reach_the_handler(
    serve_app: ServeApp,
) -> None:
    heard: list[str] = []
    ended = trio.Event()

    async def slow(socket: AcceptedSocket) -> None:
        try:
            while True:
                heard.append(await socket.receive())
                await trio.sleep(0.02)
        finally:
            ended.set()

    async with serving(
        serve_app, app_of(slow, limits=msgspec.structs.replace(LIMITS, drain_s=PATIENCE_S))
    ) as server:
        async with await upgraded(server) as client:
            await client.send(
                b"".join(text_frame(b"%d" % number) for number in range(5))
                + text_frame((1001).to_bytes(2), opcode=CLOSE)
            )
        with trio.fail_after(PATIENCE_S):
            await ended.wait()
    assert heard == ["0", "1", "2", "3", "4"]


async def test_a_loop_of_sends_to_a_client_that_left_ends_and_freezes_nobody(
    serve_app: ServeApp,
) -> None:
    ended = trio.Event()

    async def chatty(socket: AcceptedSocket) -> None:
        try:
            while True:
                socket.send("x")
                await trio.lowlevel.checkpoint()
        finally:
            ended.set()

    async with serving(serve_app, app_of(chatty)) as server:
        async with await upgraded(server):
            pass
        assert await server.is_alive()
        with trio.fail_after(PATIENCE_S):
            await ended.wait()


async def test_a_hundred_abandoned_sockets_leave_no_task_behind(serve_app: ServeApp) -> None:
    sockets = OpenSockets()
    limits = msgspec.structs.replace(UNHURRIED, websocket_ping_s=60)
    async with serving(serve_app, app_of(idle, sockets=sockets), limits) as server:
        await wait_all_tasks_blocked(0.02)
        before = trio.lowlevel.current_statistics().tasks_living
        async with AsyncExitStack() as stack:
            for number in range(100):
                client = await stack.enter_async_context(await upgraded(server))
                if number % 2:
                    await client.send(text_frame(b"half a mess", final=False))
            assert sockets.count == 100
        await gone(sockets)
        await until(lambda: trio.lowlevel.current_statistics().tasks_living <= before)


# Limits


@pytest.mark.parametrize(
    "text", ["x" * 16384, "é" * 8192, "🎲" * 4096], ids=["1 byte", "2 bytes", "4 bytes"]
)
async def test_a_message_is_bounded_in_bytes(serve_app: ServeApp, text: str) -> None:
    async with serving(serve_app, app_of(echo)) as server, await upgraded(server) as client:
        await client.send(text_frame(text.encode()))
        assert await client.frame() == (1, text.encode())
        await client.send(text_frame(text[1:].encode() + b"x" * (len(text[0].encode()) + 1)))
        assert await client.frame() == closed(ABUSE)
        await client.end()


@pytest.mark.parametrize("size", [20_000, 100_000, 3_000_000])
async def test_a_message_that_is_too_long_gets_the_same_close_whatever_its_length(
    serve_app: ServeApp, size: int
) -> None:
    events: Counter[str] = Counter()
    async with (
        serving(serve_app, app_of(echo, events=events)) as server,
        await upgraded(server) as client,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(partial(send_all_or_nothing, client, text_frame(b"x" * size)))
        assert await client.frame() == closed(ABUSE)
        nursery.cancel_scope.cancel()
    assert events == {"socket_abuse": 1}


async def test_a_message_that_is_too_long_need_not_end_to_be_refused(serve_app: ServeApp) -> None:
    async with serving(serve_app, app_of(echo)) as server, await upgraded(server) as client:
        await client.send(text_frame(b"x" * 70_000, final=False))
        assert await client.frame() == closed(ABUSE)


async def test_a_binary_message_is_abuse(serve_app: ServeApp) -> None:
    events: Counter[str] = Counter()
    async with (
        serving(serve_app, app_of(echo, events=events)) as server,
        await upgraded(server) as client,
    ):
        await client.send(text_frame(b"{}", opcode=2))
        assert await client.frame() == closed(ABUSE)
        assert await client.end() == b""
    assert events == {"socket_abuse": 1}


@pytest.mark.parametrize("handler", [echo, idle])
async def test_a_flood_is_abuse_whether_the_handler_reads_or_not(
    serve_app: ServeApp, handler: Callable[[AcceptedSocket], Awaitable[None]]
) -> None:
    events: Counter[str] = Counter()
    async with (
        serving(serve_app, app_of(handler, events=events)) as server,
        await upgraded(server) as client,
    ):
        await send_all_or_nothing(client, text_frame(b"x") * 5000)
        while (frame := await client.frame())[0] == 1:
            pass
        assert frame == closed(ABUSE)
        await client.end()
        assert await server.is_alive()
    assert events == {"socket_abuse": 1}


@pytest.mark.parametrize("size", [1000, 100_000])
async def test_a_client_that_never_reads_is_disconnected_and_its_sender_never_waits(
    serve_app: ServeApp, size: int
) -> None:
    refused, ended = trio.Event(), trio.Event()

    async def lender(socket: AcceptedSocket) -> None:
        async def actor() -> None:
            while socket.send("x" * size):
                await trio.lowlevel.checkpoint()
            refused.set()
            assert not socket.send("x")

        nursery.start_soon(actor)
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    events: Counter[str] = Counter()
    limits = msgspec.structs.replace(UNHURRIED, send_s=QUICK.send_s)
    async with (
        trio.open_nursery() as nursery,
        serving(serve_app, app_of(lender, events=events), limits) as server,
        await upgraded(server, receive_buffer=4096) as client,
    ):
        with trio.fail_after(PATIENCE_S):
            await refused.wait()
            await ended.wait()
            await server.event("send_timeout")
        await client.end()
    assert events == {"socket_overloaded": 1}
