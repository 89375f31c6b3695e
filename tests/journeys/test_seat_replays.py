"""A seat and its idempotency key: replays, conflicts, and stakes that settlement keeps open."""

import pytest
import trio

from pgs.actors.messages.account.settings import ChangeLicence, SetPrices
from pgs.domain.members import PLATFORM
from tests.journeys.client import Reply, SyncClient, check_refusal, ok
from tests.journeys.partners import (
    BOTH,
    LOCKED,
    SILVER,
    SILVER_CENTS,
    TEST_ONLY,
    TEST_TIER,
    Partner,
    seat_body,
)
from tests.journeys.places import Place
from tests.journeys.seats import SEAT_FIELDS, RemoteSettlement, take_seat
from tests.journeys.service import SharedService, in_process


def test_the_same_key_and_values_return_the_same_seat_with_its_current_status(
    client: SyncClient, partner: Partner
) -> None:
    first = take_seat(client, partner.test, "alice", "a", partnerRef="first")
    assert first.header("idempotent-replayed") is None
    match_id = ok(take_seat(client, partner.test, "bob", "b"))["matchId"]
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
    assert ok(take_seat(client, partner.test, "alice", "a"))["status"] == "ended"
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
    ok(take_seat(client, partner.test))
    check_refusal(
        client.call("POST", "/partner/matches", partner.test, seat_body("alice", "one") | changed),
        409,
        "idempotency_key_conflict",
    )


def test_a_replay_is_answered_even_when_a_new_seat_would_be_refused(
    shared: SharedService,
) -> None:
    partner = shared.partner()
    first = ok(take_seat(shared.client, partner.test, tierId=SILVER, stakeUsdCents=SILVER_CENTS))
    shared.account(partner, SetPrices(PLATFORM, "test", {SILVER: 199}))
    assert (
        ok(take_seat(shared.client, partner.test, tierId=SILVER, stakeUsdCents=SILVER_CENTS))
        == first
    )
    check_refusal(
        take_seat(
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
    first = ok(take_seat(client, partner.test))
    shared.account(partner, ChangeLicence(PLATFORM, BOTH, "test_off"))
    again = take_seat(client, partner.test)
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


def test_a_refused_call_does_not_use_up_its_idempotency_key(
    client: SyncClient, partner: Partner
) -> None:
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
    reply = take_seat(client, partner.test)
    ok(reply)
    assert reply.header("idempotent-replayed") is None


def test_one_idempotency_key_may_be_used_in_both_environments(
    client: SyncClient, partner: Partner
) -> None:
    seats = [ok(take_seat(client, key)) for key in (partner.test, partner.live)]
    assert len({seat["seatId"] for seat in seats}) == 2


def test_a_player_may_hold_several_seats_but_is_never_paired_with_themselves(
    client: SyncClient, partner: Partner
) -> None:
    mine = [
        ok(take_seat(client, partner.test, idempotency_key=f"a{number}")) for number in range(3)
    ]
    assert [seat["status"] for seat in mine] == ["waiting"] * 3
    ok(take_seat(client, partner.test, "bob", "b"))
    now = [
        ok(client.call("GET", f"/partner/seats/{seat['seatId']}", partner.test))["status"]
        for seat in mine
    ]
    assert now == ["matched", "waiting", "waiting"]


async def test_two_calls_at_once_with_one_key_take_one_seat(place: Place) -> None:
    async with in_process(place) as service:
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


async def test_a_confirmed_stake_takes_a_waiting_seat(place: Place) -> None:
    async with in_process(place, settlement=RemoteSettlement("confirmed")) as service:
        key = (await service.partner()).test
        reply = await service.public.call(
            "POST", "/partner/matches", key, seat_body("alice", "one")
        )
        assert (ok(reply)["status"], ok(reply)["stakeStatus"]) == ("waiting", "confirmed")
        assert reply.header("idempotent-replayed") is None


async def test_every_retry_is_settlement_unavailable_until_settlement_answers(
    place: Place,
) -> None:
    remote = RemoteSettlement(None)
    async with in_process(place, settlement=remote) as service:
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
    place: Place,
) -> None:
    remote = RemoteSettlement("declined")
    async with in_process(place, settlement=remote) as service:
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
