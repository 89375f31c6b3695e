"""Which WebSockets the lane takes, and that clients see no difference, over real sockets."""

import gc
from collections import Counter
from socket import IPPROTO_TCP, TCP_CORK

import msgspec
import pytest
import trio
import trio.testing
from hypercorn.events import Event
from structlog.testing import capture_logs

from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.lane_connection import LaneConnection, LeaveLane
from pgs.http.transport.lane_socket import LaneSocket
from pgs.http.transport.upgrades import read_upgrade
from tests.http.raw import HANDSHAKE, SERVERS, UNHURRIED, ServeApp, serving, text_frame
from tests.http.sockets import LIMITS, OFFER, PING, PONG, app_of, closed, echo, idle, upgraded
from tests.patience import PATIENCE_S

END = b"\r\n"


async def test_hypercorn_sees_nothing_of_a_plain_handshake_and_its_messages(
    by_hypercorn: list[Event],
) -> None:
    async with serving(SERVERS["lane"], app_of(echo)) as server, await upgraded(server) as client:
        await client.send(text_frame(b"one") + text_frame(b"two"))
        assert [await client.frame() for _ in range(2)] == [(1, b"one"), (1, b"two")]
    assert by_hypercorn == []


@pytest.mark.parametrize(
    "handshake",
    [
        HANDSHAKE % b"/%77s" + OFFER,
        HANDSHAKE.replace(b"Connection: Upgrade", b"Connection: Upgrade, x") % b"/ws" + OFFER,
        HANDSHAKE % b"/ws" + OFFER + b"Expect: nothing\r\n",
        HANDSHAKE % b"/ws" + OFFER + b"Content-Length: 0\r\n",
        HANDSHAKE % b"/ws" + b"Sec-WebSocket-Protocol: a\r\n" + OFFER,
    ],
    ids=["escape", "another token", "expect", "length", "header twice"],
)
async def test_a_handshake_that_is_not_plain_is_left_to_hypercorn(
    by_hypercorn: list[Event], handshake: bytes
) -> None:
    async with (
        serving(SERVERS["lane"], app_of(echo)) as server,
        await server.client() as client,
    ):
        assert (await client.ask(handshake + END)).status in (101, 400)
    assert by_hypercorn


async def test_a_socket_elsewhere_is_left_to_hypercorn(by_hypercorn: list[Event]) -> None:
    async with serving(SERVERS["lane"], app_of(echo)) as server, await server.client() as client:
        assert (await client.ask(HANDSHAKE % b"/elsewhere" + END)).status == 101
    assert by_hypercorn


@pytest.mark.parametrize("offer", [OFFER, b""], ids=["accepted", "refused"])
async def test_both_ways_answer_a_handshake_with_the_same_headers_and_lines(offer: bytes) -> None:
    seen = []
    for way in ("hypercorn", "lane"):
        with capture_logs() as logs:
            async with (
                serving(SERVERS[way], app_of(echo)) as server,
                await server.client() as client,
            ):
                answer = await client.ask(HANDSHAKE % b"/ws" + offer + END)
        assert answer.headers.pop("date")
        lines = [{**line, "duration_ms": 0} for line in logs]
        seen.append((answer.status, answer.headers, answer.body, lines))
    assert seen[0] == seen[1]


async def test_a_handshake_after_requests_of_the_same_connection_is_accepted(
    serve_app: ServeApp,
) -> None:
    async with serving(serve_app, app_of(echo)) as server, await server.client() as client:
        assert (await client.get("/")).body == b"ok"
        assert (await client.ask(HANDSHAKE % b"/ws" + OFFER + END)).status == 101
        await client.send(text_frame(b"x"))
        assert await client.frame() == (1, b"x")


async def test_an_open_socket_keeps_neither_its_headers_nor_what_has_read_them() -> None:
    kinds = (LaneConnection, LeaveLane, LaneSocket)
    # Other tests of this process may have left some behind.
    left = [each for each in gc.get_objects() if type(each) in kinds]
    known = {id(each) for each in left}
    mark = b"only in this handshake"
    offer = OFFER + b"X-Mark: " + mark + END
    async with (
        serving(SERVERS["lane"], app_of(echo)) as server,
        await upgraded(server, offer) as client,
    ):
        await client.send(text_frame(b"x"))
        assert await client.frame() == (1, b"x")
        gc.collect()
        objects = gc.get_objects()
        new = [each for each in objects if type(each) in kinds and id(each) not in known]
        assert [type(each) for each in new] == [LaneSocket]
        assert [each for each in objects if type(each) is list and (b"x-mark", mark) in each] == []


