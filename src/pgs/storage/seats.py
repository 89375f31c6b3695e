"""Reads seats, matches and heads, and builds the statements that write them."""

import hashlib
from functools import lru_cache
from typing import Any

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.ledger import FIRST_HASH
from pgs.domain.matches import Match, MatchWithSeats
from pgs.domain.seats import Seat
from pgs.storage.reader import Query, Reader, Row
from pgs.storage.transactions import Stmt


class Head(msgspec.Struct):
    """The last numbers that a partner's environment has given out.

    A plan (`pgs.actors.seating.plan`) copies the head and gives out numbers by changing the copy.
    In order: the highest number of a seat, of a feed position and of a ledger row so far, the hash
    of that ledger row, and the last day that was made final (0: none).
    """

    seat_seq: int = 0
    feed_position: int = 0
    ledger_seq: int = 0
    ledger_hash: str = FIRST_HASH
    final_day: int = 0


class Due(msgspec.Struct, frozen=True):
    """A seat or a match, by its id, that needs attention from `due_at` on."""

    partner_id: str
    environment: Environment
    row_id: str
    due_at: int


class OpenSeat(msgspec.Struct, frozen=True):
    """The place of an open seat in the list of a partner's open seats, and its id."""

    player_id: str = ""
    seq: int = 0
    seat_id: str = ""


class RunningMatch(msgspec.Struct, frozen=True):
    """The key of a running match."""

    partner_id: str
    environment: Environment
    match_id: str


def insert_seat(seat: Seat) -> Stmt:
    """Return the statement that adds a seat; a second one with its idempotency key conflicts."""
    return Stmt("seats.insert_seat", seat, 1)


def update_seat(was: Seat, seat: Seat) -> Stmt:
    """Return the statement that updates a seat.

    It conflicts if the seat's status or revision has changed since `was`.
    """
    params = msgspec.structs.asdict(seat)
    params["was_status"], params["was_revision"] = was.status, was.revision
    name = "seats.update_seat" if was.match_id is None else "seats.update_seat_in_match"
    return Stmt(name, params, 1)


def insert_match(match: Match) -> Stmt:
    """Return the statement that adds a match."""
    return Stmt("matches.insert_match", match, 1)


def update_match(was: Match, match: Match) -> Stmt:
    """Return the statement that updates a match.

    It conflicts if the status of the match or of its money has changed since `was`.
    """
    params = msgspec.structs.asdict(match)
    params["was_status"], params["was_money"] = was.status, was.money
    return Stmt("matches.update_match", params, 1)


def move_head(partner_id: str, environment: Environment, was: Head, head: Head) -> Stmt:
    """Return the statement that advances the head; it conflicts if the head changed after `was`."""
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "environment": environment,
        "seat_seq": head.seat_seq,
        "feed_position": head.feed_position,
        "ledger_seq": head.ledger_seq,
        "ledger_hash": head.ledger_hash,
        "final_day": head.final_day,
        "was_seat_seq": was.seat_seq,
        "was_feed_position": was.feed_position,
        "was_ledger_seq": was.ledger_seq,
        "was_final_day": was.final_day,
        "final_seal": final_seal(partner_id, environment, head.final_day),
    }
    # A head that has counted a seat has a row.
    return Stmt("seats.move_head" if was.seat_seq else "seats.begin_head", params, 1)


@lru_cache(maxsize=10_000)  # a day needs one entry for each partner and environment
def final_seal(partner_id: str, environment: Environment, final_day: int) -> str:
    """Return the hash, in hex, that is stored with a head's last final day to show alterations."""
    return hashlib.sha256(f"{partner_id}|{environment}|{final_day}".encode()).hexdigest()


async def find_seat(reader: Reader, partner_id: str, seat_id: str) -> Seat | None:
    """Return a seat of a partner, or None."""
    row = await reader.one("seats.find_seat", partner_id=partner_id, seat_id=seat_id)
    return Seat(*row) if row else None


async def find_by_idempotency_key(
    reader: Reader, partner_id: str, environment: Environment, idempotency_key: str
) -> Seat | None:
    """Return the seat that was taken with an idempotency key, or None."""
    row = await reader.one(
        "seats.find_by_idempotency_key",
        partner_id=partner_id,
        environment=environment,
        idempotency_key=idempotency_key,
    )
    return Seat(*row) if row else None


async def waiting_seats(reader: Reader, partner_id: str, environment: Environment) -> list[Seat]:
    """Return the seats that wait for an opponent, the oldest first."""
    found = await reader.all("seats.waiting_seats", partner_id=partner_id, environment=environment)
    return sorted((Seat(*row) for row in found), key=lambda seat: seat.seq)


async def seats_in_play(
    reader: Reader, partner_id: str, environment: Environment
) -> list[tuple[str, str]]:
    """Return player id and seat id of every seat whose match runs."""
    rows = await reader.all("seats.seats_in_play", partner_id=partner_id, environment=environment)
    return [(player_id, seat_id) for player_id, seat_id in rows]


async def seats_of_match(reader: Reader, partner_id: str, match_id: str) -> list[Seat]:
    """Return the seats of a match; the seat that moves first comes first."""
    return [
        Seat(*row)
        for row in await reader.all(
            "seats.seats_of_match", partner_id=partner_id, match_id=match_id
        )
    ]


async def feed_page(
    reader: Reader, partner_id: str, environment: Environment, after: int, page_size: int
) -> list[Row]:
    """Return the feed's rows after a position, in order, each as the values that the feed shows.

    The last value is the row's position.
    """
    return await reader.all(
        "results.page",
        partner_id=partner_id,
        environment=environment,
        after=after,
        page_size=page_size,
    )


