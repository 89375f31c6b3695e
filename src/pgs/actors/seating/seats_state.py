"""What the handlers of the seats actor share: its rows, its queue of waiting seats, its commits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from pgs.actors.kernel.dispatch import DispatchingActor, Stale
from pgs.actors.kernel.mail import Envelope, Message
from pgs.actors.partners import PartnerActors
from pgs.actors.seating.after_commit import tell_of_plan
from pgs.actors.seating.lobby import Lobby
from pgs.actors.seating.plan import Plan
from pgs.actors.seating.pulse import Pulse
from pgs.domain.accounts import Account
from pgs.domain.days import start_of
from pgs.domain.environments import Environment
from pgs.domain.first_moves import FirstMoves
from pgs.domain.matches import Match, MatchWithSeats
from pgs.domain.ratings import Rating
from pgs.domain.seats import Seat
from pgs.storage import seats as rows
from pgs.storage.first_moves import find_first_moves
from pgs.storage.moves import find_attendance
from pgs.storage.ratings import find_rating
from pgs.storage.totals import first_open_day
from pgs.storage.transactions import Outcome


class WaitingCall(msgspec.Struct, frozen=True):
    """A call that waits for settlement's answer to a stake. `replayed`: as in `Seated`."""

    envelope: Envelope
    replayed: bool


class Mailbox(Protocol):
    """The actor's own mailbox, from which it takes further asks along with the current one."""

    @property
    def holds_messages(self) -> bool:
        """Whether a message waits."""
        ...

    def take_along(self, wanted: Callable[[Message], bool]) -> Envelope | None:
        """Remove the next queued message and return it, if it is an ask and `wanted` accepts it."""
        ...

    def put_back(self, envelopes: Iterable[Envelope]) -> None:
        """Undo `take_along`: put asks at the front of the queue again, in their order."""
        ...


class SeatsState(DispatchingActor):
    """One partner's seats in one environment.

    Its memory has three parts. The head has the last sequence, feed position and ledger row, and
    the last final day. The lobby has the seats that wait and, in live, what pairing needs to know
    of the players. `waiting_calls` are the calls that wait for settlement. Everything else that a
    decision needs is read from rows just before it.
    """

    def __init__(self, partner: PartnerActors, environment: Environment, mailbox: Mailbox) -> None:
        self.partner = partner
        self.mailbox = mailbox
        self.stakes_alone = 0  # how many of the next stakes must be decided one by one
        self.partner_id = partner.partner_id
        self.parts = partner.parts
        self.environment: Environment = environment
        self.lobby = Lobby(self.rating, self._is_here)
        self.pulse: Pulse | None = None
        self.waiting_calls: dict[str, list[WaitingCall]] = defaultdict(list)  # by seat id
        self._reader = partner.parts.database.reader
        self._head = rows.Head()

    async def load(self) -> None:
        """Rebuild the head and the lobby from rows."""
        self._head = await rows.find_head(self._reader, self.partner_id, self.environment)
        self.lobby = Lobby(self.rating, self._is_here)
        if self.environment == "live":
            in_play = await rows.seats_in_play(self._reader, self.partner_id, self.environment)
            self.lobby.note_play(in_play)
        for seat in await rows.waiting_seats(self._reader, self.partner_id, self.environment):
            self.lobby.place(seat)
        if self.environment == "live":
            self._start_pulse()

    @property
    def final_day(self) -> int:
        """The last day that was made final, 0 if none was."""
        return self._head.final_day

    @property
    def active_account(self) -> Account | None:
        """The partner's account if it is switched on.

        This is the account in the registry, which shows a deactivation right after its commit.
        """
        account = self.parts.registry.account(self.partner_id)
        return account if account is not None and account.active else None

    def new_id(self, prefix: str, plan: Plan) -> str:
        """Return a new id that begins with the prefix and the millisecond of a plan."""
        return self.parts.ids.new(prefix, plan.made_ms)

    async def seat(self, seat_id: str) -> Seat | None:
        """Return a seat, or None if this environment has no such seat."""
        seat = await rows.find_seat(self._reader, self.partner_id, seat_id)
        return seat if seat is not None and seat.environment == self.environment else None

    async def seat_by_key(self, idempotency_key: str) -> Seat | None:
        """Return the seat that was taken with an idempotency key, or None."""
        return await rows.find_by_idempotency_key(
            self._reader, self.partner_id, self.environment, idempotency_key
        )

    async def match(self, match_id: str) -> Match | None:
        """Return a match, or None if this environment has no such match."""
        match = await rows.find_match(self._reader, self.partner_id, match_id)
        return match if match is not None and match.environment == self.environment else None

    async def with_seats(self, match: Match) -> MatchWithSeats:
        """Return a match with its seats."""
        seats = await rows.seats_of_match(self._reader, self.partner_id, match.match_id)
        return MatchWithSeats(match, tuple(seats))

    async def has_attendance(self, match: Match) -> bool:
        """Return whether a player has come to a match."""
        return await find_attendance(self._reader, self.partner_id, match.match_id) is not None

    async def first_open_day(self) -> int | None:
        """Return the first day that is not final and has a seat whose money is not recorded."""
        return await first_open_day(
            self._reader, self.partner_id, self.environment, self._head.final_day
        )

    async def rating(self, game_id: str, player_id: str) -> Rating:
        """Return a player's rating at a game."""
        return await find_rating(
            self._reader, self.partner_id, self.environment, game_id, player_id
        )

    async def first_moves(self, seat: Seat) -> FirstMoves:
        """Return how often a seat's player has moved first at its game."""
        return await find_first_moves(
            self._reader, self.partner_id, self.environment, seat.game_id, seat.player_id
        )

    def _is_here(self, player_id: str) -> bool:
        return self.parts.presence.is_here((self.partner_id, self.environment, player_id))

    def plan(self) -> Plan:
        """Return an empty plan for a decision made now.

        The plan's time is now or, if today is final already, the first second after the last final
        day. So a clock that was put back cannot change figures that were reported.
        """
        made_ms = self.parts.clock.now_ms()
        now, final_day = made_ms // 1000, self._head.final_day
        if final_day:
            now = max(now, start_of(final_day + 1))
        return Plan(self.partner_id, self.environment, self._head, now, made_ms)

    async def commit(self, plan: Plan) -> None:
        """Write a plan, update the memory, and tell tables, subscribers and the courier.

        Raises `Stale` if rows have changed since they were read, and what the writer raises.
        """
        if await self.write(plan):
            self.follow(plan)

    async def write(self, plan: Plan) -> bool:
        """Write a plan, and return whether there was anything to write. Raises like `commit`."""
        tx = plan.tx()
        if tx is None:
            return False
        if await self.parts.database.writer.submit(tx) is Outcome.CONFLICT:
            raise Stale
        return True

    def follow(self, plan: Plan) -> None:
        """Update the memory after a plan was written, and tell others of it."""
        self._remember(plan)
        if self.environment == "live":
            self._start_pulse()
        tell_of_plan(self.partner, self.environment, plan)

    def _remember(self, plan: Plan) -> None:
        self._head, deadlines = plan.head, self.parts.deadlines
        for seat in plan.seats:
            self.lobby.place(seat)
            deadlines.note(seat.due_at)
        for match in plan.matches:
            deadlines.note(match.due_at)
        for (game_id, player_id), rating in plan.ratings.items():
            self.lobby.rated(game_id, player_id, rating)

    def _start_pulse(self) -> None:
        if self.pulse is None and self.lobby.crowded:
            self.pulse = Pulse(self.partner, self.environment)
            self.partner.spawn(self.pulse.beat)
