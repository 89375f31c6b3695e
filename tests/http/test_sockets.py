"""What the handler of a WebSocket may rely on, over real sockets."""

from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest
import trio
import trio_websocket
from structlog.testing import capture_logs

from pgs.http.transport.accepted_socket import NORMAL, AcceptedSocket
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.hypercorn_websocket import FRAMES_PER_CHECKPOINT, CutBuffer
from pgs.http.transport.sockets import GOING_AWAY, OpenSockets, refuse_handshake
from tests.http.apps import edge, http_app, ok, only
from tests.http.raw import HANDSHAKE, UNHURRIED, ServeApp, error_of, serving, text_frame
from tests.http.sockets import (
    CLOSE,
    OFFER,
    PING,
    PONG,
    PROTOCOL,
    app_of,
    closed,
    echo,
    idle,
    until,
    upgraded,
)
from tests.patience import PATIENCE_S

# The handshake


async def test_the_chosen_subprotocol_is_one_that_was_offered(serve_app: ServeApp) -> None:
    async with serving(serve_app, app_of(echo)) as server, await server.client() as client:
        answer = await client.ask(HANDSHAKE % b"/ws" + OFFER + b"\r\n")
        assert (answer.status, answer.headers["sec-websocket-protocol"]) == (101, PROTOCOL)
        assert answer.headers["x-request-id"] == "req_1"


@pytest.mark.parametrize(
    "offer",
    [
        b"",
        b"Sec-WebSocket-Protocol: pgs.token.abc\r\n",
        b"Sec-WebSocket-Protocol: PGS.GAME.V1, pgs.game.v10\r\n",
    ],
    ids=["none", "another", "nearly the same"],
)
async def test_a_subprotocol_that_was_not_offered_is_never_chosen(
    serve_app: ServeApp, offer: bytes
) -> None:
    async def never(session: AcceptedSocket) -> None:
        raise AssertionError("the handler ran")

    events: Counter[str] = Counter()
    async with (
        serving(serve_app, app_of(never, events=events)) as server,
        await server.client() as client,
    ):
        answer = await client.ask(HANDSHAKE % b"/ws" + offer + b"\r\n")
        assert answer.status == 400
        assert PROTOCOL in error_of(answer)["error"]
        assert await client.end() == b""
    assert events == {}


async def test_a_service_without_a_subprotocol_chooses_none(serve_app: ServeApp) -> None:
    async with serving(serve_app, app_of(echo, subprotocol=None)) as server:
        for offer in (b"", OFFER):
            async with await server.client() as client:
                answer = await client.ask(HANDSHAKE % b"/ws" + offer + b"\r\n")
                assert answer.status == 101
                assert "sec-websocket-protocol" not in answer.headers


async def test_a_refused_handshake_gets_an_ordinary_answer_and_ends_the_connection(
    serve_app: ServeApp,
) -> None:
    async def refuses(scope: Scope, receive: Receive, send: Send) -> None:
        await refuse_handshake(send, 401, {"error": "Sign in."}, [(b"www-authenticate", b"Bearer")])

    async with (
        serving(serve_app, edge(http_app(refuses), sockets=(b"/ws",))) as server,
        await server.client() as client,
    ):
        answer = await client.ask(HANDSHAKE % b"/ws" + b"\r\n")
        assert (answer.status, error_of(answer)) == (401, {"error": "Sign in."})
        assert (answer.headers["www-authenticate"], answer.headers["x-request-id"]) == (
            "Bearer",
            "req_1",
        )
        assert answer.headers["connection"] == "close"
        assert await client.end() == b""


# Messages


async def test_messages_go_both_ways_in_their_order(serve_app: ServeApp) -> None:
    async with serving(serve_app, app_of(echo)) as server, await upgraded(server) as client:
        texts = [b"%d" % number for number in range(10)] + ["é🎲".encode(), b""]
        await client.send(b"".join(text_frame(text) for text in texts))
        assert [await client.frame() for _ in texts] == [(1, text) for text in texts]


async def test_a_client_of_another_implementation_works(serve_app: ServeApp) -> None:
    async def greets(session: AcceptedSocket) -> None:
        session.send(await session.receive())
        session.send("é" * 70_000)
        session.close(4401)

    async with serving(serve_app, app_of(greets)) as server:
        async with await server.client() as client, trio.open_nursery() as nursery:
            socket = await trio_websocket.wrap_client_stream(
                nursery, client.stream, "h", "/ws", subprotocols=[PROTOCOL, "pgs.token.abc"]
            )
            assert socket.subprotocol == PROTOCOL
            await socket.send_message("hello")
            assert await socket.get_message() == "hello"
            assert await socket.get_message() == "é" * 70_000
            with pytest.raises(trio_websocket.ConnectionClosed) as ended:
                await socket.get_message()
        assert ended.value.reason is not None
        assert ended.value.reason.code == 4401


async def test_fragments_are_one_message_and_pings_may_come_between_them(
    serve_app: ServeApp,
) -> None:
    async with serving(serve_app, app_of(echo)) as server, await upgraded(server) as client:
        whole = "aé🎲".encode()
        for byte in whole[:-1]:  # Some cuts split a character.
            first = byte == whole[0]
            await client.send(text_frame(bytes([byte]), final=False, opcode=1 if first else 0))
            await client.send(text_frame(b"still there?", opcode=PING))
            assert await client.frame() == (PONG, b"still there?")
        await client.send(text_frame(b"", final=False, opcode=0))
        await client.send(text_frame(whole[-1:], opcode=0))
        assert await client.frame() == (1, whole)


