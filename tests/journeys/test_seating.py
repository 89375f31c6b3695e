"""Taking a paid seat: its refusals, its price, and its idempotency key."""

import time
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import trio

from pgs.actors.core import Core
from pgs.actors.messages.account.settings import AddOrigin, AgreeTerms, ChangeLicence, SetPrices
from pgs.actors.messages.account.webhooks import SaveWebhook
from pgs.actors.messages.catalogue import SetTier, TierSet
from pgs.actors.ports import ChargeAnswer, Unpublished
from pgs.actors.shared.presence import PresenceRegister
from pgs.domain.licences import Step
from pgs.domain.members import PLATFORM
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat
from tests.journeys.client import Reply, SyncClient, check_refusal, ok
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
    seat_body,
)
from tests.journeys.service import SharedService, in_process

SEAT_FIELDS = {
    "seatId",
    "matchId",
    "status",
    "stakeStatus",
    "environment",
    "gameId",
    "tierId",
    "playerId",
    "stakeUsdCents",
    "prizeUsdCents",
    "seatedAt",
    "idempotencyKey",
}


def _seat(
    client: SyncClient,
    key: str,
    player_id: str = "alice",
    idempotency_key: str = "one",
    **fields: object,
) -> Reply:
    return client.call(
        "POST", "/partner/matches", key, seat_body(player_id, idempotency_key, **fields)
    )


def test_the_record_of_a_seat_has_all_its_fields(client: SyncClient, partner: Partner) -> None:
    record = ok(_seat(client, partner.test, partnerRef="r"))
    assert record.keys() == SEAT_FIELDS | {"expiresAt", "partnerRef"}
    assert record["seatId"].startswith("sea_")
    assert len(record["seatId"]) <= 64
    assert ok(client.call("GET", f"/partner/seats/{record['seatId']}", partner.test)) == record
    assert "partnerRef" not in ok(_seat(client, partner.test, idempotency_key="two"))
    empty = ok(_seat(client, partner.test, idempotency_key="three", partnerRef=""))
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
    check_refusal(_seat(client, known.test, tierId=tier_id), 400, "unknown_tier")


def test_a_test_tier_is_unknown_to_a_live_key(client: SyncClient, partner: Partner) -> None:
    check_refusal(_seat(client, partner.live, tierId=TEST_TIER), 400, "unknown_tier")
    ok(_seat(client, partner.test, tierId=TEST_TIER))
    ok(_seat(client, partner.live, tierId=LIVE_TIER))


@pytest.mark.parametrize("tier_id", [LOCKED, GENEROUS])
def test_a_locked_tier_is_refused_and_not_on_the_ladder(
    client: SyncClient, known: Partner, tier_id: str
) -> None:
    check_refusal(_seat(client, known.test, tierId=tier_id), 409, "tier_locked")
    ladder = ok(client.call("GET", f"/partner/tiers?gameId={BOTH}", known.test))
    assert tier_id not in [tier["tierId"] for tier in ladder["tiers"]]


def test_a_lock_holds_for_its_game_alone(client: SyncClient, partner: Partner) -> None:
    ok(_seat(client, partner.test, gameId=TEST_ONLY, tierId=LOCKED))
    check_refusal(
        _seat(client, partner.test, idempotency_key="two", gameId=TEST_ONLY, tierId=GENEROUS),
        409,
        "tier_locked",
    )


