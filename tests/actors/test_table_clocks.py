"""Clocks at the table, also across restarts of the table or of the whole service."""

from pathlib import Path
from unittest import mock

import pytest
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages import table as m
from pgs.domain.matches import Match
from pgs.domain.play import Attendance
from pgs.domain.socket_frames import Snapshot
from pgs.games.tic_tac_toe import TicTacToe
from pgs.storage.moves import find_attendance
from tests.actors.playing import (
    A_WINS,
    Player,
    alone_at_table,
    at_table,
    ends_are,
    match_row,
    never,
    play,
    seated,
)
from tests.actors.ready_core import at, ready_core, settle, until
from tests.virtual import Faults


def ended_as(match: Match) -> tuple[str | None, str | None]:
    """Return who won and why the match ended."""
    return match.winner_player_id, match.end_reason


async def test_a_player_who_does_not_move_in_time_forfeits(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await until(20)
        await play(match_id, (ann, bob), "a1")
        assert bob.take()[-1]["deadlineAtMs"] == pytest.approx(at(50) * 1000, abs=1)
        await until(49.9)
        assert (await match_row(s, match_id)).status == "started"
        await until(50.1)
        assert ended_as(await match_row(s, match_id)) == ("ann", "forfeit_timeout")
        assert [player.take()[-1]["result"] for player in (ann, bob)] == ["won", "lost"]


async def test_a_move_after_the_deadline_is_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        with mock.patch.object(s.parts.alarms, "set"):  # so that the table does not wake
            match_id, ann, _ = await at_table(s)
            await until(30.1)
            assert await ann.move(match_id, 0, "a1") == "match_over"
        await settle()
        assert ended_as(await match_row(s, match_id)) == ("bob", "forfeit_timeout")


async def test_an_absent_player_has_a_minute_and_then_a_clock_like_any_other(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id = await seated(s, "ann", "bob")
        await until(100)
        bob = await Player(s, "bob").enter()
        await bob.join(match_id)
        assert "deadlineAtMs" not in bob.take()[0]
        await until(159)
        assert bob.take() == []
        await until(161)
        (started,) = bob.take()
        assert (started["type"], started["opponent"]["connected"]) == ("presence", False)
        assert started["deadlineAtMs"] == pytest.approx(at(190) * 1000, abs=2)
        await until(191)
        assert ended_as(await match_row(s, match_id)) == ("bob", "forfeit_timeout"), (
            "it was the absent player's move"
        )


async def test_a_player_who_joins_by_a_call_counts_as_present(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann = await alone_at_table(s, "ann")
        await until(5)
        snapshot = await s.partner().table(match_id).ask(m.JoinTable("bob", "Bob", None))
        assert isinstance(snapshot, Snapshot)
        assert snapshot.deadline_at_ms == pytest.approx(at(35) * 1000, abs=1)
        started = ann.take()[-1]
        assert (started["type"], started["opponent"]) == (
            "presence",
            {"playerId": "bob", "displayName": "Bob", "connected": False},
        )
        assert started["deadlineAtMs"] == snapshot.deadline_at_ms


@pytest.mark.usefixtures("rare_chores")
async def test_the_first_player_to_come_keeps_a_match_from_ending_as_absent(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        (nobody, somebody) = [
            await seated(s, f"ann{pair}", f"bob{pair}", environment="test") for pair in "12"
        ]
        await until(3599)
        ann = await Player(s, "ann2").enter()
        await ann.join(somebody)
        await until(3601)
        assert (await match_row(s, nobody)).end_reason == "both_absent"
        assert (await match_row(s, somebody)).status == "started"
        assert await ann.move(somebody, 0, "a1") is None, (
            "the side to move need not wait for the other"
        )
        assert ann.take()[-1]["ply"] == 1
        await until(3659 + 31)
        assert ended_as(await match_row(s, somebody)) == ("ann2", "forfeit_timeout")


async def test_a_match_that_both_have_left_still_forfeits(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        ann.leave()
        bob.leave()
        await until(31)
        assert ended_as(await match_row(s, match_id)) == ("bob", "forfeit_timeout")


async def test_a_table_that_lost_its_alarm_is_woken_by_the_search_for_deadlines(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        with mock.patch.object(s.parts.alarms, "set"):
            match_id, _, _ = await at_table(s)
            await until(33)
        assert ended_as(await match_row(s, match_id)) == ("bob", "forfeit_timeout")


# --- outages and restarts -------------------------------------------------------------------------


async def test_an_outage_gives_the_players_their_time_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await until(20)
        await play(match_id, (ann, bob), "a1", "b1")
        seq = ann.take()[-1]["seq"]
    await until(1000)
    async with ready_core(tmp_path) as s:
        ann, bob = await Player(s, "ann").enter(), await Player(s, "bob").enter()
        snapshot = await ann.join(match_id)
        assert isinstance(snapshot, Snapshot)
        assert (snapshot.ply, snapshot.turn, snapshot.state["board"][0]) == (2, 0, (0, 1, None))
        assert snapshot.deadline_at_ms == pytest.approx(at(1030) * 1000, abs=1)
        assert snapshot.seq > seq
        await play(match_id, (ann, bob), *A_WINS[2:], ply=2)
        await settle()
        assert ended_as(await match_row(s, match_id)) == ("ann", "completed")


async def test_a_clock_goes_on_after_an_outage_even_if_nobody_comes_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), "a1")
    await until(1000)
    async with ready_core(tmp_path) as s:
        await until(1029)
        assert ((await match_row(s, match_id)).status, (await match_row(s, match_id)).due_at) == (
            "started",
            at(1031),
        ), "the search for deadlines told it again every second"
        await until(1032)
        assert ended_as(await match_row(s, match_id)) == ("ann", "forfeit_timeout")


async def test_the_wait_for_the_second_player_begins_anew_after_an_outage(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, _ = await alone_at_table(s, "bob", "Bob")
    await until(1000)
    async with ready_core(tmp_path) as s:
        ann = await Player(s, "ann").enter()
        await ann.join(match_id)
        assert ann.take()[-1]["opponent"] == {
            "playerId": "bob",
            "displayName": "Bob",
            "connected": False,
        }
        presence = await find_attendance(s.reader, "acme", match_id)
        assert presence is not None
        assert presence.clocks_ms == pytest.approx(at(1000) * 1000, abs=1), (
            "both players have been present, at different times"
        )


async def test_after_an_outage_an_absent_player_is_waited_for_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, _ = await alone_at_table(s, "bob")
        await until(30)
    await until(1000)
    async with ready_core(tmp_path) as s:
        await until(1059)
        assert await find_attendance(s.reader, "acme", match_id) == Attendance((None, at(0) * 1000))
        await until(1089)
        assert (await match_row(s, match_id)).status == "started"
        await until(1092)
        assert ended_as(await match_row(s, match_id)) == ("bob", "forfeit_timeout")


async def test_a_match_that_was_played_to_its_end_before_a_crash_is_ended_after_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    with ends_are(never):
        async with ready_core(tmp_path) as s:
            match_id, ann, bob = await at_table(s)
            await play(match_id, (ann, bob), *A_WINS)
            await settle()
            assert ann.kinds()[-1] == "moved"
    async with ready_core(tmp_path) as s:
        await until(29)
        assert (await match_row(s, match_id)).status == "started"
        await until(33)
        assert ended_as(await match_row(s, match_id)) == ("ann", "completed")
        assert (await s.by_key("bob")).result == "lost"


async def test_a_table_asks_again_until_its_match_has_ended(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        with ends_are(never):
            with pytest.raises(Crashed):
                await bob.resign(match_id)
            assert (await match_row(s, match_id)).status == "started"
            await until(9)
        await until(11)
        assert ended_as(await match_row(s, match_id)) == ("ann", "resigned")
        assert ann.kinds()[-1] == "ended"


async def test_a_table_that_breaks_resumes_from_its_rows(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), "a1")
        for player in (ann, bob):
            player.take()
        await until(10)
        with mock.patch.object(TicTacToe, "view", side_effect=RuntimeError), pytest.raises(Crashed):
            # The move is in rows when the table breaks, which is while it tells the players.
            await bob.move(match_id, 1, "b1")
        ann.table(match_id).tell(m.LookAgain())
        await settle()
        for player in (ann, bob):
            (snapshot,) = player.take()
            assert (snapshot["type"], snapshot["ply"], snapshot["turn"]) == ("snapshot", 2, 0)
            assert snapshot["deadlineAtMs"] == pytest.approx(at(40) * 1000, abs=1)
        assert await bob.move(match_id, 1, "b1") is None, "a move sent again is ignored"
        await play(match_id, (ann, bob), *A_WINS[2:], ply=2)


async def test_a_match_whose_moves_the_game_no_longer_accepts_is_voided(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), "a1")
    events: list[str] = []
    async with ready_core(tmp_path, on_event=events.append) as s:
        with mock.patch.object(TicTacToe, "apply", side_effect=ValueError):
            await (await Player(s, "ann").enter()).join(match_id)
            await settle()
        assert (await match_row(s, match_id)).end_reason == "platform_void"
        assert "moves_unreadable" in events


async def test_a_disk_that_fails_for_a_while_costs_no_match(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), "a1")
        faults.fail("update match set")
        await until(35)
        assert (await match_row(s, match_id)).status == "started"
        faults.heal()
        await until(45)
        assert ended_as(await match_row(s, match_id)) == ("ann", "forfeit_timeout")
