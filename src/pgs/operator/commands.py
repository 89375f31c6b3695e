"""The operator's commands, as data: each one's name, its arguments, its answer and the function that does it.

They go through the same actors as everything else, in the service's process while it runs, else in that of the command line.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

import msgspec
import trio
from msgspec import Meta

from pgs.actors import messages as m
from pgs.actors.core import Core
from pgs.actors.kernel import Command
from pgs.domain.accounts import Account
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.members import UID_MAX, Member
from pgs.domain.seats import Match
from pgs.domain.tiers import Tier
from pgs.operator import records as r
from pgs.storage.accounts import read_account
from pgs.storage.backup import BadTarget, back_up
from pgs.storage.bulk import read_in_bulk
from pgs.storage.database import Reader
from pgs.storage.integrity import check_integrity, migrations_of
from pgs.storage.ledger import check_ledger
from pgs.storage.seats import find_match
from pgs.storage.webhooks import find_webhook

A = TypeVar("A", bound="Args")
R = TypeVar("R", bound=r.Record)

PAGE = 10_000  # partners in one answer: a few MB, a fraction of a second
MAX_RATE = 1_000_000  # requests: far beyond what one process serves
MAX_CENTS = 10**12  # a sum over a million of such seats still fits a bigint
NOTE_MAX = 500  # characters of the note that goes with a licence

# Bounds that only keep the absurd out; the rules proper are the actors'.
Id = Annotated[str, Meta(max_length=64)]
Text = Annotated[str, Meta(max_length=320)]
Cents = Annotated[int, Meta(ge=-MAX_CENTS, le=MAX_CENTS)]
Rate = Annotated[int, Meta(ge=-MAX_RATE, le=MAX_RATE)]


class Args(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A command's arguments."""


class NoArgs(Args, frozen=True):
    """Nothing."""


class NewPartner(Args, frozen=True):
    """Whom to open an account for, and the address of its first admin."""

    partner_id: Id
    name: Text
    admin_email: Text


class PartnersAfter(Args, frozen=True):
    """A page of partners: those whose ids come after one."""

    after: Id = ""
    limit: Annotated[int, Meta(ge=1, le=PAGE)] = PAGE


class PartnerId(Args, frozen=True):
    """A partner."""

    partner_id: Id


class PartnerRate(Args, frozen=True):
    """A partner and its bucket: requests at once, and requests a second. One that is left out stays as it is."""

    partner_id: Id
    burst: Rate | None = None
    rate: Rate | None = None


class MemberOf(Args, frozen=True):
    """A member of a partner, by the user id that their identity tokens carry."""

    partner_id: Id
    uid: Annotated[str, Meta(max_length=UID_MAX)]


class LicenceStep(Args, frozen=True):
    """What the platform says to a partner's live access to a game."""

    partner_id: Id
    game_id: Id
    step: Literal["grant", "deny", "withdraw"]
    note: Annotated[str, Meta(max_length=NOTE_MAX)] | None = None


class TierNumbers(Args, frozen=True):
    """A tier's numbers in US cents; without a name it keeps the one it has."""

    environment: Environment
    tier_id: Id
    floor_usd_cents: Cents
    prize_usd_cents: Cents
    name: Text | None = None


class TierOfGame(Args, frozen=True):
    """A tier and a game."""

    environment: Environment
    tier_id: Id
    game_id: Id


class NewTerms(Args, frozen=True):
    """Rake terms, whole."""

    text: str


class BackupFolder(Args, frozen=True):
    """Where a backup goes: an absolute path to a folder that does not exist or is empty."""

    folder: Annotated[str, Meta(min_length=1, max_length=4096)]


class MatchId(Args, frozen=True):
    """A match."""

    match_id: Id


class OperatorCommand(msgspec.Struct, Generic[A, R], frozen=True):
    """One command. `starts_a_folder`: it makes sense where there is no database yet, and makes one. `moves_money`: payouts follow it."""

    name: str
    args: type[A]
    result: type[R]
    run: Callable[[Core, A], Awaitable[R | Refusal | BadRequest]]
    starts_a_folder: bool = False
    moves_money: bool = False


def _no_partner(partner_id: str) -> BadRequest:
    return BadRequest(f"There is no partner {partner_id}; `pgs partner list` names those there are.")


def _read(core: Core, partner_id: str) -> Account | BadRequest:
    return read_account(core.parts.database.reader, partner_id) or _no_partner(partner_id)


