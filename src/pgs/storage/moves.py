"""Reads moves, attendance and players' current seats; builds statements for running matches."""

from typing import Any

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.play import Attendance, Move
from pgs.domain.seats import Seat
from pgs.storage.reader import Query, Reader
from pgs.storage.transactions import Params, Stmt


def put_attendance(partner_id: str, match_id: str, attendance: Attendance) -> Stmt:
    """Return the statement that writes who has joined a match."""
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "match_id": match_id,
        "came_0_ms": attendance.came_ms[0],
        "came_1_ms": attendance.came_ms[1],
        "clocks_ms": attendance.clocks_ms,
        "name_0": attendance.names[0],
        "name_1": attendance.names[1],
    }
    return Stmt("moves.put_attendance", params, 1)


def insert_move(partner_id: str, match_id: str, move: Move) -> Stmt:
    """Return the statement that adds a move; a second move of the same ply conflicts."""
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "match_id": match_id,
        "ply": move.ply,
        "side": move.side,
        "move": move.move,
        "at_ms": move.at_ms,
        "left_0_ms": move.left_ms[0],
        "left_1_ms": move.left_ms[1],
    }
    return Stmt("moves.insert_move", params, 1)


def set_due(partner_id: str, match_id: str, due_at: int) -> Stmt:
    """Return the statement that sets when a running match needs attention.

    It conflicts if the match has ended.
    """
    return Stmt(
        "moves.set_due", {"partner_id": partner_id, "match_id": match_id, "due_at": due_at}, 1
    )


async def find_attendance(reader: Reader, partner_id: str, match_id: str) -> Attendance | None:
    """Return who has joined a match; None if nobody has."""
    row = await reader.one("moves.find_attendance", partner_id=partner_id, match_id=match_id)
    return Attendance((row[0], row[1]), row[2], (row[3], row[4])) if row else None


async def moves_of_match(reader: Reader, partner_id: str, match_id: str) -> list[Move]:
    """Return the moves of a match in order."""
    rows = await reader.all("moves.moves_of_match", partner_id=partner_id, match_id=match_id)
    return [
        Move(ply, side, move, at_ms, (left_0, left_1))
        for ply, side, move, at_ms, left_0, left_1 in rows
    ]


async def running_seats_of_player(
    reader: Reader, partner_id: str, environment: Environment, player_id: str, page_size: int
) -> list[tuple[str, str]]:
    """Return seat id and match id of a player's running matches, the oldest seat first."""
    rows = await reader.all(
        "moves.running_seats_of_player",
        partner_id=partner_id,
        environment=environment,
        player_id=player_id,
        page_size=page_size,
    )
    return [(seat_id, match_id) for seat_id, match_id in rows]


class CurrentSeats(msgspec.Struct, frozen=True):
    """A player's seats that have not ended, as of one moment, the oldest first.

    `running`: seat id and match id of each running match. `expecting`: id and status of each seat
    that waits for an opponent or for its stake. `waiting`: the oldest seat that waits for an
    opponent.
    """

    running: list[tuple[str, str]]
    expecting: list[tuple[str, str]]
    waiting: Seat | None


async def current_seats_of_player(
    reader: Reader, partner_id: str, environment: Environment, player_id: str, page_size: int
) -> CurrentSeats:
    """Return a player's seats that have not ended, up to `page_size` of each kind."""
    params: Params = {
        "partner_id": partner_id,
        "environment": environment,
        "player_id": player_id,
        "page_size": page_size,
    }
    running, expecting, waiting = await reader.together(
        Query("moves.running_seats_of_player", params),
        Query("moves.expecting_seats_of_player", params),
        Query("moves.oldest_waiting_seat_of_player", params),
    )
    return CurrentSeats(
        [(seat_id, match_id) for seat_id, match_id in running],
        [(seat_id, status) for seat_id, status in expecting],
        Seat(*waiting[0]) if waiting else None,
    )
