"""The table: playing a match to its end, what a move needs, and what a table costs."""

from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.seats import EndPlay
from pgs.domain.errors import refuse
from pgs.domain.matches import MatchDecision
from pgs.domain.socket_frames import Snapshot
from pgs.storage.moves import moves_of_match
from tests.actors.playing import A_WINS, Player, at_table, match_row, play, seated, with_side_clocks
from tests.actors.ready_core import at, money, ready_core, settle, until
from tests.beside import open_beside
from tests.virtual import Faults, on_file


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
            with closing(open_beside(on_file(s.parts.database).path)) as file:
                kept.append(file.execute("select count(*) from move").get)
            return True

        with mock.patch.object(bob.socket, "send", count):
            await play(match_id, (ann, bob), *A_WINS[:3])
        assert kept == [1, 2, 3]


async def test_a_move_that_cannot_be_written_is_not_played(
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


async def test_only_the_players_of_a_match_join_and_move(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, _, _ = await at_table(s)
        eve = await Player(s, "eve").enter()
        assert await eve.join(match_id) == refuse("match_not_found")
        assert await eve.move(match_id, 0, "a1") == "match_not_found"
        assert await eve.resign("mat_nowhere") == "match_not_found"
        assert eve.take() == []


# --- what it costs --------------------------------------------------------------------------------


@pytest.mark.usefixtures("rare_chores")
async def test_a_match_that_nobody_joins_leaves_no_table_open(
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
        assert [s.partner().open_table(match_id) for match_id in matches] == [None] * 20
        assert len(s.parts.alarms) == 0


async def test_a_table_closes_when_its_match_has_ended(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        assert s.partner().count_tables() == 1
        await play(match_id, (ann, bob), *A_WINS)
        await settle()
        assert s.partner().count_tables() == 0
        assert len(s.parts.alarms) == 0
        assert (ann.player_socket.tables, ann.player_socket.joined) == (set(), set())
        await until(31)
        assert s.partner().open_table(match_id) is None


async def test_a_clock_for_each_side_is_sent_with_every_message(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        with with_side_clocks(s, 300, 3):
            match_id, ann, bob = await at_table(s)
            await until(10)
            await play(match_id, (ann, bob), "a1")
            await until(30)
            snapshot = await ann.join(match_id)
            assert isinstance(snapshot, Snapshot)
            assert ann.take()[0]["remainingMs"] == [293_000, 300_000]
            assert snapshot.increment_ms == 3_000
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


async def test_the_points_of_a_match_are_on_its_seats(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
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
