"""The rules about licences, rake terms, prices, origins, version pins, rate and admin domain."""

from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write, as_committed
from pgs.actors.account.lifecycle import account_name
from pgs.actors.messages.account.settings import (
    AddOrigin,
    AgreeTerms,
    ChangeLicence,
    CorrectAccount,
    EndTerms,
    RemoveOrigin,
    SetDomain,
    SetPin,
    SetPrices,
    SetRate,
)
from pgs.domain import admin_domains, licences
from pgs.domain.accounts import Account, Licence
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.origins import LIVE_ORIGIN, MAX_ORIGINS, normalise_origin
from pgs.domain.tiers import Price, check_price
from pgs.domain.token_buckets import check_bucket
from pgs.games.installed import GAMES
from pgs.storage import accounts as rows


def change_licence(account: Account, command: ChangeLicence, context: Context) -> AccountDecision:
    """Decide to change a game's licence by one step."""
    if command.game_id not in GAMES:
        return refuse("unknown_game")
    was = account.licences.get(command.game_id, Licence())
    licence = licences.take_step(was, command.step, command.note)
    if isinstance(licence, Refusal | BadRequest):
        return licence
    if licence == was:
        return account
    return Write(
        account=replace(account, licences={**account.licences, command.game_id: licence}),
        stmts=(rows.put_licence(account.partner_id, command.game_id, licence),),
        action=licences.action_of(command.step),
        detail={"gameId": command.game_id},
        reply=as_committed,
    )


def agree_terms(account: Account, command: AgreeTerms, context: Context) -> AccountDecision:
    """Decide to agree to the terms on offer."""
    catalogue = context.catalogue()
    if catalogue is None:
        return refuse("settlement_unavailable")
    if command.version != catalogue.offered_terms_version:
        return BadRequest(f"version {command.version} is not on offer")
    if account.agreed_terms_version == command.version:
        return refuse("terms_already_agreed")
    return Write(
        account=replace(account, agreed_terms_version=command.version, agreed_terms_at=context.now),
        stmts=(),
        action="rake_terms.agreed",
        detail={"version": command.version},
        reply=as_committed,
    )


def end_terms(account: Account, command: EndTerms, context: Context) -> AccountDecision:
    """Decide to end the agreement in force.

    Running matches are played and paid out. New seats are refused until terms are agreed again.
    """
    if command.by != PLATFORM:
        return refuse("role_forbidden")
    if account.agreed_terms_version is None:
        return BadRequest("no terms are agreed")
    return Write(
        account=replace(account, agreed_terms_version=None, agreed_terms_at=None),
        stmts=(),
        action="rake_terms.ended",
        detail={"version": account.agreed_terms_version},
        reply=as_committed,
    )


def set_prices(account: Account, command: SetPrices, context: Context) -> AccountDecision:
    """Decide to replace all prices of an environment."""
    catalogue = context.catalogue()
    if catalogue is None:
        return refuse("settlement_unavailable")
    prices = {}
    for tier_id, entry_usd_cents in command.prices.items():
        tier = catalogue.find(command.environment, tier_id)
        refusal = check_price(tier, entry_usd_cents)
        if refusal is not None or tier is None:
            return refusal
        prices[tier_id] = Price(tier.current.revision, entry_usd_cents)
    return Write(
        account=replace(account, prices={**account.prices, command.environment: prices}),
        stmts=rows.replace_prices(account.partner_id, command.environment, prices),
        action="prices.set",
        detail={"environment": command.environment, "prices": dict(command.prices)},
        reply=as_committed,
    )


