"""What is decided about games, rake terms, prices, origins and version pins."""

from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write, as_committed
from pgs.actors.messages import account as m
from pgs.domain import licences
from pgs.domain.accounts import Account, Licence
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.origins import MAX_ORIGINS, normalise_origin
from pgs.domain.tiers import Price, check_price
from pgs.games.installed import GAMES
from pgs.storage import accounts as rows


def change_licence(account: Account, command: m.ChangeLicence, context: Context) -> AccountDecision:
    """Decide on a step of a game's licence."""
    if command.game_id not in GAMES:
        return refuse("unknown_game")
    was = account.licences.get(command.game_id, Licence())
    licence = licences.take_step(was, command.step, command.note)
    if isinstance(licence, Refusal | BadRequest):
        return licence
    if licence == was:
        return account
    after = replace(account, licences={**account.licences, command.game_id: licence})
    stmt = rows.put_licence(account.partner_id, command.game_id, licence)
    return Write(
        after, (stmt,), licences.action_of(command.step), {"gameId": command.game_id}, as_committed
    )


def agree_terms(account: Account, command: m.AgreeTerms, context: Context) -> AccountDecision:
    """Decide to agree to the terms on offer."""
    catalogue = context.catalogue()
    if catalogue is None:
        return refuse("settlement_unavailable")
    if command.version != catalogue.offered_terms_version:
        return BadRequest(f"version {command.version} is not on offer")
    if account.agreed_terms_version == command.version:
        return refuse("terms_already_agreed")
    after = replace(account, agreed_terms_version=command.version, agreed_terms_at=context.now)
    return Write(after, (), "rake_terms.agreed", {"version": command.version}, as_committed)


def end_terms(account: Account, command: m.EndTerms, context: Context) -> AccountDecision:
    """Decide to end the agreement in force. What runs is played and paid; new seats wait for another agreement."""
    if command.by != PLATFORM:
        return refuse("role_forbidden")
    if account.agreed_terms_version is None:
        return BadRequest("no terms are agreed")
    after = replace(account, agreed_terms_version=None, agreed_terms_at=None)
    return Write(
        after, (), "rake_terms.ended", {"version": account.agreed_terms_version}, as_committed
    )


def set_prices(account: Account, command: m.SetPrices, context: Context) -> AccountDecision:
    """Decide on the whole price map of an environment."""
    catalogue = context.catalogue()
    if catalogue is None:
        return refuse("settlement_unavailable")
    prices = {}
    for tier_id, entry in command.prices.items():
        tier = catalogue.find(command.environment, tier_id)
        refusal = check_price(tier, entry)
        if refusal is not None or tier is None:
            return refusal
        prices[tier_id] = Price(tier.current.revision, entry)
    after = replace(account, prices={**account.prices, command.environment: prices})
    stmts = rows.replace_prices(account.partner_id, command.environment, prices)
    detail = {"environment": command.environment, "prices": dict(command.prices)}
    return Write(after, stmts, "prices.set", detail, as_committed)


def add_origin(account: Account, command: m.AddOrigin, context: Context) -> AccountDecision:
    """Decide to register an origin."""
    origin = normalise_origin(command.origin, command.environment)
    if origin is None:
        return refuse("invalid_origin")
    held = account.origins[command.environment]
    if origin in held:
        return account
    if len(held) >= MAX_ORIGINS:
        return refuse("too_many_origins")
    after = replace(
        account, origins={**account.origins, command.environment: tuple(sorted((*held, origin)))}
    )
    stmt = rows.insert_origin(account.partner_id, command.environment, origin, context.now)
    return Write(
        after,
        (stmt,),
        "origin.added",
        {"environment": command.environment, "origin": origin},
        as_committed,
    )


def remove_origin(account: Account, command: m.RemoveOrigin, context: Context) -> AccountDecision:
    """Decide to remove an origin."""
    origin = normalise_origin(command.origin, command.environment)
    if origin is None:
        return refuse("invalid_origin")
    held = account.origins[command.environment]
    if origin not in held:
        return refuse("origin_not_found")
    kept = tuple(other for other in held if other != origin)
    after = replace(account, origins={**account.origins, command.environment: kept})
    stmt = rows.delete_origin(account.partner_id, command.environment, origin)
    return Write(
        after,
        (stmt,),
        "origin.removed",
        {"environment": command.environment, "origin": origin},
        as_committed,
    )


def set_pin(account: Account, command: m.SetPin, context: Context) -> AccountDecision:
    """Decide on the version on which an environment's calls are answered. Going back is as good as going forward."""
    if command.version not in context.versions.served:
        return refuse("unsupported_api_version")
    if account.pins[command.environment] == command.version:
        return account
    after = replace(account, pins={**account.pins, command.environment: command.version})
    detail = {"environment": command.environment, "version": command.version}
    return Write(after, (), "api_version.pinned", detail, as_committed)
