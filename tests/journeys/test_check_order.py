"""The order of checks: a request that is wrong in two ways gets the refusal of the earlier check.

Each row fails two neighbouring checks at once. Other tests show that each of the two faults is
refused by itself.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.domain.members import PLATFORM
from tests.journeys.client import Reply, SyncClient, check_refusal, ok
from tests.journeys.partners import BOTH, LIVE_ONLY, LOCKED, SILVER, Partner, seat_body
from tests.journeys.service import SharedService, in_process
from tests.journeys.test_seating import RemoteSettlement

DECIDE = "/partner/test/matches/mat_unknown/decide"
FEED = "/partner/results?cursor=wrong"
SEAT = "/partner/matches"
MINT = "/partner/sessions"
BAD_VERSION = (("X-Service-Api-Version", "9"),)

Arrange = Callable[[SharedService, Partner], None]


def _nothing(service: SharedService, partner: Partner) -> None:
    """Change nothing."""


def _drained(service: SharedService, partner: Partner) -> None:
    service.drain(partner)


def _revoked(service: SharedService, partner: Partner) -> None:
    for key_id in partner.key_ids.values():
        service.account(partner, RevokeKey(PLATFORM, key_id))


def _revoked_and_drained(service: SharedService, partner: Partner) -> None:
    _revoked(service, partner)
    service.drain(partner)


def _inactive(service: SharedService, partner: Partner) -> None:
    service.account(partner, SwitchAccount(PLATFORM, False))


class Wrong(msgspec.Struct, frozen=True):
    """A call that is wrong in two ways, and the refusal that it gets.

    `body` None is a body that is not JSON. A path with a query has no body.
    """

    name: str
    expected: tuple[int, str | None]
    path: str = SEAT
    environment: str = "test"
    arrange: Arrange = _nothing
    headers: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, object] | None = msgspec.field(
        default_factory=lambda: seat_body("alice", "order")
    )
    spoilt_key: bool = False
    restricted: bool = False
    terms: bool = True
    extras: Mapping[str, object] = {}
    names: str = ""


def _seat(**fields: object) -> Mapping[str, object]:
    return {
        name: value
        for name, value in (seat_body("alice", "order") | fields).items()
        if value is not ...
    }


ROWS = [
    Wrong("format before rate", (401, "invalid_key"), arrange=_drained, spoilt_key=True),
    Wrong("rate before the key's verdict", (429, "rate_limited"), arrange=_revoked_and_drained),
    Wrong(
        "rate before the deployment's environment",
        (429, "rate_limited"),
        arrange=_drained,
        restricted=True,
    ),
    Wrong(
        "verdict before the deployment's environment",
        (401, "invalid_key"),
        arrange=_revoked,
        restricted=True,
    ),
    Wrong(
        "verdict before the version", (401, "invalid_key"), arrange=_revoked, headers=BAD_VERSION
    ),
    Wrong(
        "the deployment's environment before the account",
        (403, "test_key_against_live"),
        arrange=_inactive,
        restricted=True,
    ),
    Wrong(
        "the deployment's environment before the version",
        (403, "test_key_against_live"),
        headers=BAD_VERSION,
        restricted=True,
    ),
    Wrong(
        "account before version", (403, "partner_inactive"), arrange=_inactive, headers=BAD_VERSION
    ),
    Wrong("account before body", (403, "partner_inactive"), arrange=_inactive, body=None),
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
        arrange=_inactive,
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
    Wrong("feed: rate before the cursor", (429, "rate_limited"), FEED, arrange=_drained),
    Wrong("feed: verdict before the cursor", (401, "invalid_key"), FEED, arrange=_revoked),
    Wrong(
        "feed: the deployment's environment before the cursor",
        (403, "test_key_against_live"),
        FEED,
        restricted=True,
    ),
    Wrong("feed: account before the cursor", (403, "partner_inactive"), FEED, arrange=_inactive),
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
        body=_seat(gameId=..., playerId="!"),
        names="gameId",
    ),
    Wrong(
        "seat: gameId before the other fields",
        (400, None),
        body=_seat(gameId=None, stakeUsdCents="x"),
        names="gameId",
    ),
    Wrong(
        "seat: licence before playerId",
        (403, "game_not_licensed"),
        body=_seat(gameId="tiddlywinks", playerId="!"),
    ),
    Wrong(
        "seat: licence in this environment before playerId",
        (403, "game_not_licensed_in_this_environment"),
        body=_seat(gameId=LIVE_ONLY, playerId=...),
    ),
    Wrong(
        "seat: licence before the other fields",
        (403, "game_not_licensed"),
        body=_seat(gameId="tiddlywinks", tierId=...),
    ),
    Wrong(
        "seat: playerId before a missing field",
        (400, "malformed_player_id"),
        body=_seat(playerId="!", tierId=...),
    ),
    Wrong(
        "seat: playerId before a type",
        (400, "malformed_player_id"),
        body=_seat(playerId=None, stakeUsdCents="100"),
    ),
    Wrong(
        "seat: playerId before two spellings",
        (400, "malformed_player_id"),
        body=_seat(playerId=..., tier="another"),
    ),
    Wrong(
        "seat: a type before the idempotency key's shape",
        (400, None),
        body=_seat(stakeUsdCents="1", idempotencyKey="!"),
        names="stakeUsdCents",
    ),
    Wrong(
        "seat: a bound before the tier",
        (400, None),
        body=_seat(partnerRef="x" * 129, tierId="gold"),
        names="partnerRef",
    ),
    Wrong(
        "seat: the idempotency key's shape before the tier",
        (400, None),
        body=_seat(idempotencyKey="!", tierId="gold"),
        names="idempotencyKey",
    ),
    Wrong("seat: tier before terms", (400, "unknown_tier"), body=_seat(tierId="gold"), terms=False),
    Wrong(
        "seat: tier before stake", (400, "unknown_tier"), body=_seat(tierId="gold", stakeUsdCents=1)
    ),
    Wrong("seat: lock before terms", (409, "tier_locked"), body=_seat(tierId=LOCKED), terms=False),
    Wrong(
        "seat: lock before stake", (409, "tier_locked"), body=_seat(tierId=LOCKED, stakeUsdCents=1)
    ),
    Wrong(
        "seat: terms before the floor",
        (403, "rake_terms_not_agreed"),
        body=_seat(stakeUsdCents=1),
        terms=False,
    ),
    Wrong(
        "seat: terms before the prize",
        (403, "rake_terms_not_agreed"),
        body=_seat(stakeUsdCents=999),
        terms=False,
    ),
    Wrong(
        "seat: terms before the price",
        (403, "rake_terms_not_agreed"),
        body=_seat(tierId=SILVER, stakeUsdCents=149),
        terms=False,
    ),
    Wrong(
        "seat: floor before price",
        (400, "stake_below_floor"),
        body=_seat(tierId=SILVER, stakeUsdCents=99),
        extras={"floorUsdCents": 100},
    ),
    Wrong(
        "seat: prize before price",
        (400, "stake_above_prize"),
        body=_seat(tierId=SILVER, stakeUsdCents=201),
        extras={"ceilingUsdCents": 200},
    ),
]


def _call(client: SyncClient, wrong: Wrong, key: str) -> Reply:
    if "?" in wrong.path:
        return client.call("GET", wrong.path, key, headers=wrong.headers)
    if wrong.body is None:
        return client.call("POST", wrong.path, key, content=b"{", headers=wrong.headers)
    return client.call("POST", wrong.path, key, dict(wrong.body), headers=wrong.headers)


@pytest.mark.parametrize("wrong", ROWS, ids=[row.name for row in ROWS])
def test_the_first_of_two_faults_is_reported(
    shared: SharedService, live_only: SharedService, wrong: Wrong
) -> None:
    service = live_only if wrong.restricted else shared
    partner = service.partner(terms=wrong.terms, burst=20)
    wrong.arrange(service, partner)
    key = partner.live if wrong.environment == "live" else partner.test
    reply = _call(service.client, wrong, key[:-1] if wrong.spoilt_key else key)
    status, reason = wrong.expected
    check_refusal(reply, status, reason, **wrong.extras)
    if wrong.names:
        assert f"`{wrong.names}`" in reply.json["error"]


def test_the_idempotency_key_is_looked_up_before_the_tier_and_after_the_licence(
    shared: SharedService,
) -> None:
    partner, client = shared.partner(), shared.client

    def seat(**fields: object) -> Reply:
        return client.call("POST", SEAT, partner.test, seat_body("alice", "used", **fields))

    ok(seat())
    check_refusal(seat(tierId="gold"), 409, "idempotency_key_conflict")
    check_refusal(seat(tierId=LOCKED), 409, "idempotency_key_conflict")
    check_refusal(seat(stakeUsdCents=1), 409, "idempotency_key_conflict")
    check_refusal(seat(gameId=LIVE_ONLY), 403, "game_not_licensed_in_this_environment")
    check_refusal(seat(playerId="!"), 400, "malformed_player_id")
    check_refusal(seat(stakeUsdCents="1"), 400, None)


@pytest.mark.parametrize(
    ("fields", "expected", "terms"),
    [
        ({"tierId": "gold"}, (400, "unknown_tier"), True),
        ({"tierId": LOCKED}, (409, "tier_locked"), True),
        ({}, (403, "rake_terms_not_agreed"), False),
        ({"stakeUsdCents": 99}, (400, "stake_below_floor"), True),
        ({"stakeUsdCents": 181}, (400, "stake_above_prize"), True),
        ({"tierId": SILVER, "stakeUsdCents": 149}, (400, "stake_does_not_match_price"), True),
    ],
)
async def test_refused_calls_never_ask_a_settlement_that_is_down(
    tmp_path: Path, fields: dict[str, object], expected: tuple[int, str], terms: bool
) -> None:
    settlement = RemoteSettlement(None)
    async with in_process(tmp_path, settlement=settlement) as service:
        partner = await service.partner(terms=terms)
        reply = await service.public.call(
            "POST", SEAT, partner.test, seat_body("alice", "down", **fields)
        )
        assert (reply.status, reply.reason) == expected
        assert settlement.asked == 0
        if terms:
            check_refusal(
                await service.public.call("POST", SEAT, partner.test, seat_body("alice", "down")),
                503,
                "settlement_unavailable",
            )
            assert settlement.asked == 1


def test_tiers_check_the_parameter_then_the_licence(client: SyncClient, known: Partner) -> None:
    check_refusal(
        client.call("GET", "/partner/tiers", known.test),
        400,
        "missing_parameter",
        parameter="gameId",
    )
    check_refusal(
        client.call("GET", f"/partner/tiers?gameId={LIVE_ONLY}", known.test),
        403,
        "game_not_licensed_in_this_environment",
    )
    check_refusal(client.call("GET", "/partner/tiers", "pgs_test_x"), 401, "invalid_key")