def add_origin(account: Account, command: AddOrigin, context: Context) -> AccountDecision:
    """Decide to register an origin."""
    environment = command.environment
    origin = normalise_origin(command.origin, environment)
    if origin is None:
        insecure = environment == "live" and normalise_origin(command.origin, "test") is not None
        refusal = refuse("invalid_origin")
        return refusal.saying(LIVE_ORIGIN) if insecure else refusal
    held = account.origins[environment]
    if origin in held:
        return account
    if len(held) >= MAX_ORIGINS:
        return refuse("too_many_origins")
    origins = {**account.origins, environment: tuple(sorted((*held, origin)))}
    return Write(
        account=replace(account, origins=origins),
        stmts=(rows.insert_origin(account.partner_id, environment, origin, context.now),),
        action="origin.added",
        detail={"environment": environment, "origin": origin},
        reply=as_committed,
    )


def remove_origin(account: Account, command: RemoveOrigin, context: Context) -> AccountDecision:
    environment = command.environment
    origin = normalise_origin(command.origin, environment)
    if origin is None:
        return refuse("invalid_origin")
    held = account.origins[environment]
    if origin not in held:
        return refuse("origin_not_found")
    kept = tuple(other for other in held if other != origin)
    return Write(
        account=replace(account, origins={**account.origins, environment: kept}),
        stmts=(rows.delete_origin(account.partner_id, environment, origin),),
        action="origin.removed",
        detail={"environment": environment, "origin": origin},
        reply=as_committed,
    )


def set_pin(account: Account, command: SetPin, context: Context) -> AccountDecision:
    """Decide to pin an environment to an API version, which may be older than the current pin."""
    if command.version not in context.versions.served:
        return refuse("unsupported_api_version")
    if account.pins[command.environment] == command.version:
        return account
    return Write(
        account=replace(account, pins={**account.pins, command.environment: command.version}),
        stmts=(),
        action="api_version.pinned",
        detail={"environment": command.environment, "version": command.version},
        reply=as_committed,
    )


def set_domain(account: Account, command: SetDomain, context: Context) -> AccountDecision:
    """Decide to set the domain that the addresses of new invites must have.

    Members and invites with addresses of other domains stay.
    """
    domain = admin_domains.set_domain(command.domain, account.admin_domain, command.email)
    if isinstance(domain, Refusal):
        return domain
    return Write(
        account=replace(account, admin_domain=domain),
        stmts=(),
        action="account.domain_set",
        detail={"domain": domain},
        reply=as_committed,
    )


def correct_account(account: Account, command: CorrectAccount, context: Context) -> AccountDecision:
    """Decide to correct an account's name, domain, burst and rate, as far as they are given.

    If one of them is wrong, nothing is corrected. Members and invites with addresses of other
    domains stay; nobody outside the new domain can accept an invite.
    """
    if command.by != PLATFORM:
        return refuse("role_forbidden")
    wrong = check_bucket(command.burst, command.rate)
    if wrong is not None:
        return wrong
    detail: dict[str, object] = {}
    after = account
    if command.name is not None:
        name = account_name(command.name)
        if isinstance(name, BadRequest):
            return name
        after, detail["name"] = replace(after, name=name), name
    if command.domain is not None:
        domain = admin_domains.normalise_domain(command.domain) if command.domain else None
        if domain is None and command.domain:
            return refuse("invalid_domain")
        after, detail["domain"] = replace(after, admin_domain=domain), domain
    for field in ("burst", "rate"):
        value = getattr(command, field)
        if value is not None:
            after, detail[field] = replace(after, **{field: value}), value
    return Write(
        account=after,
        stmts=(),
        action="account.corrected",
        detail=detail,
        reply=as_committed,
    )


def set_rate(account: Account, command: SetRate, context: Context) -> AccountDecision:
    """Decide to change a partner's burst and rate, as far as they are given."""
    wrong = check_bucket(command.burst, command.rate)
    if wrong is not None:
        return wrong
    burst = account.burst if command.burst is None else command.burst
    rate = account.rate if command.rate is None else command.rate
    return Write(
        account=replace(account, burst=burst, rate=rate),
        stmts=(),
        action="account.rate_set",
        detail={"burst": burst, "rate": rate},
        reply=as_committed,
    )
