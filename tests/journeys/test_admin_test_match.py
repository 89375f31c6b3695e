"""The test match that a member starts from the portal."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio

from pgs.actors.messages.account.lifecycle import CreatePartner, SwitchAccount
from pgs.actors.messages.account.settings import AgreeTerms, ChangeLicence, SetPrices
from pgs.actors.messages.seats import DecideMatch, Seated, StakeSeat
from pgs.actors.seating import two_seats
from pgs.domain.licences import Step
from pgs.domain.members import PLATFORM
from pgs.domain.seats import SeatRequest
from pgs.domain.token_buckets import TEST_MATCH_POLICY
from pgs.http.admin.test_match import TriedPlayer
from tests.journeys.admin_client import AdminClient, open_admin, person
from tests.journeys.client import check_plain, check_refusal, ok
from tests.journeys.partners import (
    BOTH,
    BRONZE,
    GENEROUS,
    LIVE_ONLY,
    LIVE_TIER,
    LOCKED,
    SILVER,
    SILVER_CENTS,
    TEST_ONLY,
    UNKNOWN,
    account,
)
from tests.journeys.places import Place
from tests.journeys.service import until

ASKED = {"gameId": BOTH, "tierId": BRONZE}


async def _make_ready(admin: AdminClient) -> None:
    core = admin.service.core
    taken: tuple[tuple[str, tuple[Step, ...]], ...] = (
        (BOTH, ("test_on",)),
        (LIVE_ONLY, ("test_on", "request_live", "grant", "test_off")),
    )
    for game_id, steps in taken:
        for step in steps:
            await account(core, "acme", ChangeLicence(PLATFORM, game_id, step))
    await account(core, "acme", AgreeTerms(PLATFORM, 1))
    await account(core, "acme", SetPrices(PLATFORM, "test", {SILVER: SILVER_CENTS}))


@pytest.fixture
async def admin(place: Place) -> AsyncIterator[AdminClient]:
    """An account that may take seats, with its first admin and a developer without a code."""
    async with open_admin(place) as opened:
        await _make_ready(opened)
        await opened.add_member("dev", "developer", "none")
        yield opened


async def _life(admin: AdminClient, match_id: str) -> Any:
    return await admin.call_ok("GET", f"matches/{match_id}?environment=test")


async def test_a_developer_without_a_code_seats_two_players_who_can_play_at_once(
    admin: AdminClient,
) -> None:
    tried = await admin.call_ok("POST", "test-match", ASKED, who="dev")
    first, second = tried["players"]
    assert [player["displayName"] for player in tried["players"]] == ["alice", "bob"]
    life = await _life(admin, tried["matchId"])
    assert life["match"]["status"] == "started"
    assert life["match"]["pairing"] == {
        "rule": "together.v1",
        "waitedSeconds": 0,
        "begins": first["playerId"],
    }
    assert [
        (seat["playerId"], seat["status"], seat["stakeStatus"], seat["stakeUsdCents"])
        for seat in life["seats"]
    ] == [(player["playerId"], "matched", "confirmed", 100) for player in (first, second)]
    assert tried["stakeUsdCents"] == 100
    base_url = admin.service.public.base_url
    for player in (first, second):
        session = ok(
            await admin.service.public.call("GET", "/game/session", player["sessionToken"])
        )
        assert session["matches"] == [{"matchId": tried["matchId"], "status": "started"}]
        assert session["environment"] == "test"
        assert player["frameUrl"] == f"{base_url}/portal/frame/test/acme"
    assert "pgs_" not in str(tried)


async def test_the_money_of_a_test_match_is_booked_like_that_of_every_match(
    admin: AdminClient,
) -> None:
    tried = await admin.call_ok("POST", "test-match", ASKED)
    winner = tried["players"][1]["playerId"]
    seats = admin.service.core.directory.partner("acme").seats("test")
    await seats.ask(DecideMatch(tried["matchId"], "ended", winner, "completed"))

    async def is_paid() -> bool:
        seats = (await _life(admin, tried["matchId"]))["match"]["seats"]
        return all("rakeUsdCents" in seat for seat in seats)

    await until(is_paid)
    life = await _life(admin, tried["matchId"])
    assert [
        (seat["payoutUsdCents"], seat["refundUsdCents"], seat["rakeUsdCents"])
        for seat in life["match"]["seats"]
    ] == [(0, 0, 20), (180, 0, 0)]
    assert sorted(line["amountUsdCents"] for line in life["ledger"]) == [20, 80, 100, 100, 100]


async def test_a_player_who_waits_in_the_queue_is_left_there(admin: AdminClient) -> None:
    seats = admin.service.core.directory.partner("acme").seats("test")

    async def taken(key: str) -> str:
        reply = await seats.ask(StakeSeat(SeatRequest("waits", BOTH, BRONZE, 100, key, None)))
        assert isinstance(reply, Seated)
        return reply.seat.status

    assert await taken("one") == "waiting"
    tried = [await admin.call_ok("POST", "test-match", ASKED) for _ in range(2)]
    assert await taken("one") == "waiting"
    players = {player["playerId"] for one in tried for player in one["players"]}
    assert len(players) == 4
    assert "waits" not in players


async def test_without_a_stake_the_accounts_own_price_is_paid(admin: AdminClient) -> None:
    tried = await admin.call_ok("POST", "test-match", {"gameId": BOTH, "tierId": SILVER})
    assert tried["stakeUsdCents"] == SILVER_CENTS
    asked = {"gameId": BOTH, "tierId": SILVER, "stakeUsdCents": SILVER_CENTS}
    again = await admin.call_ok("POST", "test-match", asked)
    assert again["matchId"] != tried["matchId"]


async def test_a_test_match_is_refused_for_every_reason_for_which_a_test_key_is_refused(
    admin: AdminClient,
) -> None:
    for fields, status, reason, extras in (
        ({"gameId": UNKNOWN}, 403, "game_not_licensed", {}),
        ({"gameId": TEST_ONLY}, 403, "game_not_licensed", {}),
        ({"gameId": LIVE_ONLY}, 403, "game_not_licensed_in_this_environment", {}),
        ({"tierId": "none"}, 400, "unknown_tier", {}),
        ({"tierId": LIVE_TIER}, 400, "unknown_tier", {}),
        ({"tierId": LOCKED}, 409, "tier_locked", {}),
        ({"tierId": GENEROUS}, 409, "tier_locked", {}),
        ({"stakeUsdCents": 99}, 400, "stake_below_floor", {"floorUsdCents": 100}),
        ({"stakeUsdCents": 181}, 400, "stake_above_prize", {"ceilingUsdCents": 180}),
        (
            {"tierId": SILVER, "stakeUsdCents": SILVER_CENTS + 1},
            400,
            "stake_does_not_match_price",
            {"expectedUsdCents": SILVER_CENTS},
        ),
    ):
        reply = await admin.call("POST", "test-match", ASKED | fields)
        check_refusal(reply, status, reason, **extras)
    for body in ({"gameId": BOTH}, {"tierId": BRONZE, "gameId": 4}):
        check_plain(await admin.call("POST", "test-match", body))
    assert (await admin.call_ok("GET", "matches?environment=test"))["matches"] == []


async def test_a_test_match_is_refused_without_terms_and_while_the_account_is_off(
    place: Place,
) -> None:
    async with open_admin(place) as admin:
        core = admin.service.core
        await account(core, "acme", ChangeLicence(PLATFORM, BOTH, "test_on"))
        reply = await admin.call("POST", "test-match", ASKED)
        check_refusal(reply, 403, "rake_terms_not_agreed")
        await account(core, "acme", AgreeTerms(PLATFORM, 1))
        await account(core, "acme", SwitchAccount(PLATFORM, False))
        reply = await admin.call("POST", "test-match", ASKED)
        check_refusal(reply, 403, "partner_inactive")


async def test_a_deployment_of_live_alone_has_no_test_match_and_no_frame_for_it(
    place: Place,
) -> None:
    async with open_admin(place, restrict_environment="live") as admin:
        await _make_ready(admin)
        reply = await admin.call("POST", "test-match", ASKED)
        check_refusal(reply, 403, "test_key_against_live")
        frame = await admin.service.public.call("GET", "/portal/frame/test/acme")
        assert frame.status == 404


async def test_a_crash_is_answered_like_one_on_seating_and_leaves_no_seat(
    admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as broken:
        broken.setattr(two_seats, "find_price", crash)
        reply = await admin.call("POST", "test-match", ASKED)
        check_refusal(reply, 503, "settlement_unavailable")
    assert (await admin.call_ok("GET", "matches?environment=test"))["matches"] == []
    assert (await admin.call_ok("POST", "test-match", ASKED))["matchId"]


def test_the_session_tokens_are_hidden_from_logs() -> None:
    shown = repr(TriedPlayer("alice-1", "alice", "pgs1.secret", "https://games.example"))
    assert "pgs1" not in shown


async def test_one_account_starts_only_so_many_test_matches_a_second(admin: AdminClient) -> None:
    bucket, now = admin.service.core.directory.partner("acme").test_matches, trio.current_time()
    for _ in range(TEST_MATCH_POLICY.burst - 1):  # at a later time, so that none is regained
        assert bucket.take(now + 3600).allowed
    assert (await admin.call_ok("POST", "test-match", ASKED, who="dev"))["matchId"]
    refused = await admin.call("POST", "test-match", ASKED)
    check_refusal(refused, 429, "rate_limited")
    assert int(refused.header("retry-after") or 0) >= 1
    assert len((await admin.call_ok("GET", "matches?environment=test"))["matches"]) == 1


async def test_another_account_neither_finds_nor_reads_the_match(admin: AdminClient) -> None:
    tried = await admin.call_ok("POST", "test-match", ASKED)
    match_id, player_id = tried["matchId"], tried["players"][0]["playerId"]
    seat = (await _life(admin, match_id))["seats"][0]
    theirs = await admin.command(CreatePartner("Bravo", person("eve").email), "bravo")
    await admin.call_ok("POST", f"invites/{theirs.invite_id}/accept", who="eve")
    for asked in (
        "",
        f"&playerId={player_id}",
        f"&seatId={seat['seatId']}",
        f"&idempotencyKey={seat['idempotencyKey']}",
    ):
        path = f"matches?environment=test{asked}"
        assert len((await admin.call_ok("GET", path))["matches"]) == 1
        assert (await admin.call_ok("GET", path, who="eve"))["matches"] == []
    reply = await admin.call("GET", f"matches/{match_id}?environment=test", who="eve")
    check_refusal(reply, 404, "match_not_found")
