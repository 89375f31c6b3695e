"""Requests that are wrong in two ways, with the refusal of the earlier check."""

from collections.abc import Callable, Mapping

import msgspec

from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.domain.members import PLATFORM
from tests.journeys.partners import BOTH, LIVE_ONLY, LOCKED, SILVER, Partner, seat_body
from tests.journeys.service import SharedService

DECIDE = "/partner/test/matches/mat_unknown/decide"


FEED = "/partner/results?cursor=wrong"


SEAT = "/partner/matches"


MINT = "/partner/sessions"


BAD_VERSION = (("X-Service-Api-Version", "9"),)


Arrange = Callable[[SharedService, Partner], None]


def arrange_nothing(service: SharedService, partner: Partner) -> None:
    """Change nothing."""


def drained(service: SharedService, partner: Partner) -> None:
    service.drain(partner)


def revoked(service: SharedService, partner: Partner) -> None:
    for key_id in partner.key_ids.values():
        service.account(partner, RevokeKey(PLATFORM, key_id))


def revoked_and_drained(service: SharedService, partner: Partner) -> None:
    revoked(service, partner)
    service.drain(partner)


def inactive(service: SharedService, partner: Partner) -> None:
    service.account(partner, SwitchAccount(PLATFORM, False))


class Wrong(msgspec.Struct, frozen=True):
    """A call that is wrong in two ways, and the refusal that it gets.

    `body` None is a body that is not JSON. A path with a query has no body.
    """

    name: str
    expected: tuple[int, str | None]
    path: str = SEAT
    environment: str = "test"
    arrange: Arrange = arrange_nothing
    headers: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, object] | None = msgspec.field(
        default_factory=lambda: seat_body("alice", "order")
    )
    spoilt_key: bool = False
    restricted: bool = False
    terms: bool = True
    extras: Mapping[str, object] = {}
    names: str = ""


def wrong_seat(**fields: object) -> Mapping[str, object]:
    return {
        name: value
        for name, value in (seat_body("alice", "order") | fields).items()
        if value is not ...
    }


