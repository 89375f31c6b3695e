"""What the lane needs of an application: a whole answer to a whole request, without ASGI."""

from collections.abc import Collection, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from pgs.domain.secrets import HidesSecrets
from pgs.http.transport.asgi import Headers, Receive


class DirectRequest(HidesSecrets, msgspec.Struct, frozen=True):
    """A request with a plain head (`pgs.http.transport.plain_heads`), whose body has arrived.

    `path` is as the client sent it; it contains no percent signs. Names of `headers` are in lower
    case. `receive` returns once the client has left or has been silent for too long. `started` is
    when the whole request had arrived, on trio's clock. `forwarded` is a proof that another node
    forwarded the request; it has not been checked.
    """

    SECRETS = frozenset({"headers", "body"})

    path: bytes
    query: bytes
    headers: Headers
    body: bytes
    request_id: str
    receive: Receive
    started: float
    forwarded: bytes | None = None


class DirectAnswer(msgspec.Struct, frozen=True):
    """A whole response. The server adds its length and the headers that every response carries."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    content: bytes


@runtime_checkable
class DirectApp(Protocol):
    """An ASGI application that can also answer some requests directly."""

    @property
    def direct_paths(self) -> Collection[bytes]:
        """The paths without variable parts that the application serves. There are few."""
        ...

    def serves_socket(self, path: bytes, headers: Headers, subprotocols: Sequence[str], /) -> bool:
        """Return whether a handshake with these values gets a handler that calls `serve_socket`."""
        ...

    def find_direct(self, method: str, path: bytes, /) -> Any | None:
        """Return what `answer_direct` needs, or None if such requests must come over ASGI.

        For one of `direct_paths`, it must always return the same for the same method, because the
        caller keeps the result.
        """
        ...

    async def answer_direct(self, found: Any, request: DirectRequest, /) -> DirectAnswer:
        """Return the answer. Raises `ClientGone` if the client has left."""
        ...
