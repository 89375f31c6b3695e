"""What each account command decides: a pure function of the account, the command and the context. The actor commits it."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from email_validator import EmailNotValidError, validate_email

from pgs.actors import messages as m
from pgs.domain import ids, keys, licences
from pgs.domain.accounts import Account, ApiKey, Licence, Webhook, in_order
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.names import LABEL_MAX
from pgs.domain.origins import MAX_ORIGINS, normalise_origin
from pgs.domain.sealed import NONCE_BYTES, seal
from pgs.domain.secrets import WEBHOOK_SECRET_BYTES, webhook_secret
from pgs.domain.tiers import Price, TierBook, check_price
from pgs.domain.urls import normalise_webhook_url
from pgs.games.catalogue import GAMES
from pgs.storage import accounts as rows
from pgs.storage import webhooks
from pgs.storage.database import Stmt

INVITE_S = 7 * 24 * 3600


class Context(msgspec.Struct, frozen=True):
    """What a decision may look at besides the account: time, randomness, and what others have published."""

    now: int
    random: Callable[[int], bytes]
    book: Callable[[], TierBook | None]
    seal: Callable[[bytes, str, bytes], str]
    find_webhook: Callable[[Any], Webhook | None]
    find_endpoint: Callable[[Any], webhooks.Endpoint | None]


class Write(msgspec.Struct, frozen=True):
    """A decision to commit: the account after it, the rows beside the account's own, its event, and its answer.

    `answer` is given the account as committed. `endpoints`: the environments whose courier must look at its endpoint again.
    """

    account: Account
    stmts: tuple[Stmt, ...]
    action: str
    detail: Mapping[str, Any]
    answer: Callable[[Account], object]
    endpoints: tuple[Environment, ...] = ()


Decision = Write | object  # anything but a Write is the answer at once, and nothing is committed


def _account(account: Account) -> object:
    return account


def mint_key(account: Account, command: m.MintKey, context: Context) -> Decision:
    """Decide on a new key. The key itself is in the answer alone; rows and event hold its hash and last characters."""
    label = command.label.strip()
    if not label:
        return refuse("label_required")
    if len(label) > LABEL_MAX:
        return BadRequest(f"label must be at most {LABEL_MAX} characters")
    text = keys.make_key(command.environment, account.partner_id, context.random(keys.ENTROPY_BYTES))
    key_id = ids.new_id(ids.KEY, context.random(ids.ENTROPY_BYTES))
    key = ApiKey(key_id, command.environment, label, keys.hash_key(text), keys.last4(text), context.now)
    after = msgspec.structs.replace(account, keys=in_order((*account.keys, key)))
    detail = {"keyId": key_id, "environment": command.environment, "label": label, "last4": key.last4}
    return Write(after, rows.insert_key(account.partner_id, key), "key.created", detail, lambda committed: (committed, key_id, text))


def revoke_key(account: Account, command: m.RevokeKey, context: Context) -> Decision:
    """Decide to revoke a key now."""
    key = next((key for key in account.keys if key.key_id == command.key_id), None)
    if key is None:
        return refuse("key_not_found")
    if key.is_revoked(context.now):
        return account
    revoked = msgspec.structs.replace(key, revokes_at=context.now)
    after = msgspec.structs.replace(account, keys=tuple(revoked if other.key_id == key.key_id else other for other in account.keys))
    stmt = rows.schedule_revocation(account.partner_id, key.key_id, context.now)
    return Write(after, (stmt,), "key.revoked", {"keyId": key.key_id, "environment": key.environment}, _account)


def change_licence(account: Account, command: m.ChangeLicence, context: Context) -> Decision:
    """Decide on a step of a game's licence."""
    if command.game_id not in GAMES:
        return refuse("unknown_game")
    was = account.licences.get(command.game_id, Licence())
    licence = licences.take_step(was, command.step, command.note)
    if isinstance(licence, Refusal | BadRequest):
        return licence
    if licence == was:
        return account
    after = msgspec.structs.replace(account, licences={**account.licences, command.game_id: licence})
    stmt = rows.put_licence(account.partner_id, command.game_id, licence)
    return Write(after, (stmt,), licences.action_of(command.step), {"gameId": command.game_id}, _account)


