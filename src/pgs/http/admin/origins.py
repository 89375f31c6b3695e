"""Web origins on which the frame may be embedded."""

import msgspec

from pgs.actors.messages.account.settings import AddOrigin, RemoveOrigin
from pgs.domain.accounts import Account
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest
from pgs.http.admin.authorization import AdminCall, account_now, change
from pgs.http.admin.endpoints import admin_read, admin_write
from pgs.http.api.body import convert
from pgs.http.api.endpoint import Answer


class OriginOf(msgspec.Struct, frozen=True):
    """An origin and its environment."""

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
    body: OriginOf = call.body
    reply = await change(call, AddOrigin, body.environment, body.origin)
    return _record(reply) if isinstance(reply, Account) else reply


async def remove_origin(call: AdminCall) -> Answer:
    """Remove the origin that the body names; without a body, the one that the query names."""
    named = convert(dict(call.query), OriginOf) if call.body is None else call.body
    if isinstance(named, BadRequest):
        return named
    reply = await change(call, RemoveOrigin, named.environment, named.origin)
    return _record(reply) if isinstance(reply, Account) else reply


ENDPOINTS = (
    admin_read("origins", list_origins, OriginsRecord, "The web origins"),
    admin_write(
        "POST",
        "origins",
        add_origin,
        OriginsRecord,
        "Register a web origin",
        request=OriginOf,
        errors=("invalid_origin", "too_many_origins"),
    ),
    admin_write(
        "DELETE",
        "origins",
        remove_origin,
        OriginsRecord,
        "Remove a web origin",
        request=OriginOf,
        errors=("invalid_origin", "origin_not_found"),
        may_lack_body=True,
        query=frozenset({"environment", "origin"}),
    ),
)
