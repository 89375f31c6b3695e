"""Carries plain requests to the node that owns their shard, and the answers back.

A request is sent once. `NotReached` says that the owner has not seen it, `Lost` that the owner may
have carried it out.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import httpcore
import msgspec
import trio

from pgs.domain.secrets import HidesSecrets
from pgs.domain.shards import Node
from pgs.http.nodes.connections import CONNECT_S, Connections, NoRoom
from pgs.http.transport.asgi import Headers

SILENCE_S: Final = 75.0
"""Seconds without a byte of an answer, after which the answer counts as lost. A live stream may be
silent for 50 s."""

ANSWER_MAX: Final = 8 * 1024 * 1024
"""Bytes of an answer that is read as a whole: more than ten times the largest page of the feed."""

_OWN_CONNECTION: Final = frozenset(
    {
        b"connection",
        b"content-length",
        b"date",
        b"expect",
        b"keep-alive",
        b"proxy-connection",
        b"server",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Headers that concern one connection, or that each sender of a message sets itself."""

_TIMEOUTS: Final = {"timeout": {"connect": CONNECT_S, "write": SILENCE_S, "read": SILENCE_S}}


class NotReached(Exception):
    """The other node has not seen the request."""


class Lost(Exception):
    """The answer broke off, or never came. The request may have been carried out."""


class Outgoing(HidesSecrets, msgspec.Struct, frozen=True):
    """A whole request for another node. `target` is the path with the query."""

    SECRETS = frozenset({"headers", "body"})

    method: str
    target: bytes
    headers: Headers
    body: bytes


class Incoming(msgspec.Struct, frozen=True):
    """The start of an answer, and its pieces. `length` is None if the answer states none."""

    status: int
    headers: Headers
    length: int | None
    pieces: AsyncIterator[bytes]


class NodeCalls:
    """Sends requests to other nodes, over connections that it keeps."""

    def __init__(self) -> None:
        self._connections = Connections()

    async def aclose(self) -> None:
        await self._connections.aclose()

    @asynccontextmanager
    async def exchange(self, node: Node, outgoing: Outgoing) -> AsyncIterator[Incoming]:
        """Yield the answer of another node; the connection is free again when the block ends.

        Raises `NotReached` and `Lost`.
        """
        host, _, port = node.address.rpartition(":")
        url = httpcore.URL(
            scheme=b"http", host=host.strip("[]").encode(), port=int(port), target=outgoing.target
        )
        request = httpcore.Request(
            outgoing.method,
            url,
            headers=[*passed_on(outgoing.headers), *_framing(outgoing)],
            content=outgoing.body,
            extensions=_TIMEOUTS,
        )
        request.stream = _Body(outgoing.body)
        try:
            async with self._connections.one(url.origin) as connection:
                response = await _begun(connection, request, node)
                pieces = _pieces(response, node)
                try:
                    yield Incoming(
                        response.status,
                        passed_on(response.headers),
                        _length(response.headers),
                        pieces,
                    )
                finally:
                    with trio.CancelScope(shield=True):
                        await response.aclose()
                        await _end(pieces)
        except NoRoom as error:
            raise NotReached(node.name) from error

    async def whole(self, node: Node, outgoing: Outgoing) -> tuple[int, Headers, bytes]:
        """Return status, headers and body of another node's answer.

        Raises `NotReached` and `Lost`; also `Lost` for an answer over `ANSWER_MAX`.
        """
        async with self.exchange(node, outgoing) as answer:
            content = bytearray()
            async for piece in answer.pieces:
                content += piece
                if len(content) > ANSWER_MAX:
                    raise Lost(node.name)
            return answer.status, answer.headers, bytes(content)


def passed_on(headers: Headers) -> Headers:
    """Return the headers to pass on with a message, in lower case: all except `_OWN_CONNECTION`."""
    lowered = [(name.lower(), value) for name, value in headers]
    return [pair for pair in lowered if pair[0] not in _OWN_CONNECTION]


def _framing(outgoing: Outgoing) -> Headers:
    if not outgoing.body and outgoing.method in ("GET", "HEAD", "DELETE"):
        return []
    return [(b"content-length", b"%d" % len(outgoing.body))]


async def _begun(
    connection: httpcore.AsyncHTTPConnection, request: httpcore.Request, node: Node
) -> httpcore.Response:
    """Return the start of an answer. Raises `NotReached` and `Lost`."""
    try:
        return await connection.handle_async_request(request)
    except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
        raise NotReached(node.name) from error
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
        raise Lost(node.name) from error


def _length(headers: Headers) -> int | None:
    for name, value in headers:
        if name.lower() == b"content-length":
            return int(value)
    return None


class _Body:
    """A request's body as an iterator.

    httpcore would use a generator. If a call is cut off, its generator stays unfinished, and trio
    warns of it.
    """

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __aiter__(self) -> "_Reading":
        return _Reading(self._body)


class _Reading:
    def __init__(self, body: bytes) -> None:
        self._rest = iter([body])

    def __aiter__(self) -> "_Reading":
        return self

    async def __anext__(self) -> bytes:
        try:
            return next(self._rest)
        except StopIteration:
            raise StopAsyncIteration from None


async def _end(pieces: AsyncIterator[bytes]) -> None:
    """Read the pieces of a closed answer to their end; this does not wait.

    This finishes httpcore's generators. If a call is cut off and leaves one unfinished, trio warns
    of it.
    """
    with suppress(Lost):
        async for _ in pieces:
            pass


async def _pieces(response: httpcore.Response, node: Node) -> AsyncIterator[bytes]:
    try:
        async for piece in response.aiter_stream():
            yield piece
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
        raise Lost(node.name) from error