def test_the_ladder_is_sorted_by_entry_price_and_shows_the_partners_prices(
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
    check_refusal(_seat(shared.client, partner.test), 403, "rake_terms_not_agreed")
    ok(
        shared.client.call(
            "POST", "/partner/sessions", partner.test, {"gameId": BOTH, "playerId": "alice"}
        )
    )
    shared.account(partner, AgreeTerms(PLATFORM, 1))
    reply = _seat(shared.client, partner.test)
    ok(reply)
    assert reply.header("idempotent-replayed") is None  # a refusal binds no idempotency key


@pytest.mark.parametrize("cents", [99, 1, 0, -1, -(2**53) + 1])
@pytest.mark.parametrize("tier_id", [BRONZE, SILVER])
def test_the_refusal_of_a_stake_under_the_floor_states_the_floor(
    client: SyncClient, known: Partner, tier_id: str, cents: int
) -> None:
    reply = _seat(client, known.test, tierId=tier_id, stakeUsdCents=cents)
    check_refusal(reply, 400, "stake_below_floor", floorUsdCents=100)


@pytest.mark.parametrize(("tier_id", "prize"), [(BRONZE, 180), (SILVER, 200)])
def test_the_refusal_of_a_stake_over_the_prize_states_the_ceiling(
    client: SyncClient, known: Partner, tier_id: str, prize: int
) -> None:
    for cents in (prize + 1, 10_000, 2**53 - 1):
        reply = _seat(client, known.test, tierId=tier_id, stakeUsdCents=cents)
        check_refusal(reply, 400, "stake_above_prize", ceilingUsdCents=prize)


def test_the_refusal_of_a_stake_that_is_not_the_price_states_the_price(
    client: SyncClient, partner: Partner
) -> None:
    for cents in (100, 149, 151, 200):
        reply = _seat(client, partner.test, tierId=SILVER, stakeUsdCents=cents)
        check_refusal(reply, 400, "stake_does_not_match_price", expectedUsdCents=SILVER_CENTS)
    assert (
        ok(_seat(client, partner.test, tierId=SILVER, stakeUsdCents=SILVER_CENTS))["stakeUsdCents"]
        == SILVER_CENTS
    )


@pytest.mark.parametrize("cents", [100, 101, 180])
def test_an_unpriced_tier_charges_its_floor_for_any_valid_stake(
    client: SyncClient, partner: Partner, cents: int
) -> None:
    first = ok(_seat(client, partner.test, stakeUsdCents=cents))
    assert (first["stakeUsdCents"], first["prizeUsdCents"]) == (100, 180)
    again = _seat(client, partner.test, stakeUsdCents=cents)
    assert ok(again) == first
    assert again.header("idempotent-replayed") == "true"


def test_the_same_key_and_values_return_the_same_seat_with_its_current_status(
    client: SyncClient, partner: Partner
) -> None:
    first = _seat(client, partner.test, "alice", "a", partnerRef="first")
    assert first.header("idempotent-replayed") is None
    match_id = ok(_seat(client, partner.test, "bob", "b"))["matchId"]
    body = seat_body("alice", "a", partnerRef="another")
    body["yourStakeUsdCents"] = body.pop("stakeUsdCents")
    again = client.call("POST", "/partner/matches", partner.test, body)
    assert again.header("idempotent-replayed") == "true"
    assert ok(again) == ok(first) | {"status": "matched", "matchId": match_id}
    ok(
        client.call(
            "POST",
            f"/partner/test/matches/{match_id}/decide",
            partner.test,
            {"outcome": "ended", "winnerPlayerId": "bob"},
        )
    )
    assert ok(_seat(client, partner.test, "alice", "a"))["status"] == "ended"
    assert (
        ok(client.call("GET", "/partner/results", partner.test))["results"][0]["stakeUsdCents"]
        == 100
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"playerId": "bob"},
        {"gameId": TEST_ONLY},
        {"tierId": TEST_TIER},
        {"tierId": "no-such-tier"},
        {"tierId": LOCKED},
        {"stakeUsdCents": 101},
        {"stakeUsdCents": 1},
        {"stakeUsdCents": 10_000},
    ],
)
def test_a_used_key_with_another_value_conflicts_before_tier_and_price_are_checked(
    client: SyncClient, partner: Partner, changed: dict[str, object]
) -> None:
    ok(_seat(client, partner.test))
    check_refusal(
        client.call("POST", "/partner/matches", partner.test, seat_body("alice", "one") | changed),
        409,
        "idempotency_key_conflict",
    )


