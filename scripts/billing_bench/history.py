"""Writes a history of decided and paid matches into a data folder, without the actors.

A million seats would take the actors an hour. The rows are those that they would have written.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import msgspec

from pgs.domain import ids, ledger, matches, totals
from pgs.domain.days import start_of
from pgs.domain.matches import MatchDecision, MatchWithSeats
from pgs.domain.payouts import record_money
from pgs.domain.seats import Seat, SeatRequest, new_seat
from pgs.domain.tiers import SeatPrice
from pgs.domain.totals import Totals, TotalsKey
from pgs.storage.ledger import insert_row
from pgs.storage.queries import STATEMENTS
from pgs.storage.seats import Head, insert_match, insert_seat, move_head
from pgs.storage.sqlite.connections import DATABASE_NAME, connect
from pgs.storage.totals import raise_totals
from pgs.storage.transactions import Stmt

GAME, TIER = "tic-tac-toe", "test-bronze"
FLOOR_USD_CENTS, PRIZE_USD_CENTS = 100, 180
MATCH_S = 300  # seconds from a seat to the end of its match
BATCH = 1000  # matches in one transaction

_LARGE_CACHE = Path(__file__).parent / "large_cache.sql"


def write_history(
    folder: Path,
    partner_id: str,
    first_day: int,
    matches_a_day: int,
    days: int,
    tick: Callable[[int], None],
) -> None:
    """Write `matches_a_day` matches for each of `days` days.

    After each batch, `tick` is called with the number of matches in it.
    """
    connection = connect(folder / DATABASE_NAME)
    connection.execute(_LARGE_CACHE.read_text(encoding="utf-8"))
    connection.execute("begin")
    rows = _Rows(partner_id)
    sums: dict[TotalsKey, Totals] = {}
    try:
        for number in range(matches_a_day * days):
            day, of_day = divmod(number, matches_a_day)
            at = start_of(first_day + day) + of_day * (86_000 - MATCH_S) // matches_a_day
            record = rows.play(number, at)
            for stmt in rows.of(record):
                _run(connection, stmt)
            for key, change in rows.totals_of(record):
                sums[key] = sums[key] + change if key in sums else change
            if number % BATCH == BATCH - 1:
                connection.execute("commit")
                connection.execute("begin")
                tick(BATCH)
        for key, change in sums.items():
            _run(connection, raise_totals(partner_id, "test", key, change))
        _run(connection, move_head(partner_id, "test", Head(), rows.head))
        connection.execute("commit")
    finally:
        connection.close()


class _Rows:
    def __init__(self, partner_id: str) -> None:
        self._partner_id = partner_id
        self.head = Head()

    def play(self, number: int, at: int) -> MatchWithSeats:
        """Return a match that the first of two players won, with its money."""
        first, second = (self._seat(number, side, at) for side in "ab")
        digest = self._digest(f"match-{number}")
        match_id = ids.new_id(ids.MATCH, at * 1000, digest[: ids.ENTROPY_BYTES])
        started = matches.start(first, second, match_id, "{}", at)
        decision = MatchDecision("ended", first.player_id, "completed")
        ended = matches.end(started, decision, at + MATCH_S)
        return record_money(ended, at + MATCH_S)

    def _seat(self, number: int, side: str, at: int) -> Seat:
        digest = self._digest(f"{side}-{number}")
        player, key = f"p-{digest[10:16].hex()}", f"k-{digest[16:].hex()}"
        return new_seat(
            SeatRequest(player, GAME, TIER, FLOOR_USD_CENTS, key, None),
            SeatPrice(1, FLOOR_USD_CENTS, PRIZE_USD_CENTS),
            partner_id=self._partner_id,
            environment="test",
            seat_id=ids.new_id(ids.SEAT, at * 1000, digest[: ids.ENTROPY_BYTES]),
            seq=self._raise("seat_seq"),
            now=at,
            settlement="embedded",
        )

    def _digest(self, name: str) -> bytes:
        """Return 32 bytes that look random, as in the ids, keys and players of real seats."""
        return hashlib.sha256(f"{self._partner_id}-{name}".encode()).digest()

    def of(self, record: MatchWithSeats) -> Iterator[Stmt]:
        """Yield the statements that write a match, its seats and its ledger rows."""
        yield insert_match(record.match)
        for seat in record.seats:
            yield insert_seat(msgspec.structs.replace(seat, position=self._raise("feed_position")))
            yield self._book(ledger.charge(seat), seat.confirmed_at or 0)
        for transfer in ledger.settle(record):
            yield self._book(transfer, record.match.ended_at or 0)

    def totals_of(self, record: MatchWithSeats) -> Iterator[tuple[TotalsKey, Totals]]:
        """Yield what a match adds to the totals."""
        for seat in record.seats:
            yield totals.charged(seat)
        yield from totals.settled(record)

    def _book(self, transfer: ledger.Transfer, at: int) -> Stmt:
        row = ledger.row_after(
            self.head.ledger_seq,
            self.head.ledger_hash,
            transfer,
            partner_id=self._partner_id,
            environment="test",
            at=at,
        )
        self.head = msgspec.structs.replace(self.head, ledger_seq=row.seq, ledger_hash=row.hash)
        return insert_row(row)

    def _raise(self, name: str) -> int:
        value: int = getattr(self.head, name) + 1
        self.head = msgspec.structs.replace(self.head, **{name: value})
        return value


def _run(connection: apsw.Connection, stmt: Stmt) -> None:
    statement = STATEMENTS[stmt.name]
    connection.execute(statement.text, statement.values(stmt.params))
