"""An endpoint as data: one row for each JSON call. The dispatcher reads it, and so do the tests that police routes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

import msgspec

from pgs.domain.accounts import Account, ApiKey
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.secrets import HidesSecrets
from pgs.http.api.services import Services
from pgs.http.transport.asgi import Headers, Receive, Scope, Send
from pgs.http.transport.sockets import OpenSockets

P = TypeVar("P")


class Principal(msgspec.Struct, frozen=True):
    """Who calls with a key: the account and the key as they stood when the call was admitted, and the version it is answered on."""

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
    """One call as its handler sees it: admitted, licensed where that is asked for, and of the declared shape.

    `principal` is what the authenticator of the endpoint's credential returned, None where it takes none. `path` holds the template's
    names, percent-decoded and never empty; `headers` are the request's, with lower-case names.
    """

    services: Services
    principal: P
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    request_id: str
    headers: Headers = []

    SECRETS: ClassVar = frozenset({"headers", "body"})


Call = CallBy[Principal]
"""A call with an API key."""


class Reply(msgspec.Struct, frozen=True):
    """A record or a refusal with headers of its own."""

    body: msgspec.Struct
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Plain(msgspec.Struct, frozen=True):
    """An answer in the error shape without a reason: its status, and a sentence for people."""

    status: int
    message: str


class Internal(msgspec.Struct, frozen=True):
    """Something broke inside: a 500 that gives no reason."""


Write = Callable[[bytes], Awaitable[None]]


class Stream(msgspec.Struct, frozen=True):
    """A 200 of no stated length: `produce` is handed what sends a piece, and is cancelled when the client leaves or the service stops."""

    content_type: str
    produce: Callable[[Write], Awaitable[None]]


Answer = msgspec.Struct | Reply | Refusal | BadRequest
Handler = Callable[[CallBy[Any]], Awaitable[Answer]]

Credential = Literal["partner_key", "identity", "session"]
"""What a call proves with in `Authorization: Bearer`: an API key, an identity token (admin API), a session token (Game API)."""


class Request(HidesSecrets, msgspec.Struct, frozen=True):
    """A call before anybody is known to be making it: what an authenticator judges by. The body has not been looked at."""

    services: Services
    endpoint: Endpoint
    path: Mapping[str, str]
    headers: Headers
    request_id: str

    SECRETS: ClassVar = frozenset({"headers"})


class Authenticator(Protocol):
    """Tells who makes a call with one kind of credential, and lets through only who may make this very call."""

    async def __call__(self, request: Request, /) -> msgspec.Struct:
        """Return the principal, which the handler gets, or why there is none: a `Refusal`, a `Plain`, or a `Reply` with headers to one."""
        ...


class SocketHandler(Protocol):
    """Serves the WebSockets of one path: from the handshake, which is not answered yet, to the close."""

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
    """One call of the interface.

    `path` may hold `{names}`. `credential`: what the caller is known by; with None anybody is served. `only_key`: the kind of key it is
    for, if not both. `may_lack_body`: an empty body is None to the handler. `launch`: the body names a game and a player, which are
    checked before its other fields. `spellings`: other names under which a body field is accepted. `body_bytes`: a body's bound, where
    the usual one is too small; it holds for the whole path. `held`: the call may be kept waiting, and is given up when its client leaves.
    `crash`: the reason that a client is told when something broke inside, where even a crash has one. `elsewhere`: the reasons which this
    call answers with their second status; with a session token all do.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Handler
    response: type[msgspec.Struct]
    summary: str
    credential: Credential | None = "partner_key"
    only_key: Environment | None = None
    query: frozenset[str] = frozenset()
    request: type[msgspec.Struct] | None = None
    may_lack_body: bool = False
    launch: bool = False
    spellings: Mapping[str, str] = {}
    body_bytes: int | None = None
    held: bool = False
    errors: tuple[str, ...] = ()
    crash: str | None = None
    elsewhere: tuple[str, ...] = ()
