"""Which changes of seats and matches cause nudges, and to whom; a slow endpoint delays nobody."""

from collections import Counter
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages import seats as m
from pgs.actors.seating.switching_off import close_play
from pgs.domain.environments import Environment
from pgs.domain.matches import MatchWithSeats
from tests.actors.courier_core import CourierCore, core_with_endpoint, courier_core
from tests.actors.endpoints import FOR_EVER, GONE, HUNG, OK, OTHER, URL, Answer, Endpoints
from tests.actors.ready_core import until
from tests.actors.scripted_settlement import Late, ScriptedSettlement


async def nudged(
    s: CourierCore, environment: Environment = "test", partner: str = "acme"
) -> list[str | None]:
    """Return the match of every nudge, the first sent first. Every try is delivered."""
    assert all(attempt.delivered for attempt in await s.attempts(environment, partner))
    return [attempt.match_id for attempt in reversed(await s.attempts(environment, partner))]


async def started(s: CourierCore, *players: str) -> str:
    """Seat players who find each other; return the match."""
    seats = [await s.seat(player) for player in players]
    match_id = (await s.match_of(seats[-1])).match_id
    await happened()
    return match_id


async def happened() -> None:
    """Wait until everything is done that takes no virtual time."""
    await trio.sleep(0.01)


async def test_a_match_nudges_once_at_its_start_once_at_its_end_and_once_for_its_money(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    money = ScriptedSettlement(of_payout={"alice": [Late(3.0, "confirmed")]})
    async with courier_core(tmp_path, Endpoints(), settlement=money) as s:
        await s.save_webhook()
        await s.seat("alice")
        await happened()
        assert await nudged(s) == []  # a seat that waits is in no row of the feed
        seat = await s.seat("bob")
        match_id = (await s.match_of(seat)).match_id
        await happened()
        assert await nudged(s) == [match_id]
        await s.decide(match_id, "alice")
        await happened()
        assert await nudged(s) == [match_id] * 2
        await until(30)
        assert (await s.match_of(seat)).money == "recorded"
        assert await nudged(s) == [match_id] * 3
        await s.decide(match_id, "alice")  # the same decision again changes nothing
        await s.seat("alice")
        await until(60)
        assert await nudged(s) == [match_id] * 3


async def test_a_seat_without_an_opponent_causes_a_nudge_at_its_end_and_one_at_its_refund(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints()) as s:
        await s.save_webhook(environment="live")
        seat = await s.seat("alice", environment="live")
        await until(299)
        assert await nudged(s, "live") == []
        await until(302)
        assert (await s.match_of(seat)).end_reason == "no_opponent"
        assert await nudged(s, "live") == [(await s.match_of(seat)).match_id] * 2
        assert await nudged(s, "test") == []


@pytest.mark.usefixtures("rare_chores")
async def test_a_match_that_nobody_joins_nudges_like_any_other(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints()) as s:
        match_id = await started(s, "alice", "bob")
        await until(3602)
        assert await nudged(s) == [match_id] * 3


async def test_a_match_decided_as_no_contest_nudges_at_its_end_and_for_its_money(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints()) as s:
        match_id = await started(s, "alice", "bob")
        command = m.DecideMatch(match_id, "no_contest", None, "decided_by_test_key")
        assert isinstance(await s.partner().seats("test").ask(command), MatchWithSeats)
        await happened()
        assert await nudged(s) == [match_id] * 3


async def test_play_that_is_closed_all_at_once_nudges_for_each_match(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints()) as s:
        matches = [await started(s, f"a{number}", f"b{number}") for number in range(3)]
        await s.seat("carol")
        await s.seat("carol", "again")
        assert await close_play(s.partner(), "test", "emergency_stop") == 5
        await happened()
        counted = Counter(await nudged(s))
        assert [counted.pop(match_id) for match_id in matches] == [3, 3, 3]
        assert sorted(counted.values()) == [2, 2]


async def test_a_declined_or_pending_stake_causes_no_nudge(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    money = ScriptedSettlement(of_charge={"alice": ["declined"], "bob": ["pending", "confirmed"]})
    endpoints = Endpoints()
    async with courier_core(tmp_path, endpoints, settlement=money) as s:
        await s.save_webhook()
        for player in ("alice", "bob", "carol"):
            await s.ask_seat(player)
        await happened()
        assert endpoints.posts == []
        await until(30)  # bob's stake is confirmed by recovery, and finds carol
        assert len(endpoints.posts) == 1


async def test_test_play_goes_to_the_test_endpoint_and_live_play_to_the_live_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with courier_core(tmp_path, endpoints) as s:
        secrets = {URL: await s.save_webhook(), OTHER: await s.save_webhook(OTHER, "live")}
        assert secrets[URL] != secrets[OTHER]
        await started(s, "alice", "bob")
        assert [post.url for post in endpoints.posts] == [URL]
        for player in ("alice", "bob"):
            await s.seat(player, environment="live")
        await until(302)
        assert [post.url for post in endpoints.posts] == [
            URL,
            *[OTHER] * (len(endpoints.posts) - 1),
        ]
        assert len(endpoints.posts) > 1
        assert all(post.signed_by(secrets[post.url]) for post in endpoints.posts)


async def test_an_environment_without_an_endpoint_that_is_on_sends_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with courier_core(tmp_path, endpoints) as s:
        await s.save_webhook(environment="live")
        await started(s, "alice", "bob")
        assert "acme/courier.test" not in {
            cell.name for cell in s.parts.system.cells
        }  # partners without one cost no actor
        await s.save_webhook()
        await s.switch_off_webhook()
        await started(s, "carol", "dave")
        await until(60)
        assert endpoints.posts == []
        assert len(await s.feed()) == 4  # the rows are there all the same


async def test_an_account_that_is_off_is_sent_nothing_when_its_rows_change(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await started(s, "alice", "bob")
        await s.seat("carol")
        assert len(endpoints.posts) == 1
        assert await s.switch(False) == 2
        s.nudge()  # a nudge that was sent before the account was switched off
        await until(60)
        assert len(endpoints.posts) == 1
        assert {seat.status for seat in await s.feed()} == {"no_contest"}
        assert all(seat.refund_usd_cents for seat in await s.feed())
        await s.switch(True)
        await started(s, "dave", "erin")
        assert len(endpoints.posts) == 2


@pytest.mark.parametrize("answer", [HUNG, FOR_EVER, GONE])
async def test_an_endpoint_that_hangs_or_fails_delays_no_seat_no_feed_and_no_other_partner(
    answer: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(OK)
    endpoints.answers[URL] = [answer]
    async with courier_core(tmp_path, endpoints) as s:
        await s.open_partner("zebra")
        await s.save_webhook()
        await s.save_webhook(OTHER, partner="zebra")
        before = trio.current_time()
        for number in range(50):
            match_id = (
                await s.match_of([await s.seat(f"{name}{number}") for name in "ab"][-1])
            ).match_id
            await s.decide(match_id, f"a{number}")
        assert trio.current_time() == before
        assert len(await s.feed()) == 100
        for player in ("alice", "bob"):
            await s.seat(player, partner="zebra")
        await happened()
        assert trio.current_time() < before + 0.1
        assert [post.url for post in endpoints.posts].count(OTHER) == 1
        assert (await s.attempts(partner="zebra"))[0].delivered
