"""Taking a paid seat: its record, its tier and its price."""

import pytest

from pgs.actors.messages.account.settings import AddOrigin, AgreeTerms
from pgs.actors.messages.account.webhooks import SaveWebhook
from pgs.domain.members import PLATFORM
from tests.journeys.client import SyncClient, check_refusal, ok
from tests.journeys.partners import (
    BOTH,
    BRONZE,
    GENEROUS,
    LIVE_TIER,
    LOCKED,
    SILVER,
    SILVER_CENTS,
    TEST_ONLY,
    TEST_TIER,
    Partner,
)
from tests.journeys.seats import SEAT_FIELDS, take_seat
from tests.journeys.service import SharedService


def test_the_record_of_a_seat_has_all_its_fields(client: SyncClient, partner: Partner) -> None:
    record = ok(take_seat(client, partner.test, partnerRef="r"))
    assert record.keys() == SEAT_FIELDS | {"expiresAt", "partnerRef"}
    assert record["seatId"].startswith("sea_")
    assert len(record["seatId"]) <= 64
    assert ok(client.call("GET", f"/partner/seats/{record['seatId']}", partner.test)) == record
    assert "partnerRef" not in ok(take_seat(client, partner.test, idempotency_key="two"))
    empty = ok(take_seat(client, partner.test, idempotency_key="three", partnerRef=""))
    assert (
        empty["partnerRef"]
        == ok(client.call("GET", f"/partner/seats/{empty['seatId']}", partner.test))["partnerRef"]
        == ""
    )


@pytest.mark.parametrize(
    "tier_id", ["gold", "", BRONZE.upper(), f"{BRONZE} ", "x" * 500, LIVE_TIER]
)
def test_a_tier_that_is_not_in_this_environment_is_unknown(
    client: SyncClient, known: Partner, tier_id: str
) -> None:
    check_refusal(take_seat(client, known.test, tierId=tier_id), 400, "unknown_tier")


def test_a_test_tier_is_unknown_to_a_live_key(client: SyncClient, partner: Partner) -> None:
    check_refusal(take_seat(client, partner.live, tierId=TEST_TIER), 400, "unknown_tier")
    ok(take_seat(client, partner.test, tierId=TEST_TIER))
    ok(take_seat(client, partner.live, tierId=LIVE_TIER))


@pytest.mark.parametrize("tier_id", [LOCKED, GENEROUS])
def test_a_locked_tier_is_refused_and_not_listed(
    client: SyncClient, known: Partner, tier_id: str
) -> None:
    check_refusal(take_seat(client, known.test, tierId=tier_id), 409, "tier_locked")
    ladder = ok(client.call("GET", f"/partner/tiers?gameId={BOTH}", known.test))
    assert tier_id not in [tier["tierId"] for tier in ladder["tiers"]]


def test_a_lock_holds_for_its_game_alone(client: SyncClient, partner: Partner) -> None:
    ok(take_seat(client, partner.test, gameId=TEST_ONLY, tierId=LOCKED))
    check_refusal(
        take_seat(client, partner.test, idempotency_key="two", gameId=TEST_ONLY, tierId=GENEROUS),
        409,
        "tier_locked",
    )


def test_tiers_are_listed_by_entry_price_with_the_partners_prices(
    client: SyncClient, known: Partner
) -> None:
    ladder = ok(client.call("GET", f"/partner/tiers?gameId={BOTH}", known.test))
    assert (ladder["gameId"], ladder["environment"]) == (BOTH, "test")
    assert [
        (
            tier["tierId"],
            tier["entryUsdCents"],
            tier["floorUsdCents"],
            tier["prizeUsdCents"],
            tier["priced"],
        )
        for tier in ladder["tiers"]
    ] == [
        (BRONZE, 100, 100, 180, False),
        (TEST_TIER, 100, 100, 180, False),
        (SILVER, SILVER_CENTS, 100, 200, True),
    ]


