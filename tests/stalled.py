"""A network on which a request's head is accepted and its body waits for ever."""

import httpcore
import trio


class StalledStream(httpcore.AsyncNetworkStream):
    """A network stream that accepts the head of a request and never its body."""

    def __init__(self, at_body: trio.Event) -> None:
        self._at_body = at_body

    # `timeout` is part of httpcore's signature.
    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if buffer.startswith(b"POST"):
            return
        self._at_body.set()
        await trio.sleep_forever()

    async def aclose(self) -> None:
        pass


class StalledNetwork(httpcore.AsyncNetworkBackend):
    """A network on which every connection is one stalled stream."""

    def __init__(self, stream: StalledStream) -> None:
        self._stream = stream

    async def connect_tcp(self, *_: object, **__: object) -> httpcore.AsyncNetworkStream:
        return self._stream
