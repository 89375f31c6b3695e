"""What is decided about API keys."""

from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write, as_committed
from pgs.actors.messages import account as m
from pgs.domain import ids, keys
from pgs.domain.accounts import Account, ApiKey, in_order
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.names import LABEL_MAX
from pgs.storage import accounts as rows

_FULL = BadRequest(f"an account has at most {keys.KEYS_MAX} keys, revoked ones included")


def mint_key(account: Account, command: m.MintKey, context: Context) -> AccountDecision:
    """Decide on a new key. The key itself is in the answer alone; rows and event hold its hash and last characters."""
    label = command.label.strip()
    if not label:
        return refuse("label_required")
    if len(label) > LABEL_MAX:
        return BadRequest(f"label must be at most {LABEL_MAX} characters")
    if len(account.keys) >= keys.KEYS_MAX:
        return _FULL
    key, text = _new_key(account, command.environment, label, context)
    after = replace(account, keys=in_order((*account.keys, key)))
    detail = {
        "keyId": key.key_id,
        "environment": command.environment,
        "label": label,
        "last4": key.last4,
    }
    return Write(
        after,
        rows.insert_key(account.partner_id, key),
        "key.created",
        detail,
        lambda committed: (committed, key.key_id, text),
    )


def rotate_key(account: Account, command: m.RotateKey, context: Context) -> AccountDecision:
    """Decide on a key that follows an active one, with its label. The old one works for `ROTATION_S` more."""
    was = _find(account, command.key_id)
    if was is None:
        return refuse("key_not_found")
    if was.revokes_at is not None:
        return refuse("key_not_active")
    if len(account.keys) >= keys.KEYS_MAX:
        return _FULL
    key, text = _new_key(account, was.environment, was.label, context)
    previous = replace(was, revokes_at=context.now + keys.ROTATION_S)
    after = replace(account, keys=in_order((*_with(account, previous), key)))
    stmts = (
        *rows.insert_key(account.partner_id, key),
        rows.schedule_revocation(account.partner_id, was.key_id, context.now + keys.ROTATION_S),
    )
    detail = {
        "keyId": was.key_id,
        "environment": was.environment,
        "revokesAt": previous.revokes_at,
        "newKeyId": key.key_id,
        "last4": key.last4,
    }
    return Write(after, stmts, "key.rotated", detail, lambda _: m.KeyRotated(key, text, previous))


def revoke_key(account: Account, command: m.RevokeKey, context: Context) -> AccountDecision:
    """Decide to revoke a key now."""
    key = _find(account, command.key_id)
    if key is None:
        return refuse("key_not_found")
    if key.is_revoked(context.now):
        return account
    after = replace(account, keys=_with(account, replace(key, revokes_at=context.now)))
    stmt = rows.schedule_revocation(account.partner_id, key.key_id, context.now)
    return Write(
        after,
        (stmt,),
        "key.revoked",
        {"keyId": key.key_id, "environment": key.environment},
        as_committed,
    )


def _find(account: Account, key_id: str) -> ApiKey | None:
    return next((key for key in account.keys if key.key_id == key_id), None)


def _with(account: Account, key: ApiKey) -> tuple[ApiKey, ...]:
    return tuple(key if other.key_id == key.key_id else other for other in account.keys)


def _new_key(
    account: Account, environment: Environment, label: str, context: Context
) -> tuple[ApiKey, str]:
    text = keys.make_key(environment, account.partner_id, context.random(keys.ENTROPY_BYTES))
    return ApiKey(
        context.new_id(ids.KEY),
        environment,
        label,
        keys.hash_key(text),
        keys.last4(text),
        context.now,
    ), text
