"""Moves, attendance and current seats are stored in rows and read back."""

from pathlib import Path

import pytest

from pgs.domain.matches import MatchDecision, MatchWithSeats, end
from pgs.domain.play import Attendance, Move
from pgs.storage import moves as rows
from pgs.storage.seats import find_match, update_match
from pgs.storage.transactions import Outcome, Stmt, Tx
from tests.actors.ready_core import ready_core
from tests.virtual import open_store

A_MOVE = Move(0, 0, "a1", 1_000, (30_000, 29_000))


async def test_moves_are_read_in_the_order_of_their_ply(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        moves = [Move(ply, ply % 2, f"m{ply}", ply, (ply, ply)) for ply in (2, 0, 1)]
        for move in moves:
            await store.writer.submit(Tx("acme", (rows.insert_move("acme", "mat_1", move),)))
        assert await rows.moves_of_match(store.reader, "acme", "mat_1") == sorted(
            moves, key=lambda move: move.ply
        )
        assert await rows.moves_of_match(store.reader, "other", "mat_1") == []


async def test_a_second_move_of_one_ply_conflicts(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        first, second = (
            Tx("acme", (rows.insert_move("acme", "mat_1", Move(0, 0, cell, 1, (1, 1))),))
            for cell in ("a1", "b1")
        )
        assert await store.writer.submit(first) is Outcome.COMMITTED
        assert await store.writer.submit(second) is Outcome.CONFLICT
        assert [move.move for move in await rows.moves_of_match(store.reader, "acme", "mat_1")] == [
            "a1"
        ]


async def test_a_match_has_one_row_of_attendance(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        assert await rows.find_attendance(store.reader, "acme", "mat_1") is None
        for presence in (Attendance((None, 5)), Attendance((9, 5), 9, ("Ann", None))):
            await store.writer.submit(Tx("acme", (rows.put_attendance("acme", "mat_1", presence),)))
            assert await rows.find_attendance(store.reader, "acme", "mat_1") == presence


@pytest.mark.parametrize("ended", [False, True])
async def test_a_move_conflicts_once_its_match_has_ended(ended: bool, tmp_path: Path) -> None:
    async with ready_core(tmp_path) as s:
        match = await s.match_of([await s.seat(player) for player in ("ann", "bob")][1])
        stmts: tuple[Stmt, ...] = (
            rows.insert_move("acme", match.match_id, A_MOVE),
            rows.set_due("acme", match.match_id, 7),
        )
        if ended:
            void = MatchDecision("no_contest", None, "platform_void", ())
            record = end(MatchWithSeats(match, ()), void, 5)
            await s.write_without_the_actors(update_match(match, record.match))
        outcome = await s.parts.database.writer.submit(Tx("acme", stmts))
        assert outcome is (Outcome.CONFLICT if ended else Outcome.COMMITTED)
        assert len(await rows.moves_of_match(s.reader, "acme", match.match_id)) == (
            0 if ended else 1
        )
        row = await find_match(s.reader, "acme", match.match_id)
        assert row is not None
        assert (row.due_at == 7) is not ended


async def test_a_players_seats_are_found_until_they_end(tmp_path: Path) -> None:
    async with ready_core(tmp_path) as s:
        keys = [await s.seat("ann", key) for key in ("one", "two", "three")]
        (matched,) = [await s.seat("bob")]
        assert await rows.running_seats_of_player(s.reader, "acme", "test", "ann", 9) == [
            (keys[0].seat_id, matched.match_id)
        ]
        assert (
            await rows.current_seats_of_player(s.reader, "acme", "test", "ann", 9)
        ).expecting == [(seat.seat_id, "waiting") for seat in keys[1:]]
        assert (
            len((await rows.current_seats_of_player(s.reader, "acme", "test", "ann", 1)).expecting)
            == 1
        )
        await s.decide(matched.match_id, None)
        assert await rows.running_seats_of_player(s.reader, "acme", "test", "ann", 9) == []
