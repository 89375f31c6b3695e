"""The table: playing a match, who is present, and how it ends."""

import sqlite3
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.account.lifecycle import EmergencyStop
from pgs.actors.messages.seats import (
    CloseMatches,
    EndPlay,
)
from pgs.domain.errors import refuse
from pgs.domain.frames import Snapshot
from pgs.domain.matches import MatchDecision
from pgs.games.rules import SideClock
from pgs.games.tic_tac_toe import TicTacToe
from pgs.storage.moves import moves_of_match
from tests.actors.playing import A_WINS, Player, at_table, match_row, play, seated
from tests.actors.ready_core import at, money, ready_core, until
from tests.virtual import Faults


async def settle() -> None:
    """Wait until all messages sent so far have been handled."""
    await trio.testing.wait_all_tasks_blocked()


async def test_a_match_is_played_to_its_end_and_the_winner_is_paid(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), *A_WINS)
        await settle()
        for player, result in ((ann, "won"), (bob, "lost")):
            frames = player.take()
            assert [frame["type"] for frame in frames] == ["moved"] * 5 + ["ended"]
            assert [frame["ply"] for frame in frames[:5]] == [1, 2, 3, 4, 5]
            assert [frame["by"] for frame in frames[:5]] == [0, 1, 0, 1, 0]
            assert [frame["seq"] for frame in frames] == list(
                range(frames[0]["seq"], frames[0]["seq"] + 6)
            )
            assert frames[4]["legalMoves"] == []
            assert "deadlineAtMs" not in frames[4]
            assert (frames[5]["outcome"], frames[5]["result"], frames[5]["endReason"]) == (
                "ended",
                result,
                "completed",
            )
        assert [money(await s.by_key(player)) for player in ("ann", "bob")] == [
            (180, 0, 0),
            (0, 0, 20),
        ]
        await s.check_money()


async def test_a_move_is_in_rows_before_anybody_hears_of_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        kept: list[int] = []

        def count(text: str) -> bool:
            with closing(sqlite3.connect(s.parts.database.path)) as file:
                kept.extend(file.execute("select count(*) from move").fetchone())
            return True

        with mock.patch.object(bob.socket, "send", count):
            await play(match_id, (ann, bob), *A_WINS[:3])
        assert kept == [1, 2, 3]


async def test_a_move_that_cannot_be_written_was_not_played(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        match_id, ann, bob = await at_table(s)
        faults.fail("into move")
        with pytest.raises(Crashed):
            await ann.move(match_id, 0, "a1")
        assert bob.take() == []
        faults.heal()
        assert await ann.move(match_id, 0, "b2") is None
        assert [move.move for move in await moves_of_match(s.reader, "acme", match_id)] == ["b2"]
        assert bob.take()[-1]["move"] == "b2"


@pytest.mark.parametrize(
    ("who", "ply", "move", "reason"),
    [
        ("ann", 1, "a1", "stale_ply"),
        ("ann", 9, "zz", "stale_ply"),
        ("ann", 0, "a1", None),
        ("bob", 0, "a1", "stale_ply"),
        ("bob", 2, "zz", "not_your_turn"),
        ("ann", 2, "a1", "illegal_move"),
        ("ann", 2, "c1", None),
    ],
)
async def test_a_refused_move_changes_nothing(
    who: str, ply: int, move: str, reason: str | None, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), "a1", "b1")
        assert await {"ann": ann, "bob": bob}[who].move(match_id, ply, move) == reason
        played = [row.move for row in await moves_of_match(s.reader, "acme", match_id)]
        assert played == (["a1", "b1", "c1"] if move == "c1" else ["a1", "b1"])


async def test_a_match_that_is_over_takes_no_move_and_shows_its_end(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), *A_WINS)
        assert await ann.move(match_id, 0, "a1") == "match_over"
        await settle()
        assert await bob.move(match_id, 5, "c3") == "match_over"
        assert await bob.resign(match_id) == "match_over"
        bob.take()
        snapshot = await bob.join(match_id)
        assert isinstance(snapshot, Snapshot)
        assert (snapshot.status, snapshot.result, snapshot.legal_moves, snapshot.ply) == (
            "ended",
            "lost",
            (),
            5,
        )
        assert bob.kinds() == ["snapshot", "ended"]


