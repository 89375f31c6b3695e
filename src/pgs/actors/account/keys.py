"""The rules about API keys."""

import msgspec
from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write
from pgs.actors.messages.account.keys import KeyMinted, KeyRotated, MintKey, RevokeKey, RotateKey
from pgs.domain import ids, keys
from pgs.domain.accounts import Account, ApiKey, in_order
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.names import LABEL_MAX, fault_of_text
from pgs.domain.secrets import HidesSecrets
from pgs.storage import accounts as rows

_FULL = BadRequest(f"an account has at most {keys.KEYS_MAX} keys, revoked ones included")


class _NewKey(HidesSecrets, msgspec.Struct, frozen=True):
    """A key's record with its text, which only the reply contains."""

    SECRETS = frozenset({"text"})

    key: ApiKey
    text: str


def mint_key(account: Account, command: MintKey, context: Context) -> AccountDecision:
    """Decide to add a key. Rows and event do not contain its text."""
    label = command.label.strip()
    if not label:
        return refuse("label_required")
    if len(label) > LABEL_MAX:
        return BadRequest(f"label must be at most {LABEL_MAX} characters")
    fault = fault_of_text(label)
    if fault is not None:
        return BadRequest(f"label {fault}")
    if len(account.keys) >= keys.KEYS_MAX:
        return _FULL
    new = _new_key(account, command.environment, label, command.by, context)
    detail = {
        "keyId": new.key.key_id,
        "environment": command.environment,
        "label": label,
        "last4": new.key.last4,
    }
    return Write(
        account=replace(account, keys=in_order((*account.keys, new.key))),
        stmts=rows.insert_key(account.partner_id, new.key),
        action="key.created",
        detail=detail,
        reply=lambda _: KeyMinted(new.key, new.text),
    )


def rotate_key(account: Account, command: RotateKey, context: Context) -> AccountDecision:
    """Decide to replace an active key with a new one of the same label.

    The old key works for `ROTATION_S` longer.
    """
    was = _find(account, command.key_id)
    if was is None:
        return refuse("key_not_found")
    if was.revokes_at is not None:
        return refuse("key_not_active")
    if len(account.keys) >= keys.KEYS_MAX:
        return _FULL
    new = _new_key(account, was.environment, was.label, command.by, context)
    revokes_at = context.now + keys.ROTATION_S
    previous = replace(was, revokes_at=revokes_at)
    detail = {
        "keyId": was.key_id,
        "environment": was.environment,
        "revokesAt": revokes_at,
        "newKeyId": new.key.key_id,
        "last4": new.key.last4,
    }
    return Write(
        account=replace(account, keys=in_order((*_with(account, previous), new.key))),
        stmts=(
            *rows.insert_key(account.partner_id, new.key),
            rows.schedule_revocation(account.partner_id, was.key_id, revokes_at),
        ),
        action="key.rotated",
        detail=detail,
        reply=lambda _: KeyRotated(new.key, new.text, previous),
    )


def revoke_key(account: Account, command: RevokeKey, context: Context) -> AccountDecision:
    """Decide to revoke a key at once."""
    key = _find(account, command.key_id)
    if key is None:
        return refuse("key_not_found")
    if key.is_revoked(context.now):
        return key
    revoked = replace(key, revokes_at=context.now)
    return Write(
        account=replace(account, keys=_with(account, revoked)),
        stmts=(rows.schedule_revocation(account.partner_id, key.key_id, context.now),),
        action="key.revoked",
        detail={"keyId": key.key_id, "environment": key.environment},
        reply=lambda _: revoked,
    )


def _find(account: Account, key_id: str) -> ApiKey | None:
    return next((key for key in account.keys if key.key_id == key_id), None)


def _with(account: Account, key: ApiKey) -> tuple[ApiKey, ...]:
    return tuple(key if other.key_id == key.key_id else other for other in account.keys)


def _new_key(
    account: Account, environment: Environment, label: str, by: str, context: Context
) -> _NewKey:
    text = keys.make_key(environment, account.partner_id, context.random(keys.ENTROPY_BYTES))
    key = ApiKey(
        key_id=context.new_id(ids.KEY),
        environment=environment,
        label=label,
        key_hash=keys.hash_key(text),
        last4=keys.last4(text),
        created_at=context.now,
        created_by=None if by == PLATFORM else by,
    )
    return _NewKey(key, text)
