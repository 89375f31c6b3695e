"""An endpoint as data: one row for each JSON call. The dispatcher reads it, and so do the tests that police routes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import msgspec

from pgs.domain.accounts import Account, ApiKey
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.http.services import Services


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


class Call(msgspec.Struct, frozen=True):
    """One call as its handler sees it: admitted, licensed where that is asked for, and of the declared shape."""

    services: Services
    principal: Principal
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    request_id: str


class Reply(msgspec.Struct, frozen=True):
    """A record or a refusal with headers of its own."""

    body: msgspec.Struct
    headers: tuple[tuple[bytes, bytes], ...] = ()


Answer = msgspec.Struct | Reply | Refusal | BadRequest
Handler = Callable[[Call], Awaitable[Answer]]


class Endpoint(msgspec.Struct, frozen=True):
    """One call of the interface.

    `path` may hold `{names}`. `only_key`: the kind of key it is for, if not both. `launch`: the body names a game and a player, which
    are checked before its other fields. `spellings`: other names under which a body field is accepted. `held`: the call may be kept
    waiting, and is given up when its client leaves. `crash`: the reason that a client is told when something broke inside, where even a
    crash has one.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Handler
    response: type[msgspec.Struct]
    summary: str
    credential: Literal["key"] = "key"
    only_key: Environment | None = None
    query: frozenset[str] = frozenset()
    request: type[msgspec.Struct] | None = None
    launch: bool = False
    spellings: Mapping[str, str] = {}
    held: bool = False
    errors: tuple[str, ...] = ()
    crash: str | None = None
