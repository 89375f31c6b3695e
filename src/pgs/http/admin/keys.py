"""API keys: listing, minting, rotating and revoking them. A key is shown once, by the call that makes it."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors.messages.account.keys import KeyMinted, KeyRotated, MintKey, RevokeKey, RotateKey
from pgs.domain.accounts import Account, ApiKey
from pgs.domain.environments import Environment
from pgs.domain.errors import refuse
from pgs.http.admin.gate import AdminCall, account_now, change
from pgs.http.admin.lists import LIST_QUERY, Wanted, cut, follow, wanted_page
from pgs.http.api.endpoint import Answer, Endpoint


class NewKey(msgspec.Struct, frozen=True):
    """The environment of a new key, and the label by which people will know it."""

    environment: Environment
    label: Annotated[str, msgspec.Meta(max_length=64)] | UnsetType = UNSET


class KeyRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A key without itself. `revokes_at`: when a scheduled one ends, or a revoked one ended; `last_used_at`: the latest use, roughly."""

    key_id: str
    environment: str
    label: str
    created_at: int
    last4: str
    status: str
    revokes_at: int | UnsetType = UNSET
    last_used_at: int | UnsetType = UNSET


class KeyPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the account's keys, the oldest first."""

    keys: list[KeyRecord]
    next_cursor: str | None
    has_more: bool


class MintedKey(msgspec.Struct, frozen=True, rename="camel"):
    """A key as it is shown once, to who made it."""

    key_id: str
    environment: str
    label: str
    created_at: int
    last4: str
    api_key: str


class Previous(msgspec.Struct, frozen=True, rename="camel"):
    """The key that was followed, and when it ends."""

    key_id: str
    revokes_at: int


class RotatedKey(MintedKey, frozen=True, rename="camel", kw_only=True):
    """The new key, shown once, and the one that it follows."""

    previous: Previous


_KIND = "admin.keys"


async def list_keys(call: AdminCall) -> Answer:
    """Return a page of the keys."""
    wanted = wanted_page(call, _KIND)
    if not isinstance(wanted, Wanted):
        return wanted
    account = account_now(call)
    shown, page = cut(call, _KIND, wanted, follow(account.keys, wanted, _id), _id)
    used = _used(call, account)
    return KeyPage([_record(call, key, used) for key in shown], page.next_cursor, page.has_more)


def _id(key: ApiKey) -> str:
    return key.key_id


def _used(call: AdminCall, account: Account) -> dict[str, int]:
    return call.services.parts.key_uses.of(
        account.partner_id, tuple(key.key_id for key in account.keys)
    )


def _record(call: AdminCall, key: ApiKey, used: Mapping[str, int]) -> KeyRecord:
    used_at = used.get(key.key_id)
    return KeyRecord(
        key.key_id,
        key.environment,
        key.label,
        key.created_at,
        key.last4,
        key.status(call.services.parts.clock.now()),
        UNSET if key.revokes_at is None else key.revokes_at,
        UNSET if used_at is None else used_at,
    )


def _minted(reply: KeyMinted | KeyRotated) -> dict[str, Any]:
    key = reply.key
    return {
        "key_id": key.key_id,
        "environment": key.environment,
        "label": key.label,
        "created_at": key.created_at,
        "last4": key.last4,
        "api_key": reply.text,
    }


async def mint_key(call: AdminCall) -> Answer:
    """Make a key."""
    body: NewKey = call.body
    if body.label is UNSET:
        return refuse("label_required")
    reply = await change(call, MintKey, body.environment, body.label)
    return MintedKey(**_minted(reply)) if isinstance(reply, KeyMinted) else reply


async def rotate_key(call: AdminCall) -> Answer:
    """Make a key that follows another, which works for seven more days."""
    reply = await change(call, RotateKey, call.path["key_id"])
    if not isinstance(reply, KeyRotated):
        return reply
    previous = Previous(reply.previous.key_id, reply.previous.revokes_at or 0)
    return RotatedKey(**_minted(reply), previous=previous)


async def revoke_key(call: AdminCall) -> Answer:
    """Revoke a key at once; return its record."""
    reply = await change(call, RevokeKey, call.path["key_id"])
    if not isinstance(reply, ApiKey):
        return reply
    return _record(call, reply, _used(call, account_now(call)))


_PATH = "/partner/admin/keys"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_PATH,
        handler=list_keys,
        response=KeyPage,
        credential="identity",
        query=LIST_QUERY,
        errors=("invalid_cursor",),
        summary="The account's API keys",
    ),
    Endpoint(
        method="POST",
        path=_PATH,
        handler=mint_key,
        request=NewKey,
        response=MintedKey,
        credential="identity",
        errors=("label_required", "partner_changed"),
        summary="Make an API key",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/{{key_id}}/rotate",
        handler=rotate_key,
        response=RotatedKey,
        credential="identity",
        errors=("key_not_found", "key_not_active", "partner_changed"),
        summary="Replace an API key",
    ),
    Endpoint(
        method="DELETE",
        path=f"{_PATH}/{{key_id}}",
        handler=revoke_key,
        response=KeyRecord,
        credential="identity",
        errors=("key_not_found", "partner_changed"),
        summary="Revoke an API key",
    ),
)
