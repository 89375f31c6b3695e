"""A sweep, a reset or a cancellation meets a connection of the lane between two of its waits."""

import socket
from types import SimpleNamespace
from typing import Any

import trio
import trio.testing

from pgs.http.transport.inputs import Inputs
from pgs.http.transport.lane_connection import LaneConnection
from pgs.http.transport.lane_socket import LaneSocket
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.socket_limits import SocketLimits
from tests.patience import PATIENCE_S


def _config() -> Any:
    """Return what a connection uses of its listener's configuration."""
    return SimpleNamespace(
        limits=ServerLimits(), idle={}, stopping=False, on_event=lambda event: None
    )


def _pair() -> tuple[trio.SocketStream, socket.socket]:
    """Return a connection, and its client's side."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    return trio.SocketStream(trio.socket.from_stdlib_socket(ours)), theirs


def _connection(stream: trio.SocketStream) -> LaneConnection:
    lane: Any = SimpleNamespace(now=trio.current_time, inputs=Inputs())
    owner: Any = "owner"
    # Nothing is sent, so what `send_all` returns does not matter.
    return LaneConnection(lane, _config(), owner, stream, stream.send_all)  # type: ignore[arg-type]


def _socket(stream: trio.SocketStream, send: Any) -> LaneSocket:
    upgrade: Any = None  # the handshake was answered
    return LaneSocket(_config(), stream, send, upgrade)


async def test_an_idle_connection_that_ends_before_it_waits_does_not_wait() -> None:
    stream, client = _pair()
    with client:
        async with stream:
            connection = _connection(stream)
            connection.end()
            with trio.fail_after(PATIENCE_S):
                await connection.serve()


async def test_a_socket_that_was_given_up_does_not_listen_on_its_old_file_descriptor() -> None:
    async def send(content: bytes) -> bool:
        await stream.aclose()
        return False

    stream, client = _pair()
    with client:
        lane_socket = _socket(stream, send)
        number = stream.socket.fileno()
        await lane_socket.finish(1000)  # the client takes nothing, so the connection is closed
        other, peer = socket.socketpair()
        with other, peer:
            assert number in {other.fileno(), peer.fileno()}
            with trio.fail_after(PATIENCE_S):
                await lane_socket.listen(lambda text: True)


async def test_a_socket_that_ended_without_a_close_frame_is_not_open() -> None:
    async def send(content: bytes) -> bool:
        raise AssertionError("nothing may be sent")

    stream, client = _pair()
    with client:
        async with stream:
            lane_socket = _socket(stream, send)
            await lane_socket.finish(None)
            assert not lane_socket.is_open


async def test_the_end_of_a_socket_does_not_wait_for_a_write_that_was_cancelled() -> None:
    async def send(content: bytes) -> bool:
        await trio.sleep_forever()

    limits = SocketLimits(abuse_code=4400, outbox_chars=10_000_000)
    stream, client = _pair()
    with client:
        async with stream:
            lane_socket = _socket(stream, send)
            async with trio.open_nursery() as nursery:
                lane_socket.begin(nursery, limits)
                assert lane_socket.put("x" * 5_000_000)  # more than the client takes at once
                await trio.testing.wait_all_tasks_blocked()
                nursery.cancel_scope.cancel()
            with trio.fail_after(PATIENCE_S):
                await lane_socket.finish(1011)
            assert not lane_socket.is_open