def _record(core: Core, account: Account) -> r.PartnerRecord:
    parts = core.parts
    found = {environment: find_webhook(parts.database.reader, account.partner_id, environment) for environment in ENVIRONMENTS}
    webhooks = {environment: webhook for environment, webhook in found.items() if webhook is not None}
    book = parts.catalogue.book(trio.current_time())
    return r.partner_record(account, webhooks, book, parts.installed_games, parts.clock.now())


async def _change(core: Core, partner_id: str, command: Command[m.AccountReply]) -> r.PartnerRecord | Refusal | BadRequest:
    known = _read(core, partner_id)
    if isinstance(known, BadRequest):
        return known
    reply = await core.directory.house(partner_id).account().ask(command)
    return _record(core, reply) if isinstance(reply, Account) else reply


async def create_partner(core: Core, args: NewPartner) -> r.PartnerCreated | Refusal | BadRequest:
    """Open an account. Its first admin has an invite, and nothing else is there."""
    reply = await core.directory.house(args.partner_id).account().ask(m.CreatePartner(args.name, args.admin_email))
    if not isinstance(reply, tuple):
        return reply
    account, invite_id = reply
    return r.PartnerCreated(**msgspec.structs.asdict(_record(core, account)), invite_id=invite_id)


async def list_partners(core: Core, args: PartnersAfter) -> r.PartnerPage:
    """Return partners by id."""
    limit = min(args.limit, PAGE)
    accounts = [account for account in core.parts.registry.accounts() if account.partner_id > args.after]
    page = [r.summary_of(account) for account in accounts[:limit]]
    return r.PartnerPage(page, page[-1].partner_id if len(accounts) > limit else None)


async def show_partner(core: Core, args: PartnerId) -> r.PartnerRecord | BadRequest:
    """Return everything that decides a partner's calls."""
    account = _read(core, args.partner_id)
    return account if isinstance(account, BadRequest) else _record(core, account)


async def deactivate_partner(core: Core, args: PartnerId) -> r.PartnerSwitchedOff | Refusal | BadRequest:
    """Switch an account off, then end its seats and matches: once the mark is in rows, no new ones come up, whatever happens here."""
    known = _read(core, args.partner_id)
    if isinstance(known, BadRequest):
        return known
    reply, ended = await core.switch_off(args.partner_id, m.SwitchAccount(by=m.PLATFORM, active=False))
    if not isinstance(reply, Account):
        return reply
    return r.PartnerSwitchedOff(**msgspec.structs.asdict(_record(core, reply)), ended=ended)


async def reactivate_partner(core: Core, args: PartnerId) -> r.PartnerRecord | Refusal | BadRequest:
    """Switch an account on, once nothing is open of the time before."""
    known = _read(core, args.partner_id)
    if isinstance(known, BadRequest):
        return known
    reply = await core.switch_on(args.partner_id, m.SwitchAccount(by=m.PLATFORM, active=True))
    return _record(core, reply) if isinstance(reply, Account) else reply


async def set_partner(core: Core, args: PartnerRate) -> r.PartnerRecord | Refusal | BadRequest:
    """Give a partner a rate bucket of its own."""
    if args.burst is None and args.rate is None:
        return BadRequest("Nothing to set: name a burst, a rate or both.")
    return await _change(core, args.partner_id, m.SetRate(m.PLATFORM, args.burst, args.rate))


async def reset_authenticator(core: Core, args: MemberOf) -> r.AuthenticatorReset | Refusal | BadRequest:
    """Drop a member's authenticator, for who has lost it: they enrol a new one with their next sign-in."""
    known = _read(core, args.partner_id)
    if isinstance(known, BadRequest):
        return known
    reply = await core.directory.house(args.partner_id).account().ask(m.ResetFactor(m.PLATFORM, args.uid))
    return r.AuthenticatorReset(args.partner_id, reply.uid, reply.email, reply.role) if isinstance(reply, Member) else reply


async def step_licence(core: Core, args: LicenceStep) -> r.PartnerRecord | Refusal | BadRequest:
    """Grant or deny a request for live access, or withdraw what was granted."""
    answer = await _change(core, args.partner_id, m.ChangeLicence(m.PLATFORM, args.game_id, args.step, args.note))
    if isinstance(answer, BadRequest) and args.step != "withdraw":
        return BadRequest(f"{answer.message} The partner asks for it in its portal.")
    return answer


