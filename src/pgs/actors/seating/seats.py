"""The seats actor: one partner's waiting seats, pairing, idempotency and matches in one environment.

It decides one message at a time, commits, and only then shows what it did: to its own queues, to the feed's bell, to settlement. What
it keeps in memory is the head of its sequences and the seats that wait; everything else is looked up by its key just before a decision.

In the test environment a confirmed stake is paired at once. In live it waits for the next wave (`waves.py`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
import trio

from pgs.actors.activity_events import tell_of_play
from pgs.actors.kernel.mail import LATER, Crashed, Envelope, Message
from pgs.actors.messages.courier import (
    Nudge,
)
from pgs.actors.messages.seats import (
    ChargeAnswered,
    CloseMatches,
    CloseSeats,
    DecideMatch,
    MatchDue,
    MatchRecord,
    PaidOut,
    SeatDue,
    Seated,
    StakeSeat,
    Wave,
)
from pgs.actors.messages.settlement import (
    AskCharge,
    PayOut,
)
from pgs.actors.messages.table import EndPlay, LookAgain
from pgs.actors.partners import PartnerActors
from pgs.actors.seating.plan import Plan, rate_players
from pgs.actors.seating.tables import tell_tables
from pgs.actors.seating.waves import WAVE_S, Lobby, Pulse
from pgs.domain import ids, ledger, live_pairing, pairing
from pgs.domain import seats as rules
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.ratings import Rating
from pgs.domain.seats import Match, MatchDecision, Seat
from pgs.domain.tiers import Tier, stake_of
from pgs.storage import moves
from pgs.storage import seats as rows
from pgs.storage.ratings import find_rating
from pgs.storage.transactions import Outcome

_Closed = Sequence[
    tuple[Match, tuple[Seat, ...]]
]  # matches that have ended and owe money, each with its seats
_NOTHING_CLOSED: _Closed = ()


class _Stale(Exception):
    """The rows were written past this actor: decide again from what they say now."""


class SeatsActor:
    """One partner's seats in one environment."""

    def __init__(self, partner: PartnerActors, environment: Environment) -> None:
        self._partner = partner
        self._partner_id = partner.partner_id
        self._environment: Environment = environment
        self._parts = partner.parts
        self._reader = partner.parts.database.reader
        self._head = rows.Head()
        self._lobby = Lobby()
        self._pulse: Pulse | None = None
        self._asking: dict[
            str, list[tuple[Envelope, bool]]
        ] = {}  # seat id → calls that wait for its stake's answer

    async def load(self) -> None:
        """Rebuild the head and the lobby from rows."""
        self._head = await rows.find_head(self._reader, self._partner_id, self._environment)
        self._lobby = Lobby()
        for seat in await rows.waiting_seats(self._reader, self._partner_id, self._environment):
            self._lobby.place(seat)
        self._keep_pulse()

    async def receive(self, message: Message, envelope: Envelope) -> object:
        """Handle a message; a conflict with rows written past this actor is decided anew, once."""
        handle = _HANDLERS[type(message)]
        try:
            return await handle(self, message, envelope)
        except _Stale:
            await self.load()
        try:
            return await handle(self, message, envelope)
        except _Stale as error:
            raise Crashed("the rows keep changing") from error

    # --- staking -------------------------------------------------------------------------------------------------------------

    async def _stake(self, command: StakeSeat, envelope: Envelope) -> object:
        known = await rows.find_by_idempotency_key(
            self._reader, self._partner_id, self._environment, command.idempotency_key
        )
        if known is not None:
            return self._replay(known, command, envelope)
        terms = self._terms(command)
        if isinstance(terms, Refusal):
            return terms
        tier, stake = terms
        plan = self._plan()
        seat = Seat(
            partner_id=self._partner_id,
            environment=self._environment,
            seat_id=self._parts.new_id(ids.SEAT),
            seq=plan.next_seq(),
            idempotency_key=command.idempotency_key,
            player_id=command.player_id,
            game_id=command.game_id,
            tier_id=command.tier_id,
            tier_revision=tier.current.revision,
            sent_usd_cents=command.sent_usd_cents,
            stake_usd_cents=stake,
            prize_usd_cents=tier.current.prize_usd_cents,
            partner_ref=command.partner_ref,
            status="pending",
            stake_status="pending",
            seated_at=plan.now,
            due_at=rules.retry_at(plan.now, plan.now),
            updated_at=plan.now,
        )
        if self._parts.settlement.instant:
            closed = self._seat_confirmed(plan, None, rules.confirm(seat, plan.now))
            await self._commit(plan)
            self._pay(closed)
            return Seated(self._mine(plan, seat), replayed=False)
        plan.insert(seat)
        await self._commit(plan)
        return self._ask_for_stake(seat, envelope, replayed=False)

    def _terms(self, command: StakeSeat) -> tuple[Tier, int] | Refusal:
        """Return the tier and the stake to charge, or the first thing that forbids the seat."""
        account = self._parts.registry.account(self._partner_id)
        if (
            account is None or not account.active
        ):  # the mark of a deactivation counts from the moment of its commit
            return refuse("partner_inactive")
        catalogue = self._parts.catalogue.published(trio.current_time())
        if catalogue is None:
            return refuse("settlement_unavailable")
        tier = catalogue.find(self._environment, command.tier_id)
        if tier is None:
            return refuse("unknown_tier")
        if tier.is_locked(command.game_id):
            return refuse("tier_locked")
        if account.agreed_terms_version is None:
            return refuse("rake_terms_not_agreed")
        stake = stake_of(
            tier, account.prices[self._environment].get(command.tier_id), command.sent_usd_cents
        )
        return stake if isinstance(stake, Refusal) else (tier, stake)

    def _replay(self, seat: Seat, command: StakeSeat, envelope: Envelope) -> object:
        same = (seat.player_id, seat.game_id, seat.tier_id, seat.sent_usd_cents)
        if same != (command.player_id, command.game_id, command.tier_id, command.sent_usd_cents):
            return refuse("idempotency_key_conflict")
        if seat.status == "pending":
            return self._ask_for_stake(seat, envelope, replayed=True)
        return Seated(seat, replayed=True)

    def _ask_for_stake(self, seat: Seat, envelope: Envelope, *, replayed: bool) -> object:
        self._asking.setdefault(seat.seat_id, []).append((envelope, replayed))
        self._partner.settlement().tell(AskCharge(seat))
        self._parts.deadlines.note(seat.due_at)
        return LATER

    async def _charge_answered(self, message: ChargeAnswered, _: Envelope) -> None:
        seat = await self._seat(message.seat_id)
        if (
            seat is not None
            and seat.status == "pending"
            and message.answer in ("confirmed", "declined")
        ):
            plan, closed = self._plan(), _NOTHING_CLOSED
            if message.answer == "declined":
                plan.touch(seat, rules.decline(seat, plan.now))
            else:
                closed = self._seat_confirmed(plan, seat, rules.confirm(seat, plan.now))
            await self._commit(plan)
            self._pay(closed)
            seat = self._mine(plan, seat)
        for envelope, replayed in self._asking.pop(message.seat_id, ()):
            if seat is None or (message.answer is None and seat.status == "pending"):
                envelope.answer(refuse("settlement_unavailable"))
            else:
                envelope.answer(Seated(seat, replayed))

    def _seat_confirmed(self, plan: Plan, was: Seat | None, seat: Seat) -> _Closed:
        """Plan what follows on a stake's confirmation: close the seat, pair it, or let it wait; return the match that owes it its stake."""
        plan.book(ledger.charge(seat))
        account = self._parts.registry.account(self._partner_id)
        closing = seat.closing or (
            None if account is not None and account.active else "account_inactive"
        )
        place = plan.insert if was is None else lambda placed: plan.update(was, placed)
        if closing is not None:
            match, (closed,) = rules.close_alone(
                seat, self._parts.new_id(ids.MATCH), closing, plan.now
            )
            plan.insert_match(match)
            place(closed)
            return ((match, (closed,)),)
        older = self._lobby.oldest_opponent(seat, plan.now) if self._environment == "test" else None
        if older is None:
            place(seat)
            return _NOTHING_CLOSED
        explanation = pairing.explain_test(plan.now - (older.confirmed_at or plan.now))
        first, second = plan.start(older, seat, self._parts.new_id(ids.MATCH), explanation)
        plan.update(older, first)
        place(second)
        return _NOTHING_CLOSED

    # --- waves, in live --------------------------------------------------------------------------------------------------------

    async def _wave(self, command: Wave, _: Envelope) -> float | None:
        if command.pulse is None or command.pulse is not self._pulse:
            return None  # it was an earlier life's; the load before this message has started what is needed
        await self._learn_ratings()
        plan = self._plan()
        account = self._parts.registry.account(self._partner_id)
        if account is not None and account.active:  # whoever switched it off has the seats closed
            for pair in self._lobby.next_pairs(plan.now):
                older, newer = pair.older.seat, pair.newer.seat
                first, second = plan.start(
                    older,
                    newer,
                    self._parts.new_id(ids.MATCH),
                    live_pairing.explain(pair, plan.now),
                )
                plan.update(older, first)
                plan.update(newer, second)
            await self._commit(plan)
            if self._lobby.unfinished:
                return 0.0
        if self._lobby.crowded:
            return WAVE_S
        self._pulse = None
        return None

    async def _learn_ratings(self) -> None:
        if not self._lobby.unfinished:
            for game_id, player_id in self._lobby.unrated():
                self._lobby.learn(game_id, player_id, await self._rating(game_id, player_id))

    async def _rating(self, game_id: str, player_id: str) -> Rating:
        return await find_rating(
            self._reader, self._partner_id, self._environment, game_id, player_id
        )

    def _keep_pulse(self) -> None:
        if self._pulse is None and self._environment == "live" and self._lobby.crowded:
            self._pulse = Pulse(self._partner, self._environment)

    # --- deciding and closing --------------------------------------------------------------------------------------------------

    async def _decide(
        self, command: DecideMatch, _: Envelope
    ) -> MatchRecord | Refusal | BadRequest:
        match = await self._match(command.match_id)
        if match is None:
            return refuse("match_not_found")
        seats = tuple(await rows.seats_of_match(self._reader, self._partner_id, match.match_id))
        if command.winner_player_id is not None and all(
            seat.player_id != command.winner_player_id for seat in seats
        ):
            return BadRequest(
                "winnerPlayerId must name a player of this match, or be null for a draw"
            )
        decision = MatchDecision(command.outcome, command.winner_player_id, command.end_reason)
        if match.status != "started":
            return (
                MatchRecord(match, seats)
                if rules.same_decision(match, decision)
                else refuse("match_already_decided")
            )
        return await self._end_now(match, decision)

    async def _end(
        self, plan: Plan, match: Match, seats: tuple[Seat, ...], decision: MatchDecision
    ) -> Match:
        ended, after = rules.end(match, seats, decision, plan.now)
        plan.update_match(match, ended)
        for was, seat in zip(seats, after, strict=True):
            plan.update(was, seat)
        if self._environment == "live" and decision.outcome == "ended":
            one, two = [await self._rating(seat.game_id, seat.player_id) for seat in after]
            rate_players(plan, after, (one, two))
        return ended

    async def _end_play(self, message: EndPlay, _: Envelope) -> None:
        match = await self._match(message.match_id)
        if (
            match is None or match.status != "started"
        ):  # its table learns of that end, if it has not yet
            self._partner.table(message.match_id).tell(LookAgain())
        else:
            await self._end_now(match, message.decision)

    async def _end_now(self, match: Match, decision: MatchDecision) -> MatchRecord:
        plan = self._plan()
        ended = await self._end(
            plan,
            match,
            tuple(await rows.seats_of_match(self._reader, self._partner_id, match.match_id)),
            decision,
        )
        await self._commit(plan)
        self._pay([(ended, tuple(plan.seats))])
        return MatchRecord(ended, tuple(plan.seats))

    async def _close_matches(self, command: CloseMatches, _: Envelope) -> int:
        plan = self._plan()
        decision = MatchDecision("no_contest", None, command.end_reason)
        closed = []
        for match_id in command.match_ids:
            match = await self._match(match_id)
            if match is not None and match.status == "started":
                begin = len(plan.seats)
                ended = await self._end(
                    plan,
                    match,
                    tuple(await rows.seats_of_match(self._reader, self._partner_id, match_id)),
                    decision,
                )
                closed.append((ended, tuple(plan.seats[begin:])))
        await self._commit(plan)
        self._pay(closed)
        return len(closed)

    async def _close_seats(self, command: CloseSeats, _: Envelope) -> int:
        plan = self._plan()
        closed = []
        for seat_id in command.seat_ids:
            seat = await self._seat(seat_id)
            if seat is not None and seat.status == "waiting":
                closed.append(self._close_alone(plan, seat, command.end_reason))
            elif seat is not None and seat.status == "pending" and seat.closing is None:
                plan.touch(seat, msgspec.structs.replace(seat, closing=command.end_reason))
        await self._commit(plan)
        self._pay(closed)
        return len(closed)

    def _close_alone(
        self, plan: Plan, seat: Seat, end_reason: str
    ) -> tuple[Match, tuple[Seat, ...]]:
        match, (closed,) = rules.close_alone(
            seat, self._parts.new_id(ids.MATCH), end_reason, plan.now
        )
        plan.insert_match(match)
        plan.update(seat, closed)
        return match, (closed,)

    # --- what falls due --------------------------------------------------------------------------------------------------------

    async def _seat_due(self, message: SeatDue, _: Envelope) -> None:
        seat = await self._seat(message.seat_id)
        plan = self._plan()
        if seat is None or seat.due_at is None or seat.due_at > plan.now:
            return
        if seat.status == "waiting":
            closed = self._close_alone(plan, seat, "no_opponent")
            await self._commit(plan)
            self._pay([closed])
        elif seat.status == "pending":
            plan.touch(
                seat, msgspec.structs.replace(seat, due_at=rules.retry_at(seat.seated_at, plan.now))
            )
            await self._commit(plan)
            self._partner.settlement().tell(AskCharge(seat))

    async def _match_due(self, message: MatchDue, _: Envelope) -> None:
        match = await self._match(message.match_id)
        plan = self._plan()
        if match is None or match.due_at is None or match.due_at > plan.now:
            return
        if match.status == "started":
            installed = match.game_id in self._parts.games
            if (
                installed
                and await moves.find_attendance(self._reader, self._partner_id, match.match_id)
                is not None
            ):
                self._partner.table(match.match_id).tell(
                    LookAgain()
                )  # somebody came: its clocks decide
                return
            await self._end_now(
                match,
                MatchDecision("no_contest", None, "both_absent" if installed else "platform_void"),
            )
        else:
            seats = tuple(await rows.seats_of_match(self._reader, self._partner_id, match.match_id))
            plan.update_match(
                match,
                msgspec.structs.replace(
                    match, due_at=rules.retry_at(match.ended_at or plan.now, plan.now)
                ),
            )
            await self._commit(plan)
            self._pay([(match, seats)])

    # --- money -----------------------------------------------------------------------------------------------------------------

    def _pay(self, ended: _Closed) -> None:
        for match, seats in ended:
            self._partner.settlement().tell(
                PayOut(self._environment, match.match_id, rules.payouts(match, seats))
            )

    async def _paid_out(self, message: PaidOut, _: Envelope) -> None:
        match = await self._match(message.match_id)
        if match is None or match.money != "due":
            return
        plan = self._plan()
        seats = tuple(await rows.seats_of_match(self._reader, self._partner_id, match.match_id))
        recorded, after = rules.record_money(match, seats, plan.now)
        plan.update_match(match, recorded)
        for was, seat in zip(seats, after, strict=True):
            plan.update(was, seat)
        plan.book(ledger.settlement(match.match_id, after))
        await self._commit(plan)

    # --- commit, then show -----------------------------------------------------------------------------------------------------

    def _plan(self) -> Plan:
        return Plan(self._partner_id, self._environment, self._head, self._parts.clock.now())

    async def _commit(self, plan: Plan) -> None:
        tx = plan.tx()
        if tx is None:
            return
        if await self._parts.database.writer.submit(tx) is Outcome.CONFLICT:
            raise _Stale
        self._head = plan.head
        for seat in plan.seats:
            self._lobby.place(seat)
            self._parts.deadlines.note(seat.due_at)
        for match in plan.matches:
            self._parts.deadlines.note(match.due_at)
        for (game_id, player_id), rating in plan.ratings.items():
            self._lobby.rated(game_id, player_id, rating)
        self._keep_pulse()
        tell_tables(self._partner, plan)
        tell_of_play(self._parts, self._partner_id, self._environment, plan.seats, plan.matches)
        if plan.feed_moved:
            self._parts.bells.ring(self._partner_id, self._environment)
            self._nudge(plan)

    def _nudge(self, plan: Plan) -> None:
        """Tell the courier of each match that moved, once for both of its seats, where somebody is to be told."""
        account = self._parts.registry.account(self._partner_id)
        if account is None or not account.active or self._environment not in account.webhook_on:
            return
        courier = self._partner.courier(self._environment)
        for match_id in dict.fromkeys(
            seat.match_id for seat in plan.seats if seat.match_id is not None
        ):
            courier.tell(Nudge(match_id))

    async def _seat(self, seat_id: str) -> Seat | None:
        seat = await rows.find_seat(self._reader, self._partner_id, seat_id)
        return seat if seat is not None and seat.environment == self._environment else None

    async def _match(self, match_id: str) -> Match | None:
        match = await rows.find_match(self._reader, self._partner_id, match_id)
        return match if match is not None and match.environment == self._environment else None

    @staticmethod
    def _mine(plan: Plan, seat: Seat) -> Seat:
        return next(other for other in plan.seats if other.seat_id == seat.seat_id)


_Handler = Callable[[SeatsActor, Any, Envelope], Awaitable[object]]

_HANDLERS: Mapping[type, _Handler] = {
    StakeSeat: SeatsActor._stake,
    ChargeAnswered: SeatsActor._charge_answered,
    DecideMatch: SeatsActor._decide,
    CloseMatches: SeatsActor._close_matches,
    CloseSeats: SeatsActor._close_seats,
    SeatDue: SeatsActor._seat_due,
    MatchDue: SeatsActor._match_due,
    PaidOut: SeatsActor._paid_out,
    EndPlay: SeatsActor._end_play,
    Wave: SeatsActor._wave,
}