ROWS = [
    Wrong("format before rate", (401, "invalid_key"), arrange=drained, spoilt_key=True),
    Wrong("rate before the key's verdict", (429, "rate_limited"), arrange=revoked_and_drained),
    Wrong(
        "rate before the deployment's environment",
        (429, "rate_limited"),
        arrange=drained,
        restricted=True,
    ),
    Wrong(
        "verdict before the deployment's environment",
        (401, "invalid_key"),
        arrange=revoked,
        restricted=True,
    ),
    Wrong("verdict before the version", (401, "invalid_key"), arrange=revoked, headers=BAD_VERSION),
    Wrong(
        "the deployment's environment before the account",
        (403, "test_key_against_live"),
        arrange=inactive,
        restricted=True,
    ),
    Wrong(
        "the deployment's environment before the version",
        (403, "test_key_against_live"),
        headers=BAD_VERSION,
        restricted=True,
    ),
    Wrong(
        "account before version", (403, "partner_inactive"), arrange=inactive, headers=BAD_VERSION
    ),
    Wrong("account before body", (403, "partner_inactive"), arrange=inactive, body=None),
    Wrong(
        "version before the kind of key",
        (400, "unsupported_api_version"),
        DECIDE,
        "live",
        headers=BAD_VERSION,
    ),
    Wrong("version before body", (400, "unsupported_api_version"), headers=BAD_VERSION, body=None),
    Wrong(
        "account before the kind of key",
        (403, "partner_inactive"),
        DECIDE,
        "live",
        arrange=inactive,
    ),
    Wrong("the kind of key before the body", (403, "test_key_required"), DECIDE, "live", body=None),
    Wrong(
        "the kind of key before the call's own checks",
        (403, "test_key_required"),
        DECIDE,
        "live",
        body={"outcome": "no_contest"},
    ),
    Wrong(
        "decide: body before the look-up",
        (400, None),
        DECIDE,
        body={"outcome": "perhaps"},
        names="outcome",
    ),
    Wrong("feed: format before the cursor", (401, "invalid_key"), FEED, spoilt_key=True),
    Wrong("feed: rate before the cursor", (429, "rate_limited"), FEED, arrange=drained),
    Wrong("feed: verdict before the cursor", (401, "invalid_key"), FEED, arrange=revoked),
    Wrong(
        "feed: the deployment's environment before the cursor",
        (403, "test_key_against_live"),
        FEED,
        restricted=True,
    ),
    Wrong("feed: account before the cursor", (403, "partner_inactive"), FEED, arrange=inactive),
    Wrong(
        "feed: version before the cursor",
        (400, "unsupported_api_version"),
        FEED,
        headers=BAD_VERSION,
    ),
    Wrong(
        "tiers: version before the parameter",
        (400, "unsupported_api_version"),
        "/partner/tiers?gameId=",
        headers=BAD_VERSION,
    ),
    Wrong(
        "mint: gameId before playerId", (400, None), MINT, body={"playerId": "!"}, names="gameId"
    ),
    Wrong(
        "mint: gameId before the other fields",
        (400, None),
        MINT,
        body={"gameId": 1, "ttlSeconds": "x"},
        names="gameId",
    ),
    Wrong(
        "mint: licence before playerId",
        (403, "game_not_licensed"),
        MINT,
        body={"gameId": "tiddlywinks", "playerId": "!"},
    ),
    Wrong(
        "mint: licence before a missing playerId",
        (403, "game_not_licensed"),
        MINT,
        body={"gameId": "tiddlywinks"},
    ),
    Wrong(
        "mint: playerId before the other fields",
        (400, "malformed_player_id"),
        MINT,
        body={"gameId": BOTH, "ttlSeconds": "x"},
    ),
    Wrong(
        "seat: gameId before playerId",
        (400, None),
        body=wrong_seat(gameId=..., playerId="!"),
        names="gameId",
    ),
    Wrong(
        "seat: gameId before the other fields",
        (400, None),
        body=wrong_seat(gameId=None, stakeUsdCents="x"),
        names="gameId",
    ),
    Wrong(
        "seat: licence before playerId",
        (403, "game_not_licensed"),
        body=wrong_seat(gameId="tiddlywinks", playerId="!"),
    ),
    Wrong(
        "seat: licence in this environment before playerId",
        (403, "game_not_licensed_in_this_environment"),
        body=wrong_seat(gameId=LIVE_ONLY, playerId=...),
    ),
    Wrong(
        "seat: licence before the other fields",
        (403, "game_not_licensed"),
        body=wrong_seat(gameId="tiddlywinks", tierId=...),
    ),
    Wrong(
        "seat: playerId before a missing field",
        (400, "malformed_player_id"),
        body=wrong_seat(playerId="!", tierId=...),
    ),
    Wrong(
        "seat: playerId before a type",
        (400, "malformed_player_id"),
        body=wrong_seat(playerId=None, stakeUsdCents="100"),
    ),
    Wrong(
        "seat: playerId before two spellings",
        (400, "malformed_player_id"),
        body=wrong_seat(playerId=..., tier="another"),
    ),
    Wrong(
        "seat: a type before the idempotency key's shape",
        (400, None),
        body=wrong_seat(stakeUsdCents="1", idempotencyKey="!"),
        names="stakeUsdCents",
    ),
    Wrong(
        "seat: a bound before the tier",
        (400, None),
        body=wrong_seat(partnerRef="x" * 129, tierId="gold"),
        names="partnerRef",
    ),
    Wrong(
        "seat: the idempotency key's shape before the tier",
        (400, None),
        body=wrong_seat(idempotencyKey="!", tierId="gold"),
        names="idempotencyKey",
    ),
    Wrong(
        "seat: tier before terms",
        (400, "unknown_tier"),
        body=wrong_seat(tierId="gold"),
        terms=False,
    ),
    Wrong(
        "seat: tier before stake",
        (400, "unknown_tier"),
        body=wrong_seat(tierId="gold", stakeUsdCents=1),
    ),
    Wrong(
        "seat: lock before terms", (409, "tier_locked"), body=wrong_seat(tierId=LOCKED), terms=False
    ),
    Wrong(
        "seat: lock before stake",
        (409, "tier_locked"),
        body=wrong_seat(tierId=LOCKED, stakeUsdCents=1),
    ),
    Wrong(
        "seat: terms before the floor",
        (403, "rake_terms_not_agreed"),
        body=wrong_seat(stakeUsdCents=1),
        terms=False,
    ),
    Wrong(
        "seat: terms before the prize",
        (403, "rake_terms_not_agreed"),
        body=wrong_seat(stakeUsdCents=999),
        terms=False,
    ),
    Wrong(
        "seat: terms before the price",
        (403, "rake_terms_not_agreed"),
        body=wrong_seat(tierId=SILVER, stakeUsdCents=149),
        terms=False,
    ),
    Wrong(
        "seat: floor before price",
        (400, "stake_below_floor"),
        body=wrong_seat(tierId=SILVER, stakeUsdCents=99),
        extras={"floorUsdCents": 100},
    ),
    Wrong(
        "seat: prize before price",
        (400, "stake_above_prize"),
        body=wrong_seat(tierId=SILVER, stakeUsdCents=201),
        extras={"ceilingUsdCents": 200},
    ),
]