def _tier(core: Core, environment: Environment, tier_id: str) -> Tier:
    tier = core.parts.catalogue.current().find(environment, tier_id)
    if tier is None:
        raise RuntimeError(f"tier {tier_id} is gone")
    return tier


async def set_tier(core: Core, args: TierNumbers) -> r.TierRecord | Refusal | BadRequest:
    """Make a tier, or a new revision of one; seats that are taken keep theirs."""
    reply = await core.parts.catalogue.ref.ask(
        m.SetTier(args.environment, args.tier_id, args.name, args.floor_usd_cents, args.prize_usd_cents)
    )
    return r.tier_record(_tier(core, args.environment, args.tier_id)) if isinstance(reply, int) else reply


async def lock_tier(core: Core, args: TierOfGame) -> r.TierLocked | Refusal:
    """Take a tier out of a game."""
    return await _lock(core, args, locked=True)


async def unlock_tier(core: Core, args: TierOfGame) -> r.TierLocked | Refusal:
    """Offer a tier for a game again."""
    return await _lock(core, args, locked=False)


async def _lock(core: Core, args: TierOfGame, *, locked: bool) -> r.TierLocked | Refusal:
    reply = await core.parts.catalogue.ref.ask(m.LockTier(args.environment, args.tier_id, args.game_id, locked))
    if isinstance(reply, Refusal):
        return reply
    return r.TierLocked(**msgspec.structs.asdict(r.tier_record(_tier(core, args.environment, args.tier_id))), changed=reply)


async def list_tiers(core: Core, args: NoArgs) -> r.TierList:
    """Return every tier."""
    tiers = core.parts.catalogue.current().tiers
    return r.TierList(
        [r.tier_record(tiers[environment][tier_id]) for environment in ENVIRONMENTS for tier_id in sorted(tiers[environment])]
    )


async def publish_terms(core: Core, args: NewTerms) -> r.TermsPublished | BadRequest:
    """Offer new rake terms. Agreements to older ones stay in force."""
    reply = await core.parts.catalogue.ref.ask(m.PublishTerms(args.text))
    return r.TermsPublished(reply) if isinstance(reply, int) else reply


async def end_terms(core: Core, args: PartnerId) -> r.PartnerRecord | Refusal | BadRequest:
    """End a partner's agreement: no seat is taken until it agrees to what is on offer. What runs is played and paid."""
    return await _change(core, args.partner_id, m.EndTerms(m.PLATFORM))


async def void_match(core: Core, args: MatchId) -> r.MatchVoided | Refusal | BadRequest:
    """End a match without a contest: both stakes go back."""
    partner_ids = [account.partner_id for account in core.parts.registry.accounts()]

    def find(reader: Reader) -> Match | None:
        # A match is named within its partner: a look-up by key in each of them, some microseconds apiece.
        return next((match for partner_id in partner_ids if (match := find_match(reader, partner_id, args.match_id))), None)

    match = await read_in_bulk(core.parts.database, find)
    if match is None:
        return refuse("match_not_found")
    seats = core.directory.house(match.partner_id).seats(match.environment)
    reply = await seats.ask(m.DecideMatch(args.match_id, "no_contest", None, "platform_void"))
    if not isinstance(reply, m.MatchRecord):
        return reply
    match = reply.match
    return r.MatchVoided(match.match_id, match.partner_id, match.environment, match.status, match.end_reason)


async def check_the_ledger(core: Core, args: NoArgs) -> r.LedgerChecked:
    """Add the whole ledger up."""
    return r.ledger_checked(await read_in_bulk(core.parts.database, check_ledger, core.parts.database.check_limit))


async def check_the_database(core: Core, args: NoArgs) -> r.DatabaseChecked:
    """Let the database read itself from end to end."""
    problems = await check_integrity(core.parts.database)
    return r.DatabaseChecked(not problems, migrations_of(core.parts.database), problems)


async def migrate_the_database(core: Core, args: NoArgs) -> r.DatabaseMigrated:
    """Return the migrations that the database has had: opening it applied whatever was missing."""
    return r.DatabaseMigrated(migrations_of(core.parts.database))


