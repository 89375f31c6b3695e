"""API keys. Only the call that makes a key shows its text."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors.kernel.written import already_written
from pgs.actors.messages.account.keys import KeyMinted, KeyRotated, MintKey, RevokeKey, RotateKey
from pgs.domain.accounts import Account, ApiKey
from pgs.domain.environments import Environment
from pgs.domain.errors import refuse
from pgs.domain.names import LABEL_MAX
from pgs.domain.secrets import HidesSecrets
from pgs.http.admin.authorization import AdminCall, account_now, change
from pgs.http.admin.endpoints import admin_list, admin_write
from pgs.http.api.endpoint import Answer
from pgs.http.api.lists import Wanted, cut, follow, wanted_page
from pgs.http.api.responses import or_unset


class NewKey(msgspec.Struct, frozen=True):
    """The environment of a new key, and its label."""

    environment: Environment
    label: Annotated[str, msgspec.Meta(max_length=LABEL_MAX)] | UnsetType = UNSET


class KeyRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A key without its text. Times in epoch seconds.

    `revokes_at`: when the key stops or stopped working. `last_used_at`: its latest use, to within
    an hour. `created_by`: the uid of the member who made it, absent if the platform did.
    """

    key_id: str
    environment: str
    label: str
    created_at: int
    last4: str
    status: str
    revokes_at: int | UnsetType = UNSET
    last_used_at: int | UnsetType = UNSET
    created_by: str | UnsetType = UNSET


class KeyPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the account's keys, the oldest first."""

    keys: list[KeyRecord]
    next_cursor: str | None
    has_more: bool


class MintedKey(HidesSecrets, msgspec.Struct, frozen=True, rename="camel"):
    """A new key with its text, `api_key`."""

    SECRETS = frozenset({"api_key"})

    key_id: str
    environment: str
    label: str
    created_at: int
    last4: str
    api_key: str


class Previous(msgspec.Struct, frozen=True, rename="camel"):
    """The key that is replaced, and when it stops working."""

    key_id: str
    revokes_at: int


class RotatedKey(MintedKey, frozen=True, rename="camel", kw_only=True):
    """The new key, and the one that it replaces."""

    previous: Previous


_KIND = "admin.keys"


async def list_keys(call: AdminCall) -> Answer:
    wanted = wanted_page(call, _KIND)
    if not isinstance(wanted, Wanted):
        return wanted
    account = account_now(call)
    shown, page = cut(call, _KIND, wanted, follow(account.keys, wanted, _id), _id)
    used = await _used(call, account)
    return KeyPage([_record(call, key, used) for key in shown], page.next_cursor, page.has_more)


def _id(key: ApiKey) -> str:
    return key.key_id


async def _used(call: AdminCall, account: Account) -> dict[str, int]:
    return await call.services.parts.key_uses.of(
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
        or_unset(key.revokes_at),
        or_unset(used_at),
        or_unset(key.created_by),
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
    body: NewKey = call.body
    if body.label is UNSET:
        return refuse("label_required")
    reply = await change(call, MintKey, body.environment, body.label)
    return MintedKey(**_minted(reply)) if isinstance(reply, KeyMinted) else reply


async def rotate_key(call: AdminCall) -> Answer:
    """Replace a key. The old key works for seven more days."""
    reply = await change(call, RotateKey, call.path["key_id"])
    if not isinstance(reply, KeyRotated):
        return reply
    previous = Previous(reply.previous.key_id, reply.previous.revokes_at or 0)
    return RotatedKey(**_minted(reply), previous=previous)


async def revoke_key(call: AdminCall) -> Answer:
    """Revoke a key immediately; return its record."""
    reply = await change(call, RevokeKey, call.path["key_id"])
    if not isinstance(reply, ApiKey):
        return reply
    with already_written():
        return _record(call, reply, await _used(call, account_now(call)))


ENDPOINTS = (
    admin_list("keys", list_keys, KeyPage, "The account's API keys"),
    admin_write(
        "POST",
        "keys",
        mint_key,
        MintedKey,
        "Make an API key",
        request=NewKey,
        errors=("label_required",),
    ),
    admin_write(
        "POST",
        "keys/{key_id}/rotate",
        rotate_key,
        RotatedKey,
        "Replace an API key",
        errors=("key_not_found", "key_not_active"),
    ),
    admin_write(
        "DELETE",
        "keys/{key_id}",
        revoke_key,
        KeyRecord,
        "Revoke an API key",
        errors=("key_not_found",),
    ),
)
