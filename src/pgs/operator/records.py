"""The records that operator commands return. They hold no secrets and no hashes.

A field that is not set is absent in the JSON.
"""

from collections.abc import Collection, Mapping
from typing import Self

import msgspec

from pgs.actors.shared.admission import policy_of
from pgs.domain.accounts import Account, Webhook
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.tiers import Tier, TierCatalogue, effective_prices
from pgs.storage.ledger import LedgerTotals


class Record(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The base of all records: camel case in JSON, where fields with their default are left out."""

    @classmethod
    def of(cls, source: object, **more: object) -> Self:
        """Return a record with the attributes of `source` by name; `more` gives other fields."""
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
    """A member. `uid` is the `sub` of their identity tokens."""

    uid: str
    email: str
    role: str


class LicenceRecord(Record, frozen=True):
    """A partner's licence for a game.

    `live` is `none`, `requested`, `granted`, `denied` or `withdrawn`. `installed` is false when
    this installation does not have the game, and absent in the JSON otherwise.
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
    """A page of partners in the order of their ids.

    `next_after` is the `after` of the next page, absent on the last page.
    """

    partners: list[PartnerSummary]
    next_after: str | None = None


class PartnerRecord(PartnerSummary, frozen=True, kw_only=True):
    """A partner's account with everything that its calls depend on.

    `games`: the licensed games that are installed here. `prices`: effective prices in US cents, by
    tier id. `pins`: API version by environment. Times are epoch seconds.
    """

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
    """A new partner, with the invite that its first admin accepts.

    `invite_url`: the portal's page for it, absent if the portal is not served.
    """

    invite_id: str
    invite_url: str | None = None


class PartnerSwitchedOff(PartnerRecord, frozen=True, kw_only=True):
    """A partner that was switched off. `ended`: waiting seats and running matches that ended."""

    ended: int


class InviteMade(Record, frozen=True):
    """A new invite. `expires_at` in epoch seconds.

    `invite_url`: the portal's page for it, absent if the portal is not served.
    """

    partner_id: str
    invite_id: str
    email: str
    role: str
    expires_at: int
    invite_url: str | None = None


class AuthenticatorReset(Record, frozen=True):
    """A member whose authenticator was removed."""

    partner_id: str
    uid: str
    email: str
    role: str


class TierRecord(Record, frozen=True):
    """A tier at its current revision.

    `locked_games`: the games for which an operator locked it. `pays_in`: its prize exceeds two
    floors, so the platform would have to pay in; the tier takes no seats in any game.
    """

    environment: Environment
    tier_id: str
    revision: int
    name: str
    floor_usd_cents: int
    prize_usd_cents: int
    locked_games: list[str]
    pays_in: bool


class TierLocked(TierRecord, frozen=True, kw_only=True):
    """A tier that was locked or unlocked for a game. `changed`: whether this changed anything."""

    changed: bool


class TierList(Record, frozen=True):
    """Every tier of both environments, by environment and id."""

    tiers: list[TierRecord]


class TermsPublished(Record, frozen=True):
    """The version number of newly published rake terms."""

    version: int


class Refund(Record, frozen=True):
    """What a player gets back, in US cents."""

    player_id: str
    amount_usd_cents: int


class MatchVoided(Record, frozen=True):
    """A match that was voided, and what its players get back."""

    match_id: str
    partner_id: str
    environment: Environment
    status: str
    refunds: list[Refund]
    end_reason: str | None = None


class LedgerChecked(Record, frozen=True):
    """The sums of each environment's ledgers, and faults: at most `FAULTS_LISTED` in each list."""

    sound: bool
    totals: list[LedgerTotals]
    broken_chains: list[str]
    seats_booked_otherwise: list[str]
    matches_that_do_not_add_up: list[str]
    stray_rows: list[str]
    days_that_do_not_add_up: list[str]
    invoices_that_do_not_add_up: list[str]
    heads_that_do_not_add_up: list[str]


class DatabaseChecked(Record, frozen=True):
    """The applied migrations, and the problems that the integrity check found."""

    sound: bool
    migrations: list[str]
    problems: list[str]


class DatabaseMigrated(Record, frozen=True):
    """The applied migrations, in their order."""

    migrations: list[str]


class DatabaseBackedUp(Record, frozen=True):
    """A backup: a folder with database and key ring, on which a service can be started."""

    folder: str
    bytes: int
    at: int


class Keyring(Record, frozen=True):
    """The key ring: its file and the names of its keys, the one in use first, without the keys.

    `unreached`: nodes that do not use the first key yet, and why.
    """

    file: str
    kids: list[str]
    unreached: Mapping[str, str] = {}


def partner_record(
    account: Account,
    webhooks: dict[Environment, Webhook],
    catalogue: TierCatalogue | None,
    installed_games: Collection[str],
    now: int,
) -> PartnerRecord:
    """Return an account as operators see it.

    `catalogue` decides which of the account's prices are in force; without it, all are. `now` is in
    epoch seconds.
    """
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