async def feed_positions(
    reader: Reader, partner_id: str, environment: Environment, after: int, page_size: int
) -> list[int]:
    """Return the positions of the rows that `feed_page` returns.

    This function reads only an index.
    """
    rows = await reader.all(
        "results.positions",
        partner_id=partner_id,
        environment=environment,
        after=after,
        page_size=page_size,
    )
    return [position for (position,) in rows]


async def position_since(
    reader: Reader, partner_id: str, environment: Environment, since: int
) -> int:
    """Return the feed position before the first row that changed at `since` or later.

    Without such a row, return the last position. This reads an index entry for each row whose money
    was recorded since then, and each row whose money is not recorded yet, so call it through
    `read_in_bulk`.
    """
    head, first = await reader.together(
        Query("seats.find_head", {"partner_id": partner_id, "environment": environment}),
        Query(
            "results.first_changed",
            {"partner_id": partner_id, "environment": environment, "since": since},
        ),
    )
    if first[0][0] is not None:
        return int(first[0][0]) - 1
    return Head(*head[0]).feed_position if head else 0


async def find_head(reader: Reader, partner_id: str, environment: Environment) -> Head:
    """Return the head of a partner's environment; `Head()` before its first seat."""
    row = await reader.one("seats.find_head", partner_id=partner_id, environment=environment)
    return Head(*row) if row else Head()


async def heads_before(
    reader: Reader, day: int, after: tuple[str, str], page_size: int
) -> list[tuple[str, Environment]]:
    """Return partners and environments whose last final day is before `day`, in their order.

    The list begins after the partner and environment `after`.
    """
    rows = await reader.all(
        "seats.heads_before",
        day=day,
        after_partner_id=after[0],
        after_environment=after[1],
        page_size=page_size,
    )
    return [(partner_id, environment) for partner_id, environment in rows]


async def find_match(reader: Reader, partner_id: str, match_id: str) -> Match | None:
    """Return a match of a partner, or None."""
    row = await reader.one("matches.find_match", partner_id=partner_id, match_id=match_id)
    return Match(*row) if row else None


async def find_match_with_seats(
    reader: Reader, partner_id: str, match_id: str
) -> MatchWithSeats | None:
    """Return a match of a partner with its seats, or None. The seat that moves first comes first.

    Match and seats are as of the same moment.
    """
    key = {"partner_id": partner_id, "match_id": match_id}
    matches, seats = await reader.together(
        Query("matches.find_match", {**key}), Query("seats.seats_of_match", {**key})
    )
    if not matches:
        return None
    return MatchWithSeats(Match(*matches[0]), tuple(Seat(*row) for row in seats))


async def due_seats(reader: Reader, until: int, after: Due | None, page_size: int) -> list[Due]:
    """Return seats that are due, the longest due first, beginning after `after`."""
    return await _due(reader, "seats.due_seats", until, after, page_size)


async def due_matches(reader: Reader, until: int, after: Due | None, page_size: int) -> list[Due]:
    """Return matches that are due, the longest due first, beginning after `after`."""
    return await _due(reader, "matches.due_matches", until, after, page_size)


async def _due(
    reader: Reader, query: str, until: int, after: Due | None, page_size: int
) -> list[Due]:
    rows = await reader.all(
        query,
        until=until,
        after_due_at=after.due_at if after else -1,
        after_partner_id=after.partner_id if after else "",
        after_row_id=after.row_id if after else "",
        page_size=page_size,
    )
    return [Due(*row) for row in rows]


async def is_money_due(reader: Reader) -> bool:
    """Return whether there is a match that has ended and whose money is not booked yet."""
    return await reader.one("matches.unpaid") is not None


async def next_due(reader: Reader) -> int | None:
    """Return when the next seat or match falls due, in epoch seconds; None if none does."""
    times = [
        row[0]
        for row in (
            await reader.one("seats.next_due_seat"),
            await reader.one("matches.next_due_match"),
        )
        if row and row[0] is not None
    ]
    return min(times, default=None)


async def open_seats_after(
    reader: Reader, partner_id: str, environment: Environment, after: OpenSeat, page_size: int
) -> list[OpenSeat]:
    """Return the seats after `after` that wait or are pending, by player and sequence.

    Seats that are already being closed are left out.
    """
    rows = await reader.all(
        "seats.open_seats_after",
        partner_id=partner_id,
        environment=environment,
        after_player_id=after.player_id,
        after_seq=after.seq,
        page_size=page_size,
    )
    return [OpenSeat(*row) for row in rows]


async def running_matches_after(
    reader: Reader, partner_id: str, environment: Environment, after: str, page_size: int
) -> list[str]:
    """Return ids above `after` of running matches, in order."""
    rows = await reader.all(
        "matches.running_matches_after",
        partner_id=partner_id,
        environment=environment,
        after=after,
        page_size=page_size,
    )
    return [match_id for (match_id,) in rows]


async def running_games(reader: Reader) -> list[str]:
    """Return the ids of the games that have running matches. It reads every running match."""
    return [game_id for (game_id,) in await reader.all("matches.running_games")]


async def running_matches_of_game(
    reader: Reader, game_id: str, after: RunningMatch | None, page_size: int
) -> list[RunningMatch]:
    """Return a game's running matches after `after`, ordered by partner and environment."""
    rows = await reader.all(
        "matches.running_matches_of_game",
        game_id=game_id,
        after_partner_id=after.partner_id if after else "",
        after_environment=after.environment if after else "",
        after_match_id=after.match_id if after else "",
        page_size=page_size,
    )
    return [RunningMatch(*row) for row in rows]