@pytest.mark.parametrize("path", [b"/ws", b"/elsewhere"], ids=["lane", "hypercorn"])
async def test_a_handshake_whose_client_has_left_meanwhile_opens_no_socket(path: bytes) -> None:
    inner, opened = app_of(echo), []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        opened.append(scope["type"])
        await inner(scope, receive, send)

    async with serving(SERVERS["lane"], app) as server, await server.client() as client:
        # As on a machine that stood still: both have arrived when the handshake is read.
        await client.send((HANDSHAKE % path + OFFER + END)[:-1])
        await trio.testing.wait_all_tasks_blocked()
        client.stream.socket.setsockopt(IPPROTO_TCP, TCP_CORK, 1)
        await client.send(b"\n")
        await client.stream.send_eof()
        assert await client.end() == b""
    assert "websocket" not in opened


async def test_a_silent_client_is_pinged_and_then_ended(serve_app: ServeApp) -> None:
    limits = msgspec.structs.replace(UNHURRIED, read_s=2.0, websocket_ping_s=0.1)
    async with (
        serving(serve_app, app_of(idle), limits) as server,
        await upgraded(server) as silent,
        await upgraded(server) as lively,
    ):
        while not server.events["read_timeout"]:
            assert await lively.frame() == (PING, b"")
            await lively.send(text_frame(b"", opcode=PONG))
        assert await lively.frame() == (PING, b"")
        await silent.end()
        assert server.events == {"read_timeout": 1}


async def test_a_client_that_is_behind_gets_every_message_in_order(serve_app: ServeApp) -> None:
    """The kernel takes a part of a message; a task writes the rest, and others queue behind it."""
    size, number = 30_000, 60
    # The sender does not wait, so all of them may queue.
    roomy = msgspec.structs.replace(LIMITS, outbox_messages=number, outbox_chars=2 * size * number)

    async def much(socket: AcceptedSocket) -> None:
        for each in range(number):
            assert socket.send(f"{each:02}" * (size // 2))
            await trio.sleep(0.002)
        await socket.receive()

    async with (
        serving(serve_app, app_of(much, limits=roomy)) as server,
        await upgraded(server, receive_buffer=4096) as client,
    ):
        for each in range(number):
            assert await client.frame() == (1, b"%02d" % each * (size // 2))
        await client.send(text_frame(b"done"))
        assert await client.frame() == closed(1000)


async def test_a_fault_of_a_lane_socket_affects_its_connection_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken(self: LaneSocket, hear: object) -> None:
        raise ValueError

    monkeypatch.setattr(LaneSocket, "listen", broken)
    events: Counter[str] = Counter()
    async with serving(SERVERS["lane"], app_of(idle, events=events)) as server:
        async with await upgraded(server) as client:
            with trio.fail_after(PATIENCE_S):
                assert await client.frame() == closed(1011)
        assert await server.is_alive()
    assert events == {"crash": 1}


def test_the_accept_value_of_a_handshake_is_that_of_the_standard() -> None:
    head = (HANDSHAKE % b"/ws?a=1").replace(b"A" * 22, b"dGhlIHNhbXBsZSBub25jZQ")
    upgrade = read_upgrade(head.removesuffix(END) + b"\r\nSec-WebSocket-Protocol: a, b")
    assert upgrade is not None
    assert upgrade.accept == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    assert (upgrade.path, upgrade.query, upgrade.subprotocols) == (b"/ws", b"a=1", ["a", "b"])


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (b"GET", b"POST"),
        (b"Upgrade: websocket", b"Upgrade: h2c"),
        (b"Upgrade: websocket", b"X: websocket"),
        (b"Upgrade: websocket", b"Upgrade: websocket\r\nUpgrade: websocket"),
        (b"Connection: Upgrade", b"Connection: close"),
        (b"Connection: Upgrade", b"Connection: Upgrade\r\nConnection: Upgrade"),
        (b"Version: 13", b"Version: 8"),
        (b"AAAA==", b"AAAA"),
        (b"AAAA==", b"AA\xe9A=="),
        (b"Host: h", b"Host: a/b"),
        (b"Host: h", b"Host: h\r\nTransfer-Encoding: chunked"),
        (b"HTTP/1.1", b"HTTP/1.0"),
    ],
)
def test_a_head_that_two_parsers_may_read_in_two_ways_is_no_plain_handshake(
    was: bytes, now: bytes
) -> None:
    head = (HANDSHAKE % b"/ws").removesuffix(END)
    assert read_upgrade(head) is not None
    assert was in head
    assert read_upgrade(head.replace(was, now, 1)) is None
