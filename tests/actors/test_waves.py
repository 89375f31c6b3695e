"""Live pairing: who meets whom in the waves that run once a second."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.shared.deadlines import Deadlines
from tests.actors.live_pool import LIVE, asked, pairing, rate, sit
from tests.actors.ready_core import at, keys_of, ready_core, until
from tests.actors.scripted_settlement import Late, ScriptedSettlement


async def test_live_seats_meet_in_the_next_wave_and_not_before(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        (alice,) = await sit(s, "alice")
        await until(7)
        (bob,) = await sit(s, "bob")
        await until(7.999)
        assert (await s.row(bob)).status == (await s.row(alice)).status == "waiting"
        await until(8)
        assert (await s.row(bob)).match_id == (await s.row(alice)).match_id is not None
        assert [(row.idempotency_key, row.started_at) for row in await s.feed(LIVE)] == [
            ("alice", at(8)),
            ("bob", at(8)),
        ]
        found = await pairing(s, bob)
        assert found.pop("begins") in {"alice", "bob"}
        assert found == {
            "rule": "live.v1",
            "waitedSeconds": 8,
            "ratingGap": 0.0,
            "allowance": 0.45,
            "waves": 1,
            "candidates": 1,
        }


async def test_players_of_similar_skill_are_paired(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await rate(s, alice=20, bob=30, carol=20.5, dave=29)
        await sit(s, "alice", "bob", "carol", "dave")
        await until(1)
        opponents = {row.player_id: row.opponent_player_id for row in await s.feed(LIVE)}
        assert opponents == {"alice": "carol", "carol": "alice", "bob": "dave", "dave": "bob"}


async def test_players_far_apart_meet_once_both_have_waited_long_enough(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await rate(s, alice=20, bob=30)
        # They are ten points apart, of which nine are certain. After 29 s that is accepted.
        _, bob = await sit(s, "alice", "bob")
        await until(28)
        assert (await s.row(bob)).status == "waiting"
        await until(29)
        assert await pairing(s, bob) | {
            "waves": 29,
            "ratingGap": 10.0,
            "waitedSeconds": 29,
        } == await pairing(s, bob)


async def test_after_a_minute_a_player_meets_anybody(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await rate(s, alice=5, bob=45)
        _, bob = await sit(s, "alice", "bob")
        await until(59)
        assert (await s.row(bob)).status == "waiting"
        await until(60)
        assert (await pairing(s, bob))["waitedSeconds"] == 60


async def test_a_player_who_finds_no_opponent_gets_the_stake_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        (alice,) = await sit(s, "alice")
        await until(302)
        assert (await s.row(alice)).end_reason == "no_opponent"
        await s.check_money()


async def test_nobody_is_paired_with_themself_or_with_a_seat_of_another_pool(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_tier("gold", 100, 180)
        await s.open_partner("other")
        seats = [await s.seat("alice", key, environment=LIVE) for key in ("a1", "a2")]
        seats += await sit(s, "bob", tier="gold")
        seats += await sit(s, "carol", game="reversi")
        seats += await sit(s, "dave", partner="other")
        await until(200)
        assert [(await s.row(seat)).status for seat in seats] == ["waiting"] * 5


async def test_a_stake_that_is_not_confirmed_takes_no_part_in_a_wave(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"bob": ["pending", Late(3, "confirmed")]})
    async with ready_core(tmp_path, port) as s:
        bob = await s.seat("bob", environment=LIVE)
        (alice,) = await sit(s, "alice")
        await until(5)
        assert ((await s.row(bob)).status, (await s.row(alice)).status) == ("pending", "waiting")
        await until(10)
        assert (await s.row(bob)).match_id == (await s.row(alice)).match_id is not None
        assert keys_of(await s.feed(LIVE)) == ["bob", "alice"]


async def test_an_expired_seat_that_is_not_closed_yet_is_not_paired(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock jumps after a suspension, and a wave comes before expired seats are closed."""

    async def never(_: Deadlines) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(Deadlines, "wait", never)
    async with ready_core(tmp_path) as s:
        alice, bob = await sit(s, "alice", "bob")
        monkeypatch.setattr(s.parts.clock, "now_ms", lambda: at(300) * 1000)
        await until(30)
        assert (await s.row(alice)).match_id is (await s.row(bob)).match_id is None
        (carol, dave) = await sit(s, "carol", "dave")
        await until(32)
        assert (await s.row(carol)).match_id == (await s.row(dave)).match_id is not None


async def test_waves_run_only_while_two_seats_of_one_pool_wait(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        moments = asked(s, monkeypatch)
        await sit(s, "alice")
        await sit(s, "bob", game="reversi")
        await until(50)
        assert moments == []
        await sit(s, "carol")
        await until(100)
        assert moments == [51.0001]
        await until(110)
        await rate(s, dave=5)
        await sit(s, "dave", "erin")
        await until(113.5)
        assert [round(moment) for moment in moments] == [51, 111, 112, 113]
        await until(600)
        assert max(moments) < 412


async def test_waiting_seats_of_test_start_no_waves(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        moments = asked(s, monkeypatch)
        for key in ("a1", "a2"):
            await s.seat("alice", key)
        await until(20)
        assert moments == []
        bob = await s.seat("bob")
        assert await pairing(s, bob) == {
            "rule": "test.v1",
            "waitedSeconds": 20,
            "begins": "alice",
        }
