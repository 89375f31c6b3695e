"""Live pairing: waves once a second while seats can be paired, whatever fails in between."""

import json
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.seats import CloseSeats, DecideMatch, Wave
from pgs.actors.seating import lobby
from pgs.domain.environments import Environment
from pgs.domain.ratings import POINT, Rating
from pgs.domain.seats import Seat
from pgs.storage import seats as rows
from pgs.storage.ratings import save_rating
from tests.actors.ready_core import GAME, ReadyCore, at, keys_of, ready_core, until
from tests.actors.scripted_settlement import Late, ScriptedSettlement
from tests.virtual import Faults

LIVE: Environment = "live"


async def sit(s: ReadyCore, *players: str, **named: Any) -> list[Seat]:
    seats = [await s.seat(player, environment=LIVE, **named) for player in players]
    assert [seat.status for seat in seats] == ["waiting"] * len(seats)
    return seats


async def rate(s: ReadyCore, **points: float) -> None:
    """Write players' ratings, as if earlier matches had made them."""
    stmts = [
        save_rating(
            "acme", LIVE, GAME, player, Rating(0, 1), Rating(round(mean * POINT), 2 * POINT, 1)
        )
        for player, mean in points.items()
    ]
    await s.write_past_the_actors(*stmts)


async def pairing(s: ReadyCore, seat: Seat) -> dict[str, Any]:
    explanation = (await s.match_of(seat)).pairing
    assert explanation is not None
    found: dict[str, Any] = json.loads(explanation)
    return found


def asked(s: ReadyCore, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the times at which the live seats actor of acme is asked for a wave."""
    moments: list[float] = []
    ref = type(s.partner().seats(LIVE))
    ask = ref.ask

    async def noted(self: Any, command: Any, *args: Any) -> Any:
        if isinstance(command, Wave):
            moments.append(trio.current_time())
        return await ask(self, command, *args)

    monkeypatch.setattr(ref, "ask", noted)
    return moments


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
        # They are ten points apart, nine of them for certain. After 29 s that is accepted.
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
    async with ready_core(tmp_path) as s:
        alice, bob = await sit(s, "alice", "bob")
        monkeypatch.setattr(s.parts.clock, "now", lambda: at(300))
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


async def test_seats_that_wait_at_a_restart_are_paired_without_a_call(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        alice, bob = await sit(s, "alice", "bob")
    async with ready_core(tmp_path, seed=1) as s:
        assert (await s.row(alice)).status == "waiting"
        await until(1.5)
        assert (await s.row(bob)).match_id == (await s.row(alice)).match_id is not None


async def test_a_start_that_cannot_read_the_waiting_seats_reads_them_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        alice, _ = await sit(s, "alice", "bob")
    faults, events = Faults(), list[str]()
    faults.fail("having count(*) >= 2")
    async with ready_core(tmp_path, seed=1, faults=faults, on_event=events.append) as s:
        await until(30)
        assert "lobbies_unreadable" in events
        assert (await s.row(alice)).status == "waiting"
        faults.heal()
        await until(62)
        assert (await s.row(alice)).status == "matched"


@pytest.mark.parametrize("after", [False, True], ids=["not on disk", "on disk"])
@pytest.mark.parametrize("text", ["insert into match", "update seat set", "commit"])
async def test_a_wave_that_breaks_is_followed_by_another(
    text: str, after: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        alice, bob = await sit(s, "alice", "bob")
        faults.fail(text, after=after)
        await until(1.5)
        faults.heal()
        await until(3.5)
        assert (await s.row(alice)).match_id == (await s.row(bob)).match_id is not None
        assert [row.position for row in await s.feed(LIVE)] == [1, 2]
        assert [row.revision for row in await s.feed(LIVE)] == [1, 1]
        await s.check_money()


async def test_an_actor_that_broke_runs_one_wave_a_second_again(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        await rate(s, alice=5)
        moments = asked(s, monkeypatch)
        await sit(s, "alice", "bob")
        await until(2.5)
        monkeypatch.setattr(rows, "find_match", lambda *_: 1 / 0)
        with pytest.raises(Crashed):
            await s.partner().seats(LIVE).ask(DecideMatch("mat_x", "ended", None, "completed"))
        monkeypatch.undo()
        moments = asked(s, monkeypatch)
        await until(10.2)
        assert 8 <= len(moments) <= 10  # the pulse from before the crash asks once more
        del moments[:]
        await until(20.2)
        assert len(moments) == 10


async def test_a_wave_is_put_off_while_rows_cannot_be_read(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        alice, bob = await sit(s, "alice", "bob")
        faults.fail("from rating")
        await until(5)
        assert (await s.row(alice)).status == "waiting"
        faults.heal()
        await until(7)
        assert (await s.row(alice)).match_id == (await s.row(bob)).match_id is not None


async def test_a_large_wave_is_committed_page_by_page(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "PAGE", 3)
    async with ready_core(tmp_path) as s:
        seats = await sit(s, *(f"p{number:02}" for number in range(20)))
        sizes: list[int] = []
        submit = s.parts.database.writer.submit

        async def counted(tx: Any) -> Any:
            sizes.append(sum(stmt.name == "matches.insert_match" for stmt in tx.stmts))
            return await submit(tx)

        monkeypatch.setattr(s.parts.database.writer, "submit", counted)
        await until(1)
        assert [size for size in sizes if size] == [3, 3, 3, 1]
        assert {(await s.row(seat)).status for seat in seats} == {"matched"}
        assert [row.position for row in await s.feed(LIVE)] == list(range(1, 21))
        assert {(await pairing(s, seat))["waves"] for seat in seats} == {1}


async def test_a_pair_whose_seat_was_closed_before_its_page_is_dropped(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "PAGE", 1)
    async with ready_core(tmp_path) as s:
        seats = await sit(s, "alice", "bob", "carol", "dave")
        submit = s.parts.database.writer.submit
        closing: list[Any] = []

        async def closed_meanwhile(tx: Any) -> Any:
            if not closing and any(stmt.name == "matches.insert_match" for stmt in tx.stmts):
                closing.append(1)
                s.partner().seats(LIVE).tell(CloseSeats((seats[3].seat_id,), "account_inactive"))
            return await submit(tx)

        monkeypatch.setattr(s.parts.database.writer, "submit", closed_meanwhile)
        await until(5)
        assert [(await s.row(seat)).status for seat in seats] == [
            "matched",
            "matched",
            "waiting",
            "no_contest",
        ]
        await s.check_money()


async def test_an_account_that_is_off_has_no_waves(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        alice, bob = await sit(s, "alice", "bob")
        await s.partner().account().ask(SwitchAccount("ops", False))
        await until(5)
        assert (await s.row(alice)).match_id is None or (
            await s.row(alice)
        ).end_reason == "account_inactive"
        assert (await s.row(bob)).started_at is None
