"""A plan: the row changes and feed positions of one decision, written in one transaction."""

from collections.abc import Mapping

import msgspec

from pgs.domain import ledger, matches, totals
from pgs.domain.environments import Environment
from pgs.domain.matches import Match, MatchWithSeats
from pgs.domain.ratings import Rating
from pgs.domain.seats import Seat
from pgs.domain.totals import Totals, TotalsKey
from pgs.storage import seats as rows
from pgs.storage.first_moves import count_match
from pgs.storage.ledger import insert_row
from pgs.storage.ratings import save_rating
from pgs.storage.totals import raise_totals
from pgs.storage.transactions import Stmt, Tx


class Plan:
    """What one decision writes.

    `seats`, `matches` and `ratings` (by game and player) hold the states after the commit. A seat
    that changes twice is in `seats` twice; `latest` has the last state of each seat, by seat id,
    and `waiting` has the seats whose last state is waiting.
    """

    def __init__(
        self,
        partner_id: str,
        environment: Environment,
        head: rows.Head,
        now: int,
        made_ms: int,
    ) -> None:
        """`made_ms`: when the plan was made, in epoch milliseconds. New ids begin with it."""
        self.now = now
        self.made_ms = made_ms
        self.head = msgspec.structs.replace(head)  # a copy, which the plan advances
        self.seats: list[Seat] = []
        self.latest: dict[str, Seat] = {}
        self.waiting: dict[str, Seat] = {}
        self.matches: list[Match] = []
        self.ratings: dict[tuple[str, str], Rating] = {}
        self._partner_id = partner_id
        self._environment: Environment = environment
        self._was_head = head
        self._inserts: list[Stmt] = []  # of seats; `tx` puts them first
        self._stmts: list[Stmt] = []
        self._totals: dict[TotalsKey, Totals] = {}

    @property
    def moves_feed(self) -> bool:
        """Whether the plan gives the feed new rows."""
        return self.head.feed_position != self._was_head.feed_position

    def next_seq(self) -> int:
        """Return the next seat sequence."""
        self.head.seat_seq += 1
        return self.head.seat_seq

    def save(self, was: Seat | None, seat: Seat) -> Seat:
        """Add the new state of a seat, and return it. `was`: the current row, None for a new seat.

        A seat that is in a match takes the next position of the feed.
        """
        if seat.match_id is not None:
            self.head.feed_position += 1
            seat = msgspec.structs.replace(seat, position=self.head.feed_position)
        self.seats.append(seat)
        self.latest[seat.seat_id] = seat
        if was is None:
            self._inserts.append(rows.insert_seat(seat))
        else:
            self.waiting.pop(seat.seat_id, None)
            self._stmts.append(rows.update_seat(was, seat))
        if seat.status == "waiting":
            self.waiting[seat.seat_id] = seat
        return seat

    def start(
        self, first: Seat, second: Seat, match_id: str, explanation: Mapping[str, object]
    ) -> MatchWithSeats:
        """Add the match of two seats, and return it with the seats for the caller to save.

        `first` moves first.
        """
        pairing = msgspec.json.encode(explanation).decode()
        started = matches.start(first, second, match_id, pairing, self.now)
        self.insert_match(started.match)
        return started

    def count_first_moves(self, started: MatchWithSeats) -> None:
        """Count the match for both players, and its first move for the player of side 0."""
        for seat in started.seats:
            self._stmts.append(
                count_match(
                    self._partner_id,
                    self._environment,
                    seat.game_id,
                    seat.player_id,
                    moves_first=seat.side == 0,
                )
            )

    def insert_match(self, match: Match) -> None:
        """Add a new match."""
        self.matches.append(match)
        self._stmts.append(rows.insert_match(match))

    def update_match(self, was: Match, match: Match) -> None:
        """Add the new state of a match. `was`: the current row."""
        self.matches.append(match)
        self._stmts.append(rows.update_match(was, match))

    def update_all(self, was: MatchWithSeats, record: MatchWithSeats) -> MatchWithSeats:
        """Add the new states of a match and its seats, and return them."""
        self.update_match(was.match, record.match)
        pairs = zip(was.seats, record.seats, strict=True)
        return MatchWithSeats(record.match, tuple(self.save(old, new) for old, new in pairs))

    def rate(self, game_id: str, player_id: str, was: Rating, rating: Rating) -> None:
        """Add a player's new rating at a game."""
        self.ratings[game_id, player_id] = rating
        self._stmts.append(
            save_rating(self._partner_id, self._environment, game_id, player_id, was, rating)
        )

    def charge(self, seat: Seat) -> None:
        """Add the money of a stake that is confirmed now: to the ledger and to the day's totals."""
        self._book(ledger.charge(seat))
        self._count(*totals.charged(seat))

    def settle(self, record: MatchWithSeats) -> None:
        """Add the money of a match that is recorded now: to the ledger and to the days' totals."""
        for transfer in ledger.settle(record):
            self._book(transfer)
        for key, change in totals.settled(record):
            self._count(key, change)

    def make_final(self, day: int) -> None:
        """Add the change that makes every day up to `day` final."""
        self.head.final_day = day

    def _book(self, transfer: ledger.Transfer) -> None:
        head = self.head
        row = ledger.row_after(
            head.ledger_seq,
            head.ledger_hash,
            transfer,
            partner_id=self._partner_id,
            environment=self._environment,
            at=self.now,
        )
        head.ledger_seq, head.ledger_hash = row.seq, row.hash
        self._stmts.append(insert_row(row))

    def _count(self, key: TotalsKey, change: Totals) -> None:
        known = self._totals.get(key)
        self._totals[key] = change if known is None else known + change

    def tx(self) -> Tx | None:
        """Return the transaction, or None when there is nothing to write.

        The inserts of seats come first. So if there is one new seat and its idempotency key is
        taken, the first statement fails, before anything was changed. SQLite then refuses only this
        transaction, without repeating the other transactions of the same commit.
        """
        for key, change in self._totals.items():
            self._stmts.append(raise_totals(self._partner_id, self._environment, key, change))
        if self.head != self._was_head:
            self._stmts.append(
                rows.move_head(self._partner_id, self._environment, self._was_head, self.head)
            )
        stmts = (*self._inserts, *self._stmts)
        return Tx(self._partner_id, stmts) if stmts else None