def test_the_account_read_shows_games_and_prices_of_its_environment(
    client: SyncClient, known: Partner
) -> None:
    test, live = (ok(client.call("GET", "/partner/me", key)) for key in (known.test, known.live))
    assert (test["games"], live["games"]) == (
        ["connect-four", "tic-tac-toe"],
        ["reversi", "tic-tac-toe"],
    )
    assert test["prices"] == live["prices"] == {SILVER: SILVER_CENTS}
    assert (test["environment"], live["environment"]) == ("test", "live")
    assert test["origins"] == []
    assert "webhook" not in test


def test_the_account_read_shows_origins_and_the_webhook_without_its_secret(
    shared: SharedService, partner: Partner
) -> None:
    shared.account(partner, AddOrigin(PLATFORM, "test", "http://localhost:3000"))
    shared.account(partner, SaveWebhook(PLATFORM, "test", "https://hooks.acme.com/pgs?x=1"))
    record = ok(shared.client.call("GET", "/partner/me", partner.test))
    assert record["origins"] == ["http://localhost:3000"]
    webhook = record["webhook"]
    assert webhook.keys() == {
        "url",
        "enabled",
        "consecutiveFailures",
        "createdAt",
        "secretRotatedAt",
        "disabledAt",
    }
    assert (webhook["url"], webhook["enabled"], webhook["disabledAt"]) == (
        "https://hooks.acme.com/pgs?x=1",
        True,
        None,
    )
    assert "webhook" not in ok(shared.client.call("GET", "/partner/me", partner.live))


def test_without_rake_terms_nobody_is_seated(shared: SharedService) -> None:
    partner = shared.partner(terms=False)
    check_refusal(take_seat(shared.client, partner.test), 403, "rake_terms_not_agreed")
    ok(
        shared.client.call(
            "POST", "/partner/sessions", partner.test, {"gameId": BOTH, "playerId": "alice"}
        )
    )
    shared.account(partner, AgreeTerms(PLATFORM, 1))
    reply = take_seat(shared.client, partner.test)
    ok(reply)
    assert reply.header("idempotent-replayed") is None  # a refusal binds no idempotency key


@pytest.mark.parametrize("cents", [99, 1, 0, -1, -(2**53) + 1])
@pytest.mark.parametrize("tier_id", [BRONZE, SILVER])
def test_the_refusal_of_a_stake_under_the_floor_states_the_floor(
    client: SyncClient, known: Partner, tier_id: str, cents: int
) -> None:
    reply = take_seat(client, known.test, tierId=tier_id, stakeUsdCents=cents)
    check_refusal(reply, 400, "stake_below_floor", floorUsdCents=100)


@pytest.mark.parametrize(("tier_id", "prize"), [(BRONZE, 180), (SILVER, 200)])
def test_the_refusal_of_a_stake_over_the_prize_states_the_ceiling(
    client: SyncClient, known: Partner, tier_id: str, prize: int
) -> None:
    for cents in (prize + 1, 10_000, 2**53 - 1):
        reply = take_seat(client, known.test, tierId=tier_id, stakeUsdCents=cents)
        check_refusal(reply, 400, "stake_above_prize", ceilingUsdCents=prize)


def test_the_refusal_of_a_stake_that_is_not_the_price_states_the_price(
    client: SyncClient, partner: Partner
) -> None:
    for cents in (100, 149, 151, 200):
        reply = take_seat(client, partner.test, tierId=SILVER, stakeUsdCents=cents)
        check_refusal(reply, 400, "stake_does_not_match_price", expectedUsdCents=SILVER_CENTS)
    assert (
        ok(take_seat(client, partner.test, tierId=SILVER, stakeUsdCents=SILVER_CENTS))[
            "stakeUsdCents"
        ]
        == SILVER_CENTS
    )


@pytest.mark.parametrize("cents", [100, 101, 180])
def test_an_unpriced_tier_charges_its_floor_for_any_valid_stake(
    client: SyncClient, partner: Partner, cents: int
) -> None:
    first = ok(take_seat(client, partner.test, stakeUsdCents=cents))
    assert (first["stakeUsdCents"], first["prizeUsdCents"]) == (100, 180)
    again = take_seat(client, partner.test, stakeUsdCents=cents)
    assert ok(again) == first
    assert again.header("idempotent-replayed") == "true"
