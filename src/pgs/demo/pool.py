"""The connection pool with which tests and the load scripts call the service over HTTP."""

from collections.abc import Iterable
from typing import Self

import httpcore


class ConnectionPool(httpcore.AsyncConnectionPool):
    """httpcore's pool, whose calls may be cancelled at any point.

    httpcore reads a request's body from an async generator. A call that is cancelled while it
    sends leaves the generator unfinished, and trio warns when the generator is garbage-collected.
    This pool reads the body from an iterator, which needs no clean-up.
    """

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        return self

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request whose body is in memory; return the response. Errors are httpcore's."""
        if isinstance(request.stream, Iterable):
            request.stream = _Body(list(request.stream))
        return await super().handle_async_request(request)


class _Body:
    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks

    def __aiter__(self) -> "_Reading":
        return _Reading(self._chunks)


class _Reading:
    def __init__(self, chunks: list[bytes]) -> None:
        self._rest = iter(chunks)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            return next(self._rest)
        except StopIteration:
            raise StopAsyncIteration from None
