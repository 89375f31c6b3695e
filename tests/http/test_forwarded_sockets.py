"""A WebSocket on its way to another node, and what its client sees when that node misbehaves."""

import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio
import wsproto
from hypercorn.protocol.ws_stream import ASGIWebsocketState
from hypercorn.utils import UnexpectedMessageError
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    Pong,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)

from pgs.domain.shards import Node
from pgs.http.nodes import sockets
from pgs.http.nodes.calls import NotReached
from pgs.http.nodes.sockets import GONE, MESSAGE_MAX, REFUSAL_MAX, ForwardedSocket
from pgs.http.transport.asgi import Message
from tests.http.socket_peer import Peer
from tests.http.sockets import until
from tests.journeys.process import free_port
from tests.patience import PATIENCE_S

PROTOCOL = "pgs.game.v1"


class Owner:
    """The other node's end of one socket."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._protocol = wsproto.WSConnection(wsproto.ConnectionType.SERVER)

    async def say(self, *events: Event) -> None:
        for event in events:
            await self.stream.send_all(self._protocol.send(event))

    async def hear(self) -> Event:
        """Return what the forwarding node sends next."""
        with trio.fail_after(PATIENCE_S):
            while True:
                for event in self._protocol.events():
                    return event
                self._protocol.receive_data(await self.stream.receive_some(65536) or None)

    async def accept(self) -> None:
        assert isinstance(await self.hear(), Request)
        await self.say(AcceptConnection(subprotocol=PROTOCOL))

    def reset(self) -> None:
        """End the connection with a reset."""
        self.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.stream.socket.close()


Script = Callable[[Owner], Awaitable[None]]


@asynccontextmanager
async def owner_that(
    script: Script, stopping: Callable[[], Awaitable[int]] = trio.sleep_forever
) -> AsyncIterator[ForwardedSocket]:
    """Yield a socket for a node that serves it with `script`, and ends the connection then."""

    async def serve(stream: trio.SocketStream) -> None:
        await script(Owner(stream))

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield forwarded(listeners[0].socket.getsockname()[1], stopping)
        nursery.cancel_scope.cancel()


def forwarded(
    port: int, stopping: Callable[[], Awaitable[int]] = trio.sleep_forever
) -> ForwardedSocket:
    node = Node("n2", f"127.0.0.1:{port}")
    headers = [(b"host", b"h"), (b"x-own", b"1"), (b"sec-websocket-key", b"of the client")]
    named = (b"x-pgs-owner", b"n2")
    return ForwardedSocket(node, b"/game/socket", headers, [PROTOCOL], named, stopping)


async def carry(forwarded_socket: ForwardedSocket, peer: Peer) -> None:
    """Carry a socket until it ends."""
    await peer.outgoing.send({"type": "websocket.connect"})
    with trio.fail_after(PATIENCE_S):
        await forwarded_socket.run(peer.heard_of.receive, peer.send)


async def test_messages_pass_both_ways_and_each_side_is_told_the_code_of_the_other() -> None:
    heard: list[object] = []

    async def script(owner: Owner) -> None:
        request = await owner.hear()
        assert isinstance(request, Request)
        heard.append(request.host)
        heard.append([value for name, value in request.extra_headers if name == b"x-own"])
        await owner.say(
            AcceptConnection(subprotocol=PROTOCOL),
            Ping(payload=b"p"),
            TextMessage("one", message_finished=False),
            TextMessage(" two"),
        )
        for _ in range(4):
            event = await owner.hear()
            assert isinstance(event, Pong | TextMessage | BytesMessage | CloseConnection)
            heard.append(event.code if isinstance(event, CloseConnection) else event)

    peer = Peer()
    async with owner_that(script) as there, trio.open_nursery() as nursery:
        nursery.start_soon(carry, there, peer)
        await until(lambda: bool(peer.texts) and len(heard) == 3)
        await peer.say("up")
        await peer.outgoing.send({"type": "websocket.receive", "text": None, "bytes": b"b"})
        await peer.outgoing.send({"type": "websocket.disconnect", "code": 4001})
        await until(lambda: len(heard) == 6)
    assert peer.texts == ["one two"]
    assert peer.received[0]["headers"] == [(b"x-pgs-owner", b"n2")]
    assert peer.received[0]["subprotocol"] == PROTOCOL
    assert heard == [
        "h",
        [b"1"],
        Pong(payload=b"p"),
        TextMessage("up"),
        BytesMessage(bytearray(b"b")),
        4001,
    ]


async def _close(owner: Owner) -> None:
    await owner.say(CloseConnection(4403))


async def _close_without_code(owner: Owner) -> None:
    await owner.stream.send_all(b"\x88\x00")


async def _end(owner: Owner) -> None:
    await owner.stream.aclose()


async def _reset(owner: Owner) -> None:
    owner.reset()


async def _babble(owner: Owner) -> None:
    await owner.stream.send_all(b"\xff" * 20)


async def _talk_without_end(owner: Owner) -> None:
    await owner.say(TextMessage("x" * (MESSAGE_MAX + 1), message_finished=False))
    await trio.sleep_forever()


async def _say_nothing(owner: Owner) -> None:
    await trio.sleep_forever()


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (_close, 4403),
        (_close_without_code, GONE),
        (_end, GONE),
        (_reset, GONE),
        (_babble, 1002),
        (_talk_without_end, GONE),
        (_say_nothing, GONE),
    ],
)
async def test_however_the_other_node_ends_a_socket_its_client_gets_a_close_frame(
    monkeypatch: pytest.MonkeyPatch, end: Script, code: int
) -> None:
    if end is _say_nothing:
        monkeypatch.setattr(sockets, "SILENCE_S", 0.05)

    async def script(owner: Owner) -> None:
        await owner.accept()
        await end(owner)

    peer = Peer()
    async with owner_that(script) as there:
        await carry(there, peer)
    assert peer.code() == code
    assert peer.texts == []


async def test_a_message_that_arrives_while_a_stopping_node_closes_the_socket_is_dropped() -> None:
    stops, closes, tried = trio.Event(), trio.Event(), trio.Event()

    async def stopping() -> int:
        await stops.wait()
        return GONE

    async def script(owner: Owner) -> None:
        await owner.accept()
        await closes.wait()
        await owner.say(TextMessage("late"))
        await tried.wait()

    peer = Peer()

    async def send(message: Message) -> None:
        if message["type"] == "websocket.send":  # as hypercorn does after a close
            tried.set()
            raise UnexpectedMessageError(ASGIWebsocketState.CLOSED, message["type"])
        await peer.send(message)
        if message["type"] == "websocket.close":
            closes.set()
            await tried.wait()

    async with owner_that(script, stopping) as there, trio.open_nursery() as nursery:

        async def run() -> None:
            await peer.outgoing.send({"type": "websocket.connect"})
            with trio.fail_after(PATIENCE_S):
                await there.run(peer.heard_of.receive, send)

        nursery.start_soon(run)
        await until(lambda: bool(peer.received))
        stops.set()
    assert peer.received[-1] == {"type": "websocket.close", "code": GONE, "reason": ""}


async def test_a_message_that_crosses_the_close_frame_of_the_owner_is_dropped() -> None:
    ask_to_close = trio.Event()

    async def script(owner: Owner) -> None:
        await owner.accept()
        await ask_to_close.wait()
        await owner.say(CloseConnection(4409))
        await trio.sleep_forever()

    peer = Peer()
    async with owner_that(script) as there, trio.open_nursery() as nursery:
        nursery.start_soon(carry, there, peer)
        await until(lambda: bool(peer.received))
        peer.reads = trio.Event()  # the client does not take its close frame yet
        ask_to_close.set()
        await trio.sleep(0.02)
        await peer.say("too late")
        await until(lambda: peer.heard_of.statistics().current_buffer_used == 0)
        peer.reads.set()
    assert peer.code() == 4409


@pytest.mark.parametrize("answer", [_end, _reset, _babble, _say_nothing])
async def test_an_owner_that_does_not_answer_the_handshake_counts_as_not_reached(
    monkeypatch: pytest.MonkeyPatch, answer: Script
) -> None:
    if answer is _say_nothing:
        monkeypatch.setattr(sockets, "HANDSHAKE_S", 0.05)

    async def script(owner: Owner) -> None:
        await owner.hear()
        await answer(owner)

    peer = Peer()
    async with owner_that(script) as there:
        with pytest.raises(NotReached):
            await carry(there, peer)
    assert peer.received == []


async def test_a_node_without_a_listener_counts_as_not_reached() -> None:
    peer = Peer()
    with pytest.raises(NotReached):
        await carry(forwarded(free_port()), peer)
    assert peer.received == []


async def test_no_node_is_called_for_a_client_that_has_left_before_its_handshake() -> None:
    peer = Peer()
    await peer.leave()
    with trio.fail_after(PATIENCE_S):
        # Nobody listens there, so a call would raise.
        await forwarded(free_port()).run(peer.heard_of.receive, peer.send)
    assert peer.received == []


async def refusal_of(*bodies: bytes, finished: bool) -> tuple[int, dict[bytes, bytes], bytes]:
    """Return status, headers and body of the answer to a client whom the owner refuses."""
    length = b"%d" % (sum(map(len, bodies)) + (0 if finished else 1))

    async def script(owner: Owner) -> None:
        assert isinstance(await owner.hear(), Request)
        headers = [(b"content-length", length), (b"retry-after", b"3")]
        await owner.say(RejectConnection(status_code=429, headers=headers, has_body=bool(bodies)))
        for number, body in enumerate(bodies, 1):
            await trio.sleep(0.005)  # the pieces arrive one by one
            last = finished and number == len(bodies)
            await owner.say(RejectData(data=body, body_finished=last))
        await owner.stream.aclose()

    peer = Peer()
    async with owner_that(script) as there:
        await carry(there, peer)
    start, body = peer.received
    return start["status"], dict(start["headers"]), body["body"]


async def test_a_refusal_in_pieces_reaches_the_client_whole() -> None:
    status, headers, body = await refusal_of(b'{"error":', b'"x"}', finished=True)
    assert (status, body) == (429, b'{"error":"x"}')
    assert headers[b"retry-after"] == b"3"
    assert headers[b"content-length"] == b"13"
    assert headers[b"x-pgs-owner"] == b"n2"


async def test_a_refusal_that_breaks_off_reaches_the_client_with_the_length_that_it_has() -> None:
    status, headers, body = await refusal_of(b"half", finished=False)
    assert (status, headers[b"content-length"], body) == (429, b"4", b"half")


async def test_a_refusal_without_end_is_cut_off() -> None:
    pieces = [b"x" * 16384] * (4 * REFUSAL_MAX // 16384)
    _, headers, body = await refusal_of(*pieces, finished=False)
    assert REFUSAL_MAX < len(body) <= REFUSAL_MAX + sockets.READ_BYTES
    assert headers[b"content-length"] == b"%d" % len(body)