def test_a_replay_is_answered_even_when_a_new_seat_would_be_refused(
    shared: SharedService,
) -> None:
    partner = shared.partner()
    first = ok(_seat(shared.client, partner.test, tierId=SILVER, stakeUsdCents=SILVER_CENTS))
    shared.account(partner, SetPrices(PLATFORM, "test", {SILVER: 199}))
    assert (
        ok(_seat(shared.client, partner.test, tierId=SILVER, stakeUsdCents=SILVER_CENTS)) == first
    )
    check_refusal(
        _seat(
            shared.client,
            partner.test,
            idempotency_key="two",
            tierId=SILVER,
            stakeUsdCents=SILVER_CENTS,
        ),
        400,
        "stake_does_not_match_price",
        expectedUsdCents=199,
    )


def test_a_replay_is_answered_after_the_licence_of_its_game_has_ended(
    shared: SharedService,
) -> None:
    partner, client = shared.partner(), shared.client
    first = ok(_seat(client, partner.test))
    shared.account(partner, ChangeLicence(PLATFORM, BOTH, "test_off"))
    again = _seat(client, partner.test)
    assert (ok(again), again.header("idempotent-replayed")) == (first, "true")
    body = seat_body("alice", "one")
    for changed in (
        {"idempotencyKey": "two"},
        {"stakeUsdCents": 101},
        {"playerId": "!"},
        {"tierId": 1},
    ):
        check_refusal(
            client.call("POST", "/partner/matches", partner.test, body | changed),
            403,
            "game_not_licensed_in_this_environment",
        )


def test_a_refusal_binds_no_idempotency_key(client: SyncClient, partner: Partner) -> None:
    refused: tuple[dict[str, object], ...] = (
        {"tierId": "gold"},
        {"tierId": LOCKED},
        {"stakeUsdCents": 1},
        {"playerId": "not one"},
    )
    for fields in refused:
        assert client.call(
            "POST", "/partner/matches", partner.test, seat_body("alice", "one") | fields
        ).status in (400, 409)
    reply = _seat(client, partner.test)
    ok(reply)
    assert reply.header("idempotent-replayed") is None


def test_one_idempotency_key_may_be_used_in_both_environments(
    client: SyncClient, partner: Partner
) -> None:
    seats = [ok(_seat(client, key)) for key in (partner.test, partner.live)]
    assert len({seat["seatId"] for seat in seats}) == 2


def test_a_player_may_hold_several_seats_but_is_never_paired_with_themselves(
    client: SyncClient, partner: Partner
) -> None:
    mine = [ok(_seat(client, partner.test, idempotency_key=f"a{number}")) for number in range(3)]
    assert [seat["status"] for seat in mine] == ["waiting"] * 3
    ok(_seat(client, partner.test, "bob", "b"))
    now = [
        ok(client.call("GET", f"/partner/seats/{seat['seatId']}", partner.test))["status"]
        for seat in mine
    ]
    assert now == ["matched", "waiting", "waiting"]


