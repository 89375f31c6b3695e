"""Streams: answers without a stated length. A stop of the service ends them."""

import trio

from pgs.http.api.endpoint import Stream
from pgs.http.api.responses import HeaderTuple
from pgs.http.transport.asgi import ClientGone, Receive, Send, unless_gone


class OpenStreams:
    """The streams that are being sent."""

    def __init__(self) -> None:
        self._open: set[trio.CancelScope] = set()
        self._stopping = False

    def end_all(self) -> None:
        """End all open streams, and each later one as it begins, because the service stops."""
        self._stopping = True
        for scope in self._open:
            scope.cancel()

    async def send(
        self, stream: Stream, headers: HeaderTuple, receive: Receive, send: Send
    ) -> None:
        """Send a stream until it ends, its client leaves, or the service stops."""
        try:
            await self._send(stream, headers, receive, send)
        finally:
            stream.close()

    async def _send(
        self, stream: Stream, headers: HeaderTuple, receive: Receive, send: Send
    ) -> None:
        async def write(piece: bytes) -> None:
            await send({"type": "http.response.body", "body": piece, "more_body": True})

        # Without this header, nginx and other proxies that read it would collect pieces before
        # they pass them on.
        unbuffered = (b"x-accel-buffering", b"no")
        own = [(b"content-type", stream.content_type.encode()), unbuffered, *headers]
        await send({"type": "http.response.start", "status": 200, "headers": own})
        with trio.CancelScope() as scope:
            self._open.add(scope)
            try:
                if self._stopping:
                    scope.cancel()
                await unless_gone(stream.produce(write), receive)
            except ClientGone:
                return
            finally:
                self._open.discard(scope)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