async def test_pings_are_answered_while_the_handler_does_not_read_and_pongs_are_ignored(
    serve_app: ServeApp,
) -> None:
    async with serving(serve_app, app_of(idle)) as server, await upgraded(server) as client:
        for payload in (b"", b"x" * 125):
            await client.send(
                text_frame(b"unasked", opcode=PONG) + text_frame(payload, opcode=PING)
            )
            assert await client.frame() == (PONG, payload)


async def test_a_segment_full_of_empty_frames_leaves_room_for_others(
    serve_app: ServeApp,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A frame of 6 bytes costs far more to process than to send."""
    turn = 0
    looked_at: Counter[int] = Counter()
    take = CutBuffer.take

    def counting(self: CutBuffer, event: Any) -> object:
        looked_at[turn] += 1
        return take(self, event)

    async def turning() -> None:
        nonlocal turn
        while True:
            turn += 1
            await trio.lowlevel.checkpoint()

    monkeypatch.setattr(CutBuffer, "take", counting)
    async with (
        serving(serve_app, app_of(echo)) as server,
        await upgraded(server) as client,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(turning)
        await client.send(
            text_frame(b"", final=False)
            + text_frame(b"", final=False, opcode=0) * 9_000
            + text_frame(b"last", opcode=0)
        )
        assert await client.frame() == (1, b"last")
        nursery.cancel_scope.cancel()
    assert looked_at.total() == 9_002
    assert max(looked_at.values()) <= 2 * FRAMES_PER_CHECKPOINT


# How the service ends a socket


async def test_an_exception_of_the_handler_is_1011_and_logged_once(serve_app: ServeApp) -> None:
    async def fails(session: AcceptedSocket) -> None:
        await session.receive()
        raise ValueError("the reason inside")

    events: Counter[str] = Counter()
    sockets = OpenSockets()
    with capture_logs() as logs:
        async with (
            serving(serve_app, app_of(fails, sockets=sockets, events=events)) as server,
            await upgraded(server) as client,
        ):
            await client.send(text_frame(b"x"))
            assert await client.frame() == closed(1011)
            assert await client.end() == b""
    [entry] = [entry for entry in logs if entry["event"] == "crash"]
    assert isinstance(entry["exc_info"], ValueError)
    assert events == {"crash": 1}
    assert sockets.count == 0


async def test_messages_that_a_handler_sent_before_it_returned_are_delivered(
    serve_app: ServeApp,
) -> None:
    async def brief(session: AcceptedSocket) -> None:
        for number in range(5):
            assert session.send(str(number))

    async with serving(serve_app, app_of(brief)) as server, await upgraded(server) as client:
        assert [await client.frame() for _ in range(5)] == [
            (1, b"%d" % number) for number in range(5)
        ]
        assert await client.frame() == closed(NORMAL)
        assert await client.end() == b""


async def test_any_task_can_close_a_session_and_the_first_code_counts(serve_app: ServeApp) -> None:
    lent: list[AcceptedSocket] = []
    ended = trio.Event()

    async def lends(session: AcceptedSocket) -> None:
        lent.append(session)
        try:
            await session.receive()
        finally:
            ended.set()

    async with serving(serve_app, app_of(lends)) as server, await upgraded(server) as client:
        await until(lambda: bool(lent))
        [session] = lent
        assert session.send("ahead of it")
        session.close(4409)
        session.close(4401)
        assert not session.send("behind it")
        assert await client.frame() == (1, b"ahead of it")
        assert await client.frame() == closed(4409)
        with trio.fail_after(PATIENCE_S):
            await ended.wait()


async def test_at_a_stop_every_open_socket_is_told_before_the_listener_stops(
    serve_app: ServeApp,
) -> None:
    sockets = OpenSockets()
    async with (
        serving(serve_app, app_of(idle, sockets=sockets)) as server,
        AsyncExitStack() as stack,
    ):
        clients = [await stack.enter_async_context(await upgraded(server)) for _ in range(5)]
        await sockets.close_all(GOING_AWAY)
        assert sockets.count == 0
        assert await server.is_alive()
        clients.append(await stack.enter_async_context(await upgraded(server)))
        server.stop.set()
        for client in clients:
            assert await client.frame() == closed(GOING_AWAY)
            await client.send(text_frame(GOING_AWAY.to_bytes(2), opcode=CLOSE))
            assert await client.end() == b""
            assert not client.was_reset
        with trio.fail_after(PATIENCE_S):
            await server.stopped.wait()


async def test_open_sockets_that_were_told_of_a_stop_do_not_delay_it(serve_app: ServeApp) -> None:
    sockets = OpenSockets()
    limits = msgspec.structs.replace(UNHURRIED, grace_s=600)
    async with (
        serving(serve_app, app_of(idle, sockets=sockets), limits) as server,
        await upgraded(server) as client,
    ):
        await sockets.close_all()
        server.stop.set()
        assert await client.frame() == closed(GOING_AWAY)
        with trio.fail_after(PATIENCE_S):
            await server.stopped.wait()


async def test_a_plain_request_is_served_beside_sockets(serve_app: ServeApp) -> None:
    async with serving(serve_app, edge(only("/ws", ok))) as server, await server.client() as client:
        assert (await client.get("/ws")).body == b"ok"
