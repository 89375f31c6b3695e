"""An endpoint as data: one row for each JSON call, which the dispatcher and tests read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from pgs.domain.accounts import Account, ApiKey
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.secrets import HidesSecrets
from pgs.http.api.services import Services
from pgs.http.transport.asgi import Headers, Receive, Scope, Send
from pgs.http.transport.sockets import OpenSockets

P = TypeVar("P", covariant=True)


class Principal(msgspec.Struct, frozen=True):
    """Who calls with an API key, and the API version of the answer.

    The account and the key are as they were when the call was admitted.
    """

    account: Account
    key: ApiKey
    version: int

    @property
    def partner_id(self) -> str:
        """The partner's id."""
        return self.account.partner_id

    @property
    def environment(self) -> Environment:
        """The environment of the key."""
        return self.key.environment


class CallBy(HidesSecrets, msgspec.Struct, Generic[P], frozen=True):
    """One call as its handler sees it, after every check of its `Endpoint` row.

    `principal` is what the endpoint's authenticator returned, None if the endpoint takes no
    credential. `path` has the values of the names in the path, percent-decoded and never empty.
    `body` is of the row's `request` type. `headers` are the request's, with lower-case names.
    """

    SECRETS = frozenset({"headers", "body"})

    services: Services
    principal: P
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    request_id: str
    headers: Headers = []


Call = CallBy[Principal]
"""A call with an API key."""


class Reply(msgspec.Struct, frozen=True):
    """A record or a refusal, with headers to add to the response."""

    body: msgspec.Struct
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Plain(msgspec.Struct, frozen=True):
    """A refusal without a reason code: its status, and a sentence for people."""

    status: int
    message: str


class Internal(msgspec.Struct, frozen=True):
    """A 500 without a reason code: the service has a fault.

    `unknown`: the call may have been carried out, and repeating it could do its work twice.
    """

    unknown: bool = False


Write = Callable[[bytes], Awaitable[None]]


class Stream(msgspec.Struct, frozen=True):
    """A 200 without a stated length.

    `produce` is given a function that sends a piece. `produce` is cancelled when the client leaves,
    and when the service stops. `close` is called once at the end, even if `produce` never began.
    """

    content_type: str
    produce: Callable[[Write], Awaitable[None]]
    close: Callable[[], None] = lambda: None


Answer = msgspec.Struct | Reply | Refusal | BadRequest
Handler = Callable[[CallBy[Any]], Awaitable[Answer]]

Credential = Literal["partner_key", "identity", "session"]
"""What `Authorization: Bearer` carries: an API key, an identity token (admin API) or a session
token (Game API)."""


class Request(HidesSecrets, msgspec.Struct, frozen=True):
    """A call before authentication, as an authenticator sees it: without its body."""

    SECRETS = frozenset({"headers"})

    services: Services
    endpoint: Endpoint
    path: Mapping[str, str]
    headers: Headers
    request_id: str


class Authenticator(Protocol):
    """Authenticates calls with one kind of credential, and checks that the caller may make them."""

    async def __call__(self, request: Request, /) -> msgspec.Struct:
        """Return the principal for the handler, or a refusal.

        A refusal is a `Refusal`, a `BadRequest`, a `Plain`, or a `Reply` that adds headers to one
        of them.
        """
        ...


class SocketHandler(Protocol):
    """Serves the WebSockets of one path, from the handshake to the close."""

    async def __call__(
        self,
        services: Services,
        sockets: OpenSockets,
        scope: Scope,
        receive: Receive,
        send: Send,
        /,
    ) -> None:
        """Serve one `websocket` scope, by `serve_socket` or `refuse_handshake`."""
        ...


class Endpoint(msgspec.Struct, frozen=True):
    """One call of the interface. `path` may contain `{names}`."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Handler
    response: type[msgspec.Struct]
    summary: str

    credential: Credential | None = "partner_key"
    """What the caller authenticates with. None: the call is open to everybody."""

    only_key: Environment | None = None
    """The only environment whose keys may make the call. None: keys of both may."""

    wrong_key: str = "test_key_required"
    """The reason of the refusal for a key of another environment than `only_key`."""

    query: frozenset[str] = frozenset()
    """The query parameters that the call knows. Others are ignored."""

    request: type[msgspec.Struct] | None = None
    """The type of the body. None: the body is not read."""

    may_lack_body: bool = False
    """An empty body is accepted; the handler gets None."""

    launch: bool = False
    """The body names a game and a player, which are checked before its other fields."""

    is_replay: Callable[[CallBy[Any]], Awaitable[bool]] | None = None
    """Tells whether a launch repeats an earlier one. A replay is answered even if the licence of
    its game has ended."""

    spellings: Mapping[str, str] = {}
    """Other accepted spellings of a body's fields, each with the field's own name."""

    body_bytes: int | None = None
    """Bytes that a body may have, if the usual limit is too small. The calls of one path share one
    limit: the greatest `body_bytes` among them."""

    held: frozenset[str] = frozenset()
    """The query parameters with which a call may take long: it is held until there is something to
    answer, or it waits for a long read. Only a call with one of them is cancelled when its client
    leaves, because watching for that costs as much as a small call."""

    errors: tuple[str, ...] = ()
    """The reason codes that this call can answer with, besides those that all calls with the same
    kind of credential share."""

    crash: str | None = None
    """The reason code of the answer if the handler crashes. None: a 500 without a reason code."""

    outage: str = "registry_unavailable"
    """The reason code of the answer when a read of the service's data fails."""

    elsewhere: tuple[str, ...] = ()
    """The reason codes that this call answers with the code's second status, `ErrorKind.elsewhere`.
    Only some codes have a second status. A call with a session token uses the second status of
    every code that has one."""