def agree_terms(account: Account, command: m.AgreeTerms, context: Context) -> Decision:
    """Decide to agree to the terms on offer."""
    book = context.book()
    if book is None:
        return refuse("settlement_unavailable")
    if command.version != book.offered_terms_version:
        return BadRequest(f"version {command.version} is not on offer")
    if account.agreed_terms_version == command.version:
        return refuse("terms_already_agreed")
    after = msgspec.structs.replace(account, agreed_terms_version=command.version, agreed_terms_at=context.now)
    return Write(after, (), "rake_terms.agreed", {"version": command.version}, _account)


def set_prices(account: Account, command: m.SetPrices, context: Context) -> Decision:
    """Decide on the whole price map of an environment."""
    book = context.book()
    if book is None:
        return refuse("settlement_unavailable")
    prices = {}
    for tier_id, entry in command.prices.items():
        tier = book.find(command.environment, tier_id)
        refusal = check_price(tier, entry)
        if refusal is not None or tier is None:
            return refusal
        prices[tier_id] = Price(tier.current.revision, entry)
    after = msgspec.structs.replace(account, prices={**account.prices, command.environment: prices})
    stmts = rows.replace_prices(account.partner_id, command.environment, prices)
    return Write(after, stmts, "prices.set", {"environment": command.environment, "prices": dict(command.prices)}, _account)


def add_origin(account: Account, command: m.AddOrigin, context: Context) -> Decision:
    """Decide to register an origin."""
    origin = normalise_origin(command.origin, command.environment)
    if origin is None:
        return refuse("invalid_origin")
    held = account.origins[command.environment]
    if origin in held:
        return account
    if len(held) >= MAX_ORIGINS:
        return refuse("too_many_origins")
    after = msgspec.structs.replace(account, origins={**account.origins, command.environment: tuple(sorted((*held, origin)))})
    stmt = rows.insert_origin(account.partner_id, command.environment, origin, context.now)
    return Write(after, (stmt,), "origin.added", {"environment": command.environment, "origin": origin}, _account)


def remove_origin(account: Account, command: m.RemoveOrigin, context: Context) -> Decision:
    """Decide to remove an origin."""
    origin = normalise_origin(command.origin, command.environment)
    if origin is None:
        return refuse("invalid_origin")
    held = account.origins[command.environment]
    if origin not in held:
        return refuse("origin_not_found")
    kept = tuple(other for other in held if other != origin)
    after = msgspec.structs.replace(account, origins={**account.origins, command.environment: kept})
    stmt = rows.delete_origin(account.partner_id, command.environment, origin)
    return Write(after, (stmt,), "origin.removed", {"environment": command.environment, "origin": origin}, _account)


def save_webhook(account: Account, command: m.SaveWebhook, context: Context) -> Decision:
    """Decide on a webhook's URL, which switches the endpoint on. The first one mints the signing secret; a later one keeps it."""
    url = normalise_webhook_url(command.url)
    if url is None:
        return refuse("invalid_webhook_url")
    environment, detail = command.environment, {"environment": command.environment, "url": url}
    after = msgspec.structs.replace(account, webhook_on=account.webhook_on | {environment})
    was = context.find_webhook(environment)
    if was is not None:
        saved = msgspec.structs.replace(was, url=url, enabled=True, consecutive_failures=0, disabled_at=None)
        stmt = webhooks.save_url(account.partner_id, environment, url)
        return Write(after, (stmt,), "webhook.saved", detail, lambda _: (saved, None), (environment,))
    secret, sealed = _new_secret(account, environment, context)
    new = Webhook(url, True, 0, context.now, context.now, None)
    stmt = webhooks.insert_webhook(account.partner_id, environment, url, sealed, context.now)
    return Write(after, (stmt,), "webhook.saved", detail, lambda _: (new, secret), (environment,))


def rotate_webhook_secret(account: Account, command: m.RotateWebhookSecret, context: Context) -> Decision:
    """Decide on a new signing secret; everything else about the endpoint stays as it is."""
    was = context.find_webhook(command.environment)
    if was is None:
        return refuse("webhook_not_configured")
    secret, sealed = _new_secret(account, command.environment, context)
    rotated = msgspec.structs.replace(was, secret_rotated_at=context.now)
    stmt = webhooks.rotate_secret(account.partner_id, command.environment, sealed, context.now)
    detail = {"environment": command.environment}
    return Write(account, (stmt,), "webhook.secret_rotated", detail, lambda _: (rotated, secret), (command.environment,))


