"""What operators are shown: accounts, tiers and reports, without any secret or hash. Absent means not set."""

from collections.abc import Collection
from typing import Self

import msgspec

from pgs.actors.shared.admission import policy_of
from pgs.domain.accounts import Account, Webhook
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.tiers import Tier, TierCatalogue, effective_prices
from pgs.storage.ledger import LedgerReport


class Record(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A record as JSON shows it: a field that is not set is absent."""

    @classmethod
    def of(cls, source: object, **more: object) -> Self:
        """Return the record of `source`: a field is what `source` has by its name, unless `more` gives it."""
        return cls(
            **{name: getattr(source, name) for name in cls.__struct_fields__ if name not in more},
            **more,
        )


class KeyRecord(Record, frozen=True):
    """An API key's record. `status` is `active`, `scheduled` or `revoked`."""

    key_id: str
    environment: Environment
    label: str
    status: str
    last4: str
    created_at: int
    revokes_at: int | None = None


class MemberRecord(Record, frozen=True):
    """A member: `uid` is the `sub` of their identity tokens."""

    uid: str
    email: str
    role: str


class LicenceRecord(Record, frozen=True):
    """What a partner may do with a game. `live` is `none`, `requested`, `granted`, `denied` or `withdrawn`.

    `installed` is false, and shown, where this installation cannot run the game, whatever the licence says.
    """

    game_id: str
    test: bool
    live: str
    note: str | None = None
    installed: bool = True


class WebhookRecord(Record, frozen=True):
    """A webhook endpoint."""

    url: str
    enabled: bool
    consecutive_failures: int
    disabled_at: int | None = None


class PartnerSummary(Record, frozen=True):
    """A partner as one line of a list. Times are epoch seconds."""

    partner_id: str
    name: str
    active: bool
    created_at: int
    revision: int


class PartnerPage(Record, frozen=True):
    """Partners by id; `next_after` is where the next page begins, absent on the last one."""

    partners: list[PartnerSummary]
    next_after: str | None = None


class PartnerRecord(PartnerSummary, frozen=True, kw_only=True):
    """Everything that decides a partner's calls. `games` can be launched here, `prices` are US cents by tier id as they count."""

    burst: int
    rate: int
    games: dict[Environment, list[str]]
    licences: list[LicenceRecord]
    members: list[MemberRecord]
    keys: list[KeyRecord]
    origins: dict[Environment, tuple[str, ...]]
    prices: dict[Environment, dict[str, int]]
    webhooks: dict[Environment, WebhookRecord]
    pins: dict[Environment, int]
    switched_off_by: str | None = None
    agreed_terms_version: int | None = None
    agreed_terms_at: int | None = None
    admin_domain: str | None = None


class PartnerCreated(PartnerRecord, frozen=True, kw_only=True):
    """A new partner, with the invite that its first admin accepts."""

    invite_id: str


class PartnerSwitchedOff(PartnerRecord, frozen=True, kw_only=True):
    """A partner switched off, and how many waiting seats and running matches that ended."""

    ended: int


class AuthenticatorReset(Record, frozen=True):
    """A member who has no authenticator any more."""

    partner_id: str
    uid: str
    email: str
    role: str


class TierRecord(Record, frozen=True):
    """A tier as new seats are taken under it. `locked_games`: where an operator locked it; `pays_in`: its prize is over both floors."""

    environment: Environment
    tier_id: str
    revision: int
    name: str
    floor_usd_cents: int
    prize_usd_cents: int
    locked_games: list[str]
    pays_in: bool


class TierLocked(TierRecord, frozen=True, kw_only=True):
    """A tier after locking or unlocking it for a game, and whether that changed anything."""

    changed: bool


class TierList(Record, frozen=True):
    """Every tier of both environments, by environment and id."""

    tiers: list[TierRecord]


class TermsPublished(Record, frozen=True):
    """The version of the rake terms that are on offer now."""

    version: int


class MatchVoided(Record, frozen=True):
    """A match as it stands after it was voided."""

    match_id: str
    partner_id: str
    environment: Environment
    status: str
    end_reason: str | None = None


class Balance(Record, frozen=True):
    """What the lines of one ledger account add up to."""

    environment: str
    account: str
    amount_usd_cents: int
    lines: int


class LedgerChecked(Record, frozen=True):
    """What the ledger adds up to, and what is wrong with it."""

    sound: bool
    sum_usd_cents: int
    escrow_usd_cents: int
    open_stakes_usd_cents: int
    balances: list[Balance]
    unbalanced_transfers: list[str]
    seats_charged_other_than_once: list[str]
    seats_settled_other_than_booked: list[str]
    matches_that_do_not_add_up: list[str]
    stray_lines: list[str]


class DatabaseChecked(Record, frozen=True):
    """The schema's migrations, and what the database found wrong with itself."""

    sound: bool
    migrations: list[str]
    problems: list[str]


class DatabaseMigrated(Record, frozen=True):
    """The migrations that the database has had."""

    migrations: list[str]


class DatabaseBackedUp(Record, frozen=True):
    """A backup: a folder that a service can be started on. It holds the database and the key ring."""

    folder: str
    bytes: int
    at: int


class Keyring(Record, frozen=True):
    """The names of the keys on the ring, the newest first: never the keys."""

    file: str
    kids: list[str]


def partner_record(
    account: Account,
    webhooks: dict[Environment, Webhook],
    catalogue: TierCatalogue | None,
    installed_games: Collection[str],
    now: int,
) -> PartnerRecord:
    """Return an account as operators see it. `webhooks` are its endpoints, `book` tells which of its prices still count."""
    policy = policy_of(account)
    return PartnerRecord.of(
        account,
        burst=policy.burst,
        rate=policy.rate,
        games={
            environment: [
                game_id
                for game_id in account.licensed_games(environment)
                if game_id in installed_games
            ]
            for environment in ENVIRONMENTS
        },
        licences=[
            LicenceRecord.of(held, game_id=game_id, installed=game_id in installed_games)
            for game_id, held in sorted(account.licences.items())
        ],
        members=[MemberRecord.of(member) for member in account.members.values()],
        keys=[KeyRecord.of(key, status=key.status(now)) for key in account.keys],
        origins=dict(account.origins),
        prices={
            environment: effective_prices(
                account.prices[environment], catalogue.tiers[environment] if catalogue else None
            )
            for environment in ENVIRONMENTS
        },
        webhooks={environment: WebhookRecord.of(hook) for environment, hook in webhooks.items()},
        pins=dict(account.pins),
    )


def tier_record(tier: Tier) -> TierRecord:
    """Return a tier as operators see it."""
    now = tier.current
    return TierRecord.of(
        now,
        environment=tier.environment,
        tier_id=tier.tier_id,
        locked_games=sorted(tier.locked_games),
        pays_in=tier.pays_in,
    )


def ledger_checked(report: LedgerReport) -> LedgerChecked:
    """Return the report on the ledger as operators see it."""
    return LedgerChecked.of(report, balances=[Balance(*balance) for balance in report.balances])
