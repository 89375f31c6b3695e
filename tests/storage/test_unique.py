"""Unique indexes work without the actors: a second row conflicts, and nothing is written."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from pgs.domain import ledger
from pgs.domain.accounts import ApiKey
from pgs.domain.seats import Seat, confirm
from pgs.storage import accounts, seats
from pgs.storage.ledger import insert_row
from pgs.storage.transactions import Outcome, Stmt, Tx
from tests.making import match, seat
from tests.virtual import START, open_store


def _seat(number: int, **fields: object) -> Seat:
    made = seat(
        number,
        seat_id=f"sea_{number}",
        idempotency_key=f"key-{number}",
        player_id=f"player-{number}",
        game_id="tic-tac-toe",
    )
    return msgspec.structs.replace(confirm(made, START), **fields)


def _key(partner_id: str, key_id: str, key_hash: str) -> tuple[Stmt, ...]:
    return accounts.insert_key(partner_id, ApiKey(key_id, "test", "k", key_hash, "last", START))


def _charge(seat: Seat, after: int = 0) -> tuple[Stmt, ...]:
    row = ledger.row_after(
        after, "hash", ledger.charge(seat), partner_id="acme", environment="test", at=START
    )
    return (insert_row(row),)


def _first_head() -> Stmt:
    """Return the statement with which a plan takes the first sequence from a new head."""
    return seats.move_head("acme", "test", seats.Head(), seats.Head(seat_seq=1))


def _match() -> Stmt:
    return seats.insert_match(match("mat_1", game_id="tic-tac-toe"))


CASES: dict[str, tuple[Callable[[], tuple[Stmt, ...]], Callable[[], tuple[Stmt, ...]]]] = {
    "a seat's id": (
        lambda: (seats.insert_seat(_seat(1)),),
        lambda: (seats.insert_seat(_seat(2, seat_id="sea_1")),),
    ),
    "a seat's sequence": (
        lambda: (seats.insert_seat(_seat(1)), _first_head()),
        lambda: (seats.insert_seat(_seat(2, seq=1)), _first_head()),
    ),
    "an idempotency key": (
        lambda: (seats.insert_seat(_seat(1)),),
        lambda: (seats.insert_seat(_seat(2, idempotency_key="key-1")),),
    ),
    "a position of the feed": (
        lambda: (seats.insert_seat(_seat(1, position=7, match_id="mat_1")),),
        lambda: (seats.insert_seat(_seat(2, position=7, match_id="mat_2")),),
    ),
    "a player in a match": (
        lambda: (seats.insert_seat(_seat(1, position=1, match_id="mat_1")),),
        lambda: (seats.insert_seat(_seat(2, position=2, match_id="mat_1", player_id="player-1")),),
    ),
    "a match": (lambda: (_match(),), lambda: (_match(),)),
    "a seat's charge": (lambda: _charge(_seat(1)), lambda: _charge(_seat(1), after=1)),
    "a key's hash, across partners": (
        lambda: _key("acme", "key_1", "hash"),
        lambda: _key("bravo", "key_2", "hash"),
    ),
}


@pytest.mark.parametrize("what", CASES)
async def test_a_second_row_conflicts_and_writes_nothing(tmp_path: Path, what: str) -> None:
    first, second = CASES[what]
    marker = seats.insert_seat(_seat(99))
    with open_store(tmp_path) as database:
        assert await database.writer.submit(Tx("acme", first())) is Outcome.COMMITTED
        assert await database.writer.submit(Tx("acme", (marker, *second()))) is Outcome.CONFLICT
        assert await seats.find_seat(database.reader, "acme", "sea_99") is None, (
            "a part of the refused transaction was written"
        )


async def test_both_environments_may_have_the_same_sequence_key_and_position(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path) as database:
        for seat in (
            _seat(1, position=1, match_id="mat_1"),
            _seat(1, environment="live", seat_id="sea_2", position=1, match_id="mat_2"),
        ):
            assert (
                await database.writer.submit(Tx("acme", (seats.insert_seat(seat),)))
                is Outcome.COMMITTED
            )