async def test_a_player_may_resign_out_of_turn(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        assert await bob.resign(match_id) is None
        await settle()
        assert [
            (frame["result"], frame["endReason"])
            for player in (ann, bob)
            for frame in player.take()
        ] == [
            ("won", "resigned"),
            ("lost", "resigned"),
        ]
        assert (await match_row(s, match_id)).winner_player_id == "ann"


async def test_nobody_else_joins_or_moves(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        match_id, _, _ = await at_table(s)
        eve = await Player(s, "eve").enter()
        assert await eve.join(match_id) == refuse("match_not_found")
        assert await eve.move(match_id, 0, "a1") == "match_not_found"
        assert await eve.resign("mat_nowhere") == "match_not_found"
        assert eve.take() == []


# --- who is present -------------------------------------------------------------------------------


async def test_a_waiting_socket_is_greeted_when_its_seat_is_matched(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.seat("ann")
        ann, idle = await Player(s, "ann").enter(), await Player(s, "bob").enter()
        ann.player_socket.waiting = True
        await s.seat("bob")
        await settle()
        (snapshot,) = ann.take()
        assert (snapshot["type"], snapshot["you"], snapshot["turn"], snapshot["ply"]) == (
            "snapshot",
            0,
            0,
            0,
        )
        assert snapshot["opponent"] == {"playerId": "bob", "connected": True}
        assert snapshot["deadlineAtMs"] == at(30) * 1000, "both are here, so the clock runs"
        assert idle.take() == [], "this one has not asked to take part"


async def test_the_other_player_hears_who_comes_and_goes(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id = await seated(s, "ann", "bob")
        ann = await Player(s, "ann").enter()
        await ann.join(match_id)
        (snapshot,) = ann.take()
        assert snapshot["opponent"] == {"playerId": "bob", "connected": False}
        assert "deadlineAtMs" not in snapshot
        bob = await Player(s, "bob", name="Bob").enter()
        await settle()
        bob.leave()
        await settle()
        came, went = ann.take()
        opponent = {"playerId": "bob", "displayName": "Bob"}
        assert (came["type"], came["seq"], came["opponent"]) == (
            "presence",
            snapshot["seq"] + 1,
            {**opponent, "connected": True},
        )
        assert came["deadlineAtMs"] == at(30) * 1000
        assert (went["type"], went["seq"], went["opponent"]) == (
            "presence",
            snapshot["seq"] + 2,
            {**opponent, "connected": False},
        )


async def test_a_newer_socket_takes_the_place_of_the_older(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        newer = await Player(s, "bob").enter()
        assert bob.socket.code == 4409
        bob.leave()
        await settle()
        assert ann.take() == [], "the player has been here all the time"
        assert newer.take() == []
        await newer.join(match_id)
        await play(match_id, (ann, newer), "a1", "b1")
        assert newer.kinds() == ["snapshot", "moved", "moved"]
        assert bob.take() == []


async def test_a_lost_connection_resumes_with_a_snapshot(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), "a1", "b1")
        seq = bob.take()[-1]["seq"]
        bob.leave()
        await play(match_id, (ann, bob), "a2", ply=2)
        again = await Player(s, "bob").enter()
        snapshot = await again.join(match_id)
        assert isinstance(snapshot, Snapshot)
        assert (snapshot.ply, snapshot.turn, snapshot.you) == (3, 1, 1)
        assert snapshot.seq == seq + 3, "one message each for leaving, moving and coming back"
        assert await again.move(match_id, 3, "b2") is None


async def test_an_account_that_is_switched_off_closes_its_sockets_at_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        idle = await Player(s, "idle").enter()
        await s.switch(False)
        assert [player.socket.code for player in (ann, bob, idle)] == [4403] * 3
        await settle()
        assert (await match_row(s, match_id)).end_reason == "account_inactive"
        assert await ann.move(match_id, 0, "a1") == "match_over"


async def test_an_emergency_stop_closes_the_sockets_of_its_environment(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        here = [await Player(s, "ann").enter(), await Player(s, "ann", "live").enter()]
        await s.partner().account().ask(EmergencyStop("ops", "test"))
        assert [player.socket.code for player in here] == [4403, None]


async def test_sockets_close_once_the_registry_has_been_unreadable_too_long(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        ann = await Player(s, "ann").enter()
        with mock.patch.object(s.parts.registry, "refresh", trio.sleep_forever):
            await until(599)
            assert ann.socket.code is None
            await until(602)
            assert ann.socket.code == 4503


# --- ends from elsewhere --------------------------------------------------------------------------


async def test_a_decision_from_outside_ends_the_table(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await s.decide(match_id, None)
        await settle()
        for player in (ann, bob):
            (ended,) = player.take()
            assert (ended["type"], ended["result"], ended["endReason"]) == (
                "ended",
                "drawn",
                "decided_by_test_key",
            )
        assert await ann.move(match_id, 0, "a1") == "match_over"


async def test_a_match_that_ended_in_rows_alone_takes_no_move(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        with mock.patch(
            "pgs.actors.seating.telling.tell_tables"
        ):  # as if the message about the end had not arrived yet
            await s.decide(match_id, "bob")
        assert await ann.move(match_id, 0, "a1") == "match_over"
        assert await moves_of_match(s.reader, "acme", match_id) == []
        assert [player.kinds()[-1] for player in (ann, bob)] == ["ended", "ended"]


async def test_no_contest_has_no_result(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, _ = await at_table(s)
        await s.partner().seats("test").ask(CloseMatches((match_id,), "platform_void"))
        await settle()
        (ended,) = ann.take()
        assert {name: ended[name] for name in ended if name not in ("matchId", "seq")} == {
            "type": "ended",
            "outcome": "no_contest",
            "endReason": "platform_void",
        }


async def test_a_game_that_is_installed_no_more_voids_its_matches(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id = await seated(s, "ann", "bob")
        nobody_came = await seated(s, "carol", "dave")
        with mock.patch.dict(s.parts.games, clear=True):
            ann = await Player(s, "ann").enter()
            assert isinstance(await ann.join(match_id), Snapshot)
            await settle()
            assert (await match_row(s, match_id)).end_reason == "platform_void"
            assert ann.kinds() == ["snapshot", "ended"]
            await until(3601)
            assert (await match_row(s, nobody_came)).end_reason == "platform_void"


# --- what it costs --------------------------------------------------------------------------------


async def test_matches_that_nobody_joins_cost_no_table(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        matches = [await seated(s, f"ann{number}", f"bob{number}") for number in range(20)]
        for match_id in matches[:10]:
            await s.decide(match_id, None)
        await until(3601)
        assert [(await match_row(s, match_id)).status for match_id in matches] == ["ended"] * 10 + [
            "no_contest"
        ] * 10
        assert s.partner()._tables == {}
        assert len(s.parts.alarms) == 0


async def test_a_table_goes_when_its_match_has_ended(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        (cell,) = s.partner()._tables.values()
        assert cell in s.parts.system.cells
        await play(match_id, (ann, bob), *A_WINS)
        await settle()
        assert cell not in s.parts.system.cells
        assert len(s.parts.alarms) == 0
        assert (ann.player_socket.tables, ann.player_socket.joined) == (set(), set())
        await until(31)
        assert s.partner()._tables == {}


class Slow(TicTacToe):
    """Tic-tac-toe with a clock for each side."""

    clock = SideClock(300_000, 3_000)  # type: ignore[assignment]  # any clock will do


async def test_a_clock_for_each_side_is_told_with_every_message(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        with mock.patch.dict(s.parts.games, {"tic-tac-toe": Slow()}):
            match_id, ann, bob = await at_table(s)
            await until(10)
            await play(match_id, (ann, bob), "a1")
            await until(30)
            snapshot = await ann.join(match_id)
            assert isinstance(snapshot, Snapshot)
            assert ann.take()[0]["remainingMs"] == [293_000, 300_000]
            assert isinstance(snapshot.remaining_ms, tuple)
            assert snapshot.remaining_ms == pytest.approx((293_000, 280_000), abs=1)
            assert snapshot.deadline_at_ms == pytest.approx(at(310) * 1000, abs=1)
            await until(309)
            assert (await match_row(s, match_id)).status == "started", (
                "longer than an actor may be idle"
            )
            await until(311)
            assert (
                (await match_row(s, match_id)).winner_player_id,
                (await match_row(s, match_id)).end_reason,
            ) == (
                "ann",
                "forfeit_timeout",
            )


async def test_points_are_on_the_seats(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        match_id = await seated(s, "ann", "bob")
        decision = MatchDecision("ended", "bob", "completed", (20, 44))
        s.partner().seats("test").tell(EndPlay(match_id, decision))
        await settle()
        assert [
            ((await s.by_key(player)).score, (await s.by_key(player)).result)
            for player in ("ann", "bob")
        ] == [
            (20, "lost"),
            (44, "won"),
        ]