async def back_up_the_database(core: Core, args: BackupFolder) -> r.DatabaseBackedUp | BadRequest:
    """Copy the database and the key ring, which is of no use without the other, into a folder."""
    folder = Path(args.folder)
    if not folder.is_absolute():
        return BadRequest("the folder must be an absolute path")

    at = core.parts.clock.now()
    try:
        copy = await back_up(core.parts.database, folder, core.parts.keys.copy_to)
    except BadTarget as error:
        return BadRequest(str(error))
    return r.DatabaseBackedUp(str(folder), (await trio.Path(copy).stat()).st_size, at)


async def rotate_the_keyring(core: Core, args: NoArgs) -> r.Keyring:
    """Put a new key in front of the ring. Whatever the others have made stays good."""
    ring = core.parts.keys.rotate()
    return r.Keyring(str(core.parts.keys.path), [key.kid for key in ring.keys])


async def list_the_keyring(core: Core, args: NoArgs) -> r.Keyring:
    """Name the keys on the ring."""
    return r.Keyring(str(core.parts.keys.path), [key.kid for key in core.parts.ring.keys])


PARTNER_CREATE = OperatorCommand("partner.create", NewPartner, r.PartnerCreated, create_partner, starts_a_folder=True)
PARTNER_LIST = OperatorCommand("partner.list", PartnersAfter, r.PartnerPage, list_partners)
PARTNER_SHOW = OperatorCommand("partner.show", PartnerId, r.PartnerRecord, show_partner)
PARTNER_DEACTIVATE = OperatorCommand("partner.deactivate", PartnerId, r.PartnerSwitchedOff, deactivate_partner, moves_money=True)
PARTNER_REACTIVATE = OperatorCommand("partner.reactivate", PartnerId, r.PartnerRecord, reactivate_partner)
PARTNER_SET = OperatorCommand("partner.set", PartnerRate, r.PartnerRecord, set_partner)
PARTNER_RESET_AUTHENTICATOR = OperatorCommand("partner.reset-authenticator", MemberOf, r.AuthenticatorReset, reset_authenticator)
GAME_LICENCE = OperatorCommand("game.licence", LicenceStep, r.PartnerRecord, step_licence)
TIER_SET = OperatorCommand("tier.set", TierNumbers, r.TierRecord, set_tier, starts_a_folder=True)
TIER_LOCK = OperatorCommand("tier.lock", TierOfGame, r.TierLocked, lock_tier)
TIER_UNLOCK = OperatorCommand("tier.unlock", TierOfGame, r.TierLocked, unlock_tier)
TIER_LIST = OperatorCommand("tier.list", NoArgs, r.TierList, list_tiers)
TERMS_PUBLISH = OperatorCommand("terms.publish", NewTerms, r.TermsPublished, publish_terms, starts_a_folder=True)
TERMS_END = OperatorCommand("terms.end", PartnerId, r.PartnerRecord, end_terms)
MATCH_VOID = OperatorCommand("match.void", MatchId, r.MatchVoided, void_match, moves_money=True)
LEDGER_CHECK = OperatorCommand("ledger.check", NoArgs, r.LedgerChecked, check_the_ledger)
DB_CHECK = OperatorCommand("db.check", NoArgs, r.DatabaseChecked, check_the_database)
DB_MIGRATE = OperatorCommand("db.migrate", NoArgs, r.DatabaseMigrated, migrate_the_database, starts_a_folder=True)
DB_BACKUP = OperatorCommand("db.backup", BackupFolder, r.DatabaseBackedUp, back_up_the_database)
KEYRING_ROTATE = OperatorCommand("keyring.rotate", NoArgs, r.Keyring, rotate_the_keyring)
KEYRING_LIST = OperatorCommand("keyring.list", NoArgs, r.Keyring, list_the_keyring)

_ALL: Final[tuple[OperatorCommand[Any, Any], ...]] = (
    PARTNER_CREATE,
    PARTNER_LIST,
    PARTNER_SHOW,
    PARTNER_DEACTIVATE,
    PARTNER_REACTIVATE,
    PARTNER_SET,
    PARTNER_RESET_AUTHENTICATOR,
    GAME_LICENCE,
    TIER_SET,
    TIER_LOCK,
    TIER_UNLOCK,
    TIER_LIST,
    TERMS_PUBLISH,
    TERMS_END,
    MATCH_VOID,
    LEDGER_CHECK,
    DB_CHECK,
    DB_MIGRATE,
    DB_BACKUP,
    KEYRING_ROTATE,
    KEYRING_LIST,
)

COMMANDS: Final[Mapping[str, OperatorCommand[Any, Any]]] = MappingProxyType({command.name: command for command in _ALL})