def disable_webhook(account: Account, command: m.DisableWebhook, context: Context) -> Decision:
    """Decide to switch an endpoint off. It stays on file; one that is off already, or was saved anew meanwhile, is left alone."""
    was, endpoint = context.find_webhook(command.environment), context.find_endpoint(command.environment)
    if was is None or endpoint is None:
        return refuse("webhook_not_configured")
    if not was.enabled or command.saved_seq not in (None, endpoint.saved_seq):
        return was
    off = msgspec.structs.replace(was, enabled=False, disabled_at=context.now)
    after = msgspec.structs.replace(account, webhook_on=account.webhook_on - {command.environment})
    stmt = webhooks.disable(account.partner_id, command.environment, context.now)
    detail = {"environment": command.environment, "consecutiveFailures": was.consecutive_failures}
    return Write(after, (stmt,), "webhook.disabled", detail, lambda _: off, (command.environment,))


def _new_secret(account: Account, environment: Environment, context: Context) -> tuple[str, str]:
    secret = webhook_secret(context.random(WEBHOOK_SECRET_BYTES))
    return secret, context.seal(secret.encode(), webhook_context(account.partner_id, environment), context.random(NONCE_BYTES))


def webhook_context(partner_id: str, environment: str) -> str:
    """Return what a webhook's secret is sealed for."""
    return f"{partner_id}|{environment}|webhook"


def switch_account(account: Account, command: m.SwitchAccount, context: Context) -> Decision:
    """Decide to switch an account on or off. What the platform switched off only the platform switches on."""
    if account.active == command.active:
        return refuse("account_active" if account.active else "account_inactive")
    if command.active and account.switched_off_by == m.PLATFORM and command.by != m.PLATFORM:
        return refuse("role_forbidden")
    after = msgspec.structs.replace(account, active=command.active, switched_off_by=None if command.active else command.by)
    return Write(after, (), "account.reactivated" if command.active else "account.deactivated", {}, _account, ENVIRONMENTS)


def set_rate(account: Account, command: m.SetRate, context: Context) -> Decision:
    """Decide on a partner's own rate bucket."""
    for name, value in (("burst", command.burst), ("rate", command.rate)):
        if value is not None and value < 1:
            return BadRequest(f"{name} must be at least 1")
    after = msgspec.structs.replace(
        account,
        burst=account.burst if command.burst is None else command.burst,
        rate=account.rate if command.rate is None else command.rate,
    )
    return Write(after, (), "account.rate_set", {"burst": after.burst, "rate": after.rate}, _account)


def create(partner_id: str, command: m.CreatePartner, context: Context, pin: int) -> Write | BadRequest | Refusal:
    """Decide to open an account. It holds nothing yet but an invite for its first admin."""
    name = command.name.strip()
    if not name or len(name) > LABEL_MAX:
        return BadRequest(f"name must be 1 to {LABEL_MAX} characters")
    try:
        email = validate_email(command.admin_email, check_deliverability=False).normalized
    except EmailNotValidError:
        return refuse("invalid_email")
    account = Account(
        partner_id=partner_id,
        name=name,
        active=True,
        switched_off_by=None,
        revision=0,
        burst=None,
        rate=None,
        pins={"test": pin, "live": pin},
        generations={"test": 0, "live": 0},
        admin_domain=None,
        agreed_terms_version=None,
        agreed_terms_at=None,
        event_seq=0,
        created_at=context.now,
        keys=(),
        licences={},
        origins={"test": (), "live": ()},
        prices={"test": {}, "live": {}},
    )
    invite_id = ids.new_id(ids.INVITE, context.random(ids.ENTROPY_BYTES))
    stmt = rows.insert_invite(partner_id, invite_id, email, "admin", context.now, context.now + INVITE_S)
    return Write(account, (stmt,), "account.created", {"name": name}, lambda committed: (committed, invite_id))


RULES: Mapping[type, Callable[[Account, Any, Context], Decision]] = {
    m.MintKey: mint_key,
    m.RevokeKey: revoke_key,
    m.ChangeLicence: change_licence,
    m.AgreeTerms: agree_terms,
    m.SetPrices: set_prices,
    m.AddOrigin: add_origin,
    m.RemoveOrigin: remove_origin,
    m.SaveWebhook: save_webhook,
    m.RotateWebhookSecret: rotate_webhook_secret,
    m.DisableWebhook: disable_webhook,
    m.SwitchAccount: switch_account,
    m.SetRate: set_rate,
}


def seal_with(ring: Any) -> Callable[[bytes, str, bytes], str]:
    """Return a function that seals with a key ring."""
    return lambda plaintext, purpose, nonce: seal(ring, plaintext, purpose, nonce)
