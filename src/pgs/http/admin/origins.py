"""Web origins on which the frame may be embedded."""

import msgspec

from pgs.actors.messages.account.settings import AddOrigin, RemoveOrigin
from pgs.domain.accounts import Account
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest
from pgs.http.admin.gate import AdminCall, account_now, change
from pgs.http.api.body import convert
from pgs.http.api.endpoint import Answer, Endpoint


class OriginOf(msgspec.Struct, frozen=True):
    """An origin and the environment that it is for."""

    environment: Environment
    origin: str


class Origins(msgspec.Struct, frozen=True):
    """Both environments' origins, alphabetically."""

    live: tuple[str, ...]
    test: tuple[str, ...]


class OriginsRecord(msgspec.Struct, frozen=True):
    """Every registered origin."""

    origins: Origins


def _record(account: Account) -> OriginsRecord:
    return OriginsRecord(Origins(account.origins["live"], account.origins["test"]))


async def list_origins(call: AdminCall) -> Answer:
    """Return every registered origin."""
    return _record(account_now(call))


async def add_origin(call: AdminCall) -> Answer:
    """Register an origin."""
    body: OriginOf = call.body
    reply = await change(call, AddOrigin, body.environment, body.origin)
    return _record(reply) if isinstance(reply, Account) else reply


async def remove_origin(call: AdminCall) -> Answer:
    """Remove an origin, which the body names or, where there is none, the query."""
    named = convert(dict(call.query), OriginOf) if call.body is None else call.body
    if isinstance(named, BadRequest):
        return named
    reply = await change(call, RemoveOrigin, named.environment, named.origin)
    return _record(reply) if isinstance(reply, Account) else reply


_PATH = "/partner/admin/origins"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_PATH,
        handler=list_origins,
        response=OriginsRecord,
        credential="identity",
        summary="The web origins",
    ),
    Endpoint(
        method="POST",
        path=_PATH,
        handler=add_origin,
        request=OriginOf,
        response=OriginsRecord,
        credential="identity",
        errors=("invalid_origin", "too_many_origins", "partner_changed"),
        summary="Register a web origin",
    ),
    Endpoint(
        method="DELETE",
        path=_PATH,
        handler=remove_origin,
        request=OriginOf,
        may_lack_body=True,
        query=frozenset({"environment", "origin"}),
        response=OriginsRecord,
        credential="identity",
        errors=("origin_not_found", "partner_changed"),
        summary="Remove a web origin",
    ),
)
