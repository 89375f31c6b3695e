"""A proxy between a client and the service that loses, delays and repeats answers."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import trio

FAULTS: Final = (
    "lose the answer",
    "none",
    "lose the call",
    "none",
    "hold the answer",
    "repeat the call",
    "none",
    "cut the answer",
    "none",
    "repeat the answer",
    "be a bad gateway",
    "none",
    "limit the rate",
    "delay the answer",
    "none",
)
"""What happens to the calls of one path, in turn."""

_DELAY_S: Final = 0.2
_HELD_S: Final = 30.0
"""Seconds for which an answer is held, unless the client gives up first. The journeys' clients give
up after one second."""

_BAD_GATEWAY: Final = (
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
)
_LIMITED_BODY: Final = b'{"error": "Too many requests.", "reason": "rate_limited"}'
_LIMITED: Final = (
    b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: %d\r\n\r\n%s"
    % (len(_LIMITED_BODY), _LIMITED_BODY)
)


class FaultProxy:
    """Forwards each call, with the next fault of its path. `met`: how often each was met."""

    def __init__(self, base_url: str) -> None:
        upstream = urlsplit(base_url)
        self._host, self._port = upstream.hostname or "", upstream.port or 80
        self._calls: Counter[str] = Counter()
        self.met: Counter[tuple[str, str]] = Counter()
        self.base_url = ""

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve one connection."""
        try:
            while request := await _read_message(stream):
                if not await self._answer(stream, request):
                    break
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # The client has given up.
        finally:
            await trio.aclose_forcefully(stream)

    async def _answer(self, stream: trio.SocketStream, request: bytes) -> bool:
        """Answer a request, or not; return whether the connection stays open."""
        method, target = request.split(b" ", 2)[:2]
        name = f"{method.decode()} {target.decode().partition('?')[0]}"
        if name.count("/") > 2:  # seats and matches have an id in their path
            name = name.rpartition("/")[0]
        fault = FAULTS[self._calls[name] % len(FAULTS)]
        self._calls[name] += 1
        self.met[name, fault] += 1
        match fault:
            case "lose the call":
                return False
            case "be a bad gateway":
                await stream.send_all(_BAD_GATEWAY)
                return True
            case "limit the rate":
                await stream.send_all(_LIMITED)
                return True
        answer = await self._forward(request)
        match fault:
            case "lose the answer":
                return False
            case "cut the answer":
                await stream.send_all(answer[: len(answer) - 20])
                return False
            case "hold the answer":
                with trio.move_on_after(_HELD_S):
                    await stream.receive_some(1)
                return False
            case "delay the answer":
                await trio.sleep(_DELAY_S)
            case "repeat the call":
                answer = await self._forward(request)
            case "repeat the answer":
                answer *= 2
        await stream.send_all(answer)
        return True

    async def _forward(self, request: bytes) -> bytes:
        async with await trio.open_tcp_stream(self._host, self._port) as upstream:
            await upstream.send_all(request)
            return await _read_message(upstream)


async def _read_message(stream: trio.SocketStream) -> bytes:
    """Return a whole request or response, or nothing if the other side has closed."""
    read = b""
    while b"\r\n\r\n" not in read:
        chunk = await stream.receive_some()
        if not chunk:
            return b""
        read += chunk
    head, _, body = read.partition(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    while len(body) < length:
        chunk = await stream.receive_some()
        if not chunk:
            return b""
        body += chunk
    return head + b"\r\n\r\n" + body


@asynccontextmanager
async def fault_proxy(base_url: str) -> AsyncIterator[FaultProxy]:
    """Yield a running proxy before a service."""
    proxy = FaultProxy(base_url)
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        proxy.base_url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.start_soon(trio.serve_listeners, proxy.serve, [listener])
        yield proxy
        nursery.cancel_scope.cancel()
