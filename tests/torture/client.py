"""A small HTTP/1.1 client on a socket, for many connections at once and without hidden retries."""

import json
from typing import Any
from urllib.parse import urlsplit

import trio


class Gone(Exception):
    """The connection ended before the whole answer came. The request's outcome is unknown."""


class Connection:
    """One keep-alive connection, opened on first use and reopened after it was lost."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._stream: trio.SocketStream | None = None

    async def call(
        self, method: str, path: str, key: str, body: object = None, *, within_s: float = 30.0
    ) -> tuple[int, dict[str, str], Any]:
        """Return status, headers and decoded body. Raises `Gone`."""
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\n"
            f"Authorization: Bearer {key}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        try:
            with trio.fail_after(within_s):
                if self._stream is None:
                    self._stream = await trio.open_tcp_stream(self._host, self._port)
                await self._stream.send_all(head.encode() + content)
                return await self._answer(self._stream)
        except (
            OSError,
            trio.BrokenResourceError,
            trio.ClosedResourceError,
            trio.TooSlowError,
            Gone,
        ) as error:
            await self.close()
            raise Gone(str(error)) from error

    async def _answer(self, stream: trio.SocketStream) -> tuple[int, dict[str, str], Any]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += await self._more(stream)
        head, _, rest = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        while len(rest) < int(headers["content-length"]):
            rest += await self._more(stream)
        if headers.get("connection") == "close":
            await self.close()
        return int(first.split(" ")[1]), headers, json.loads(rest) if rest else None

    async def _more(self, stream: trio.SocketStream) -> bytes:
        data = await stream.receive_some(65536)
        if not data:
            raise Gone("closed")
        return bytes(data)

    async def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await trio.aclose_forcefully(stream)