async def test_two_calls_at_once_with_one_key_take_one_seat(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        replies: list[Reply] = []

        async def seat() -> None:
            replies.append(
                await service.public.call(
                    "POST", "/partner/matches", partner.test, seat_body("alice", "one")
                )
            )

        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(seat)
        assert len({ok(reply)["seatId"] for reply in replies}) == 1
        assert sorted(reply.header("idempotent-replayed") or "" for reply in replies) == [
            "",
            *["true"] * 19,
        ]


class RemoteSettlement:
    """A settlement that answers every charge with `answer`, or not at all while that is None."""

    instant = False

    def __init__(self, answer: ChargeAnswer | None) -> None:
        self.answer = answer
        self.asked = 0

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Return `answer`. Raises `Unpublished` if it is None."""
        self.asked += 1
        if self.answer is None:
            raise Unpublished("a test said so")
        return self.answer

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return `confirmed`."""
        return "confirmed"


async def test_a_confirmed_stake_takes_a_waiting_seat(tmp_path: Path) -> None:
    async with in_process(tmp_path, settlement=RemoteSettlement("confirmed")) as service:
        key = (await service.partner()).test
        reply = await service.public.call(
            "POST", "/partner/matches", key, seat_body("alice", "one")
        )
        assert (ok(reply)["status"], ok(reply)["stakeStatus"]) == ("waiting", "confirmed")
        assert reply.header("idempotent-replayed") is None


async def test_every_retry_is_settlement_unavailable_until_settlement_answers(
    tmp_path: Path,
) -> None:
    remote = RemoteSettlement(None)
    async with in_process(tmp_path, settlement=remote) as service:
        key = (await service.partner()).test

        async def seat() -> Reply:
            return await service.public.call(
                "POST", "/partner/matches", key, seat_body("alice", "one")
            )

        for _ in range(2):
            check_refusal(await seat(), 503, "settlement_unavailable")
        remote.answer = "pending"
        pending = await seat()
        assert (ok(pending)["status"], ok(pending)["stakeStatus"]) == ("pending", "pending")
        assert "expiresAt" not in ok(pending)
        assert pending.header("idempotent-replayed") == "true"
        assert ok(await service.public.call("GET", "/partner/results", key))["results"] == []
        remote.answer = "confirmed"
        waiting = ok(await seat())
        assert (waiting["status"], waiting["stakeStatus"], waiting["seatId"]) == (
            "waiting",
            "confirmed",
            ok(pending)["seatId"],
        )
        assert waiting["expiresAt"] >= waiting["seatedAt"] + 3600
        asked = remote.asked
        assert ok(await seat()) == waiting
        assert remote.asked == asked


async def test_a_declined_stake_is_402_with_the_seats_fields_and_stays_declined(
    tmp_path: Path,
) -> None:
    remote = RemoteSettlement("declined")
    async with in_process(tmp_path, settlement=remote) as service:
        key = (await service.partner()).test

        async def seat(**fields: object) -> Reply:
            return await service.public.call(
                "POST", "/partner/matches", key, seat_body("alice", "one", **fields)
            )

        first = await seat(partnerRef="r")
        assert (first.status, first.reason, first.header("idempotent-replayed")) == (
            402,
            "stake_declined",
            None,
        )
        assert first.json.keys() == SEAT_FIELDS | {"error", "reason", "docUrl", "partnerRef"}
        assert (first.json["status"], first.json["stakeStatus"], first.json["matchId"]) == (
            "declined",
            "declined",
            None,
        )
        remote.answer = "confirmed"
        again = await seat()
        assert (again.status, again.header("idempotent-replayed")) == (402, "true")
        assert again.json == first.json
        check_refusal(await seat(stakeUsdCents=101), 409, "idempotency_key_conflict")
        assert (
            ok(await service.public.call("GET", f"/partner/seats/{first.json['seatId']}", key))[
                "status"
            ]
            == "declined"
        )
        ok(await service.public.call("POST", "/partner/matches", key, seat_body("bob", "b")))
        assert ok(await service.public.call("GET", "/partner/results", key))["results"] == []


def _decide(client: SyncClient, key: str, match_id: str, body: object) -> Reply:
    return client.call("POST", f"/partner/test/matches/{match_id}/decide", key, body)


def _match(client: SyncClient, key: str) -> str:
    with mock.patch.object(PresenceRegister, "is_here", return_value=True):
        ok(_seat(client, key, "alice", "a"))
        seat = ok(_seat(client, key, "bob", "b"))
        for _ in range(600):
            if seat["matchId"] is not None:
                break
            time.sleep(0.05)  # live seats are paired once a second
            seat = ok(client.call("GET", f"/partner/seats/{seat['seatId']}", key))
    return str(seat["matchId"])


WON: dict[str, object] = {"outcome": "ended", "winnerPlayerId": "alice"}
LOST: dict[str, object] = {"outcome": "ended", "winnerPlayerId": "bob"}
DRAWN: dict[str, object] = {"outcome": "ended", "winnerPlayerId": None}
VOID: dict[str, object] = {"outcome": "no_contest"}


@pytest.mark.parametrize("decision", [WON, LOST, DRAWN, VOID])
def test_a_decided_match_accepts_the_same_decision_again_but_no_other(
    client: SyncClient, partner: Partner, decision: dict[str, object]
) -> None:
    match_id = _match(client, partner.test)
    first = _without_money(ok(_decide(client, partner.test, match_id, decision)))
    assert _without_money(ok(_decide(client, partner.test, match_id, decision))) == first
    for other in (WON, LOST, DRAWN, VOID):
        if other != decision:
            check_refusal(
                _decide(client, partner.test, match_id, other), 409, "match_already_decided"
            )
    read = ok(client.call("GET", f"/partner/matches/{match_id}", partner.test))
    assert _without_money(read) == first


def _without_money(match: dict[str, Any]) -> dict[str, Any]:
    """Return a match record without what is recorded a moment after its end."""
    money = ("payoutUsdCents", "refundUsdCents", "rakeUsdCents")
    seats = [
        {name: value for name, value in seat.items() if name not in money}
        for seat in match["seats"]
    ]
    return match | {"seats": seats}


def test_a_winner_without_a_seat_in_the_match_is_a_plain_400(
    client: SyncClient, partner: Partner
) -> None:
    match_id = _match(client, partner.test)
    for winner in ("carol", "", "Alice"):
        check_refusal(
            _decide(client, partner.test, match_id, {"outcome": "ended", "winnerPlayerId": winner}),
            400,
            None,
        )
    assert (
        ok(client.call("GET", f"/partner/matches/{match_id}", partner.test))["status"] == "started"
    )


def test_only_test_keys_may_decide_matches(client: SyncClient, partner: Partner) -> None:
    check_refusal(
        _decide(client, partner.live, _match(client, partner.live), WON), 403, "test_key_required"
    )
    check_refusal(
        _decide(client, partner.live, _match(client, partner.test), WON), 403, "test_key_required"
    )


def test_a_live_match_is_not_found_by_a_test_key(client: SyncClient, partner: Partner) -> None:
    check_refusal(
        _decide(client, partner.test, _match(client, partner.live), WON), 404, "match_not_found"
    )


@pytest.mark.parametrize("step", ["test_off", "withdraw"])
def test_a_licence_that_ends_stops_new_seats_but_running_matches_continue(
    shared: SharedService, step: Step
) -> None:
    partner = shared.partner()
    key = partner.test if step == "test_off" else partner.live
    match_id = _match(shared.client, key)
    shared.account(partner, ChangeLicence(PLATFORM, BOTH, step))
    reply = _seat(shared.client, key, "carol", "c")
    check_refusal(reply, 403, "game_not_licensed_in_this_environment")
    assert ok(shared.client.call("GET", f"/partner/matches/{match_id}", key))["status"] == "started"


def test_seats_of_two_revisions_of_a_tier_are_never_paired(shared: SharedService) -> None:
    partner, client = shared.partner(), shared.client

    async def revise(core: Core, floor: int, prize: int) -> None:
        assert isinstance(
            await core.directory.catalogue().ask(SetTier("test", "revised", None, floor, prize)),
            TierSet,
        )

    shared.do(revise, 100, 180)
    old = ok(_seat(client, partner.test, "alice", "a", tierId="revised"))
    shared.do(revise, 110, 200)
    new = ok(_seat(client, partner.test, "bob", "b", tierId="revised", stakeUsdCents=110))
    assert (old["status"], new["status"], old["prizeUsdCents"], new["prizeUsdCents"]) == (
        "waiting",
        "waiting",
        180,
        200,
    )
    shared.do(revise, 100, 180)
    assert ok(_seat(client, partner.test, "carol", "c", tierId="revised"))["status"] == "waiting"
    # Restore the tier for later tests.
    shared.do(revise, 1, 180)
