"""A WebSocket session with a client in memory."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec
import trio
from trio.testing import wait_all_tasks_blocked

from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.asgi import Message
from pgs.http.transport.socket_limits import SocketLimits
from pgs.http.transport.sockets import OpenSockets, serve_socket
from tests.patience import PATIENCE_S

ABUSE = 4400


LIMITS = SocketLimits(abuse_code=ABUSE)


def limited(**bounds: float) -> SocketLimits:
    """Return the usual limits with these bounds changed."""
    return msgspec.structs.replace(LIMITS, **bounds)


class Peer:
    """A client. It sends the messages put into `outgoing`, and collects those that it receives.

    While `reads` is not set it reads nothing.
    """

    def __init__(self) -> None:
        self.outgoing, self.heard_of = trio.open_memory_channel[Message](10)
        self.received: list[Message] = []
        self.reads = trio.Event()
        self.reads.set()
        self.ended = trio.Event()
        self.ended_at = 0.0

    async def say(self, *texts: str) -> None:
        with trio.fail_after(100):
            for text in texts:
                await self.outgoing.send({"type": "websocket.receive", "text": text, "bytes": None})

    async def leave(self) -> None:
        await self.outgoing.send({"type": "websocket.disconnect", "code": 1006})

    async def send(self, message: Message) -> None:
        await self.reads.wait()
        self.received.append(message)

    def code(self) -> int | None:
        """The code with which the socket was closed."""
        codes: list[int] = [
            message["code"] for message in self.received if message["type"] == "websocket.close"
        ]
        assert len(codes) < 2
        return codes[0] if codes else None

    @property
    def texts(self) -> list[str]:
        return [message["text"] for message in self.received if message["type"] == "websocket.send"]


@asynccontextmanager
async def conversing(
    handler: Callable[[AcceptedSocket], Awaitable[None]],
    *,
    peer: Peer | None = None,
    sockets: OpenSockets | None = None,
    limits: SocketLimits = LIMITS,
) -> AsyncIterator[Peer]:
    """Run `handler` on a socket for a block, and yield its peer.

    The handler must end soon after the block.
    """
    peer = peer or Peer()

    async def serve() -> None:
        await serve_socket(
            {"type": "websocket", "subprotocols": []},
            peer.heard_of.receive,
            peer.send,
            subprotocol=None,
            handler=handler,
            limits=limits,
            sockets=OpenSockets() if sockets is None else sockets,
        )
        peer.ended_at = trio.current_time()
        peer.ended.set()

    async with trio.open_nursery() as nursery:
        await peer.outgoing.send({"type": "websocket.connect"})
        nursery.start_soon(serve)
        await wait_all_tasks_blocked()
        yield peer
        with trio.fail_after(PATIENCE_S):
            await peer.ended.wait()


async def reads(socket: AcceptedSocket) -> None:
    while True:
        await socket.receive()


async def idles(socket: AcceptedSocket) -> None:
    await trio.sleep_forever()
