"""A plan: the row changes of one decision, gathered into one transaction with the feed positions that they take."""

from collections.abc import Mapping, Sequence

import msgspec

from pgs.domain import ledger
from pgs.domain import seats as rules
from pgs.domain.environments import Environment
from pgs.domain.ratings import Rating, after_match
from pgs.domain.seats import Match, Seat
from pgs.storage import seats as rows
from pgs.storage.ratings import save_rating
from pgs.storage.transactions import Stmt, Tx


class Plan:
    """What one decision writes. Seats that are in a match take the next positions of the feed, in the order in which they come."""

    def __init__(
        self, partner_id: str, environment: Environment, head: rows.Head, now: int
    ) -> None:
        self.now = now
        self.head = head
        self.seats: list[Seat] = []  # as they will be, in the order of the plan
        self.matches: list[Match] = []
        self.ratings: dict[tuple[str, str], Rating] = {}  # as they will be, by game and player
        self.feed_moved = False
        self._partner_id = partner_id
        self._environment: Environment = environment
        self._was_head = head
        self._stmts: list[Stmt] = []

    def next_seq(self) -> int:
        """Return the next seat sequence."""
        self.head = msgspec.structs.replace(self.head, seat_seq=self.head.seat_seq + 1)
        return self.head.seat_seq

    def _placed(self, seat: Seat) -> Seat:
        if seat.match_id is not None:
            self.feed_moved = True
            self.head = msgspec.structs.replace(
                self.head, feed_position=self.head.feed_position + 1
            )
            seat = msgspec.structs.replace(seat, position=self.head.feed_position)
        self.seats.append(seat)
        return seat

    def insert(self, seat: Seat) -> None:
        """Add a new seat."""
        self._stmts.append(rows.insert_seat(self._placed(seat)))

    def update(self, was: Seat, seat: Seat) -> None:
        """Move a seat on, to the feed's end if it is in a match."""
        self._stmts.append(rows.update_seat(was, self._placed(seat)))

    def touch(self, was: Seat, seat: Seat) -> None:
        """Change a seat in a way that its row of the feed does not show."""
        self._stmts.append(rows.update_seat(was, seat))
        self.seats.append(seat)

    def start(
        self, older: Seat, newer: Seat, match_id: str, explanation: Mapping[str, object]
    ) -> tuple[Seat, Seat]:
        """Add the match of two seats that wait and return the seats as they are in it; the caller inserts or updates them."""
        match, seats = rules.start(
            older, newer, match_id, msgspec.json.encode(explanation).decode(), self.now
        )
        self.insert_match(match)
        return seats

    def insert_match(self, match: Match) -> None:
        """Add a match."""
        self.matches.append(match)
        self._stmts.append(rows.insert_match(match))

    def update_match(self, was: Match, match: Match) -> None:
        """Move a match on."""
        self.matches.append(match)
        self._stmts.append(rows.update_match(was, match))

    def rate(self, game_id: str, player_id: str, was: Rating, rating: Rating) -> None:
        """Move a player's rating at a game."""
        self.ratings[game_id, player_id] = rating
        self._stmts.append(
            save_rating(self._partner_id, self._environment, game_id, player_id, was, rating)
        )

    def book(self, transfer: ledger.Transfer) -> None:
        """Book a transfer."""
        self._stmts.extend(rows.book(self._partner_id, self._environment, transfer, self.now))

    def tx(self) -> Tx | None:
        """Return the transaction, or None when there is nothing to write."""
        if not self._stmts:
            return None
        if self.head != self._was_head:
            self._stmts.append(
                rows.move_head(self._partner_id, self._environment, self._was_head, self.head)
            )
        return Tx(self._partner_id, tuple(self._stmts))


def rate_players(plan: Plan, seats: Sequence[Seat], before: tuple[Rating, Rating]) -> None:
    """Move both players' ratings by a match that ended with a result. `before`: as rows have them."""
    one, two = seats
    if one.result is None:
        return
    after = after_match((one.player_id, two.player_id), before, one.result)
    for seat, was, rating in zip(seats, before, after, strict=True):
        plan.rate(seat.game_id, seat.player_id, was, rating)
