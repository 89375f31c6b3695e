"""The table: one match being played. Its moves, its clocks, and who of its two players is here.

It is opened by whoever comes first and lives until the match has ended. What it knows is in rows, except who is here, which presence
knows: so it can be thrown away at any moment, and comes back with the same position. A move costs one transaction, which also says when
the match falls due, so that a table that is gone is opened again when its clock has run out. The end of a match is not its own: it asks
the seats actor, which has the money, and hears of it like of an end from elsewhere.
"""

from __future__ import annotations

import msgspec
import structlog
import trio
from msgspec import UNSET

from pgs.actors.kernel.cell import Cell
from pgs.actors.kernel.mail import LATER, Crashed, Envelope, Message
from pgs.actors.messages import table as m
from pgs.actors.partners import PartnerActors
from pgs.actors.play.held import Ending, Held, has_ended
from pgs.actors.play.positions import Position, allowance_of, position_of, replay
from pgs.actors.shared.presence import PlayerSocket
from pgs.domain import frames
from pgs.domain.clocks import MatchClock, restarted
from pgs.domain.errors import Refusal, refuse
from pgs.domain.play import START_AFTER_MS, Attendance, Move, judge
from pgs.domain.seats import Match, MatchDecision, Seat
from pgs.games import rules as games
from pgs.storage import moves as rows
from pgs.storage import seats as seat_rows
from pgs.storage.transactions import Outcome, Stmt, Tx

ASK_AGAIN_S = 10.0
"""Seconds until a table asks the seats actor again to end its match. Not sooner, because the seats
actor may have a thousand matches to end."""

END_GRACE_S = 30
"""Seconds that a match which was played to its end may stay open. Then the deadlines end it."""

DUE_SLACK_S = 1
"""Seconds by which a match's row falls due later than its table's own clock, because rows hold
whole seconds."""

log = structlog.get_logger("pgs.table")


class _Stale(Exception):
    """The match has ended, or moved on, past this table: look at the rows again."""


class TableActor:
    """One match."""

    def __init__(self, partner: PartnerActors, match_id: str, cell: Cell) -> None:
        self._partner = partner
        self._parts = partner.parts
        self._partner_id = partner.partner_id
        self._match_id = match_id
        self._cell = cell
        self._match: Match | None = None
        self._seats: tuple[Seat, ...] = ()
        self._ending: MatchDecision | None = None
        self._ask_at = 0.0  # when the seats actor is asked again
        self._held = Held()

    # --- from rows -----------------------------------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Come back to where the rows are. A clock that ran goes on with what was left at the last row."""
        reader = self._parts.database.reader
        await self._read_match()
        self._presence = (
            await rows.find_attendance(reader, self._partner_id, self._match_id) or Attendance()
        )
        self._moves = await rows.moves_of_match(reader, self._partner_id, self._match_id)
        now_ms = self._parts.clock.now_ms()
        self._seq = now_ms  # so that the numbers of one match never go back, whatever became of its earlier tables
        self._ending, self._ask_at = None, 0.0
        # The whole wait for the second player is given again: how much of it had passed is not in rows.
        self._wait_until_ms = now_ms + START_AFTER_MS
        self._rules = self._parts.games.get(self._match.game_id) if self._match else None
        self._replay()
        self._allowance = allowance_of(self._rules)
        left = self._moves[-1].left_ms if self._moves else self._allowance.full()
        self._clock = restarted(left, self._presence.clocks_ms is not None, now_ms)
        self._connected = [player_socket is not None for player_socket in self._player_sockets()]
        for side, player_socket in enumerate(self._player_sockets()):
            if (
                player_socket is not None and self._match_id in player_socket.joined
            ):  # it was here before a table that broke
                self._send_snapshot(side, player_socket)
        self._announce_end()
        self._ask_for_end()

    async def _read_match(self) -> None:
        reader = self._parts.database.reader
        match = await seat_rows.find_match(reader, self._partner_id, self._match_id)
        if match is not None and (self._match is None or match.status != self._match.status):
            self._seats = tuple(
                await seat_rows.seats_of_match(reader, self._partner_id, self._match_id)
            )
        self._match = match

    def _replay(self) -> None:
        self._stand(Position())
        if self._rules is None:
            return
        try:
            self._stand(replay(self._rules, self._moves))
        except ValueError:  # the game was replaced by one with other rules: it cannot be played on
            log.exception("moves_unreadable", partner_id=self._partner_id, match_id=self._match_id)
            self._parts.on_event("moves_unreadable")
            self._rules = None

    def _stand(self, position: Position) -> None:
        self._state, self._turn, self._legal = position.state, position.turn, position.legal
        if position.outcome is not None:
            self._ending = self._completed(position.outcome)

    # --- messages ------------------------------------------------------------------------------------------------------------------

    async def receive(self, message: Message, envelope: Envelope) -> object:
        """Handle a message; where rows were written past this table, once more from what they say now."""
        try:
            try:
                answer = await self._handle(message)
            except _Stale:
                await self.load()
                answer = await self._handle(message)
            await self._answer_held()
            return answer
        except _Stale as error:
            raise Crashed("the rows keep changing") from error
        except Ending:
            self._held.add(envelope)
            return LATER
        finally:
            self._rest()

    async def _handle(self, message: Message) -> object:
        if isinstance(message, m.PlayMove):
            return await self._play(message)
        if isinstance(message, m.JoinTable):
            return await self._join(message)
        if isinstance(message, m.Resign):
            return await self._resign(message)
        await self._read_match()
        await self._catch_up()
        self._announce_end()
        self._ask_for_end()
        return None

    def _rest(self) -> None:
        """Set the alarm for what comes next; with the match over there is nothing left to be here for."""
        key = (self._partner_id, self._match_id)
        if self._match is None or self._match.status != "started":
            self._parts.alarms.drop(key)
            self._cell.close_soon()
            return
        now_ms, now = self._parts.clock.now_ms(), trio.current_time()
        if self._ending is not None:
            self._parts.alarms.set(key, min(self._ask_at, self._held.deadline()))
            return
        deadline = self._clock.deadline(self._turn)
        # A move in the last millisecond is in time, so the table looks one later.
        next_ms = self._start_due() if deadline is None else deadline + 1
        if next_ms is not None:
            self._parts.alarms.set(key, now + (next_ms - now_ms) / 1000)

    async def _admit(self, player_id: str, name: str | None = None) -> int | None:
        """Return the side of a player who asks for something, with the match brought up to now. Raises `Ending`."""
        side = self._side(player_id)
        if side is not None:
            await self._catch_up(side, name)
            if self._is_ending():
                raise Ending
        return side

    async def _join(self, command: m.JoinTable) -> frames.Snapshot | Refusal:
        side = await self._admit(command.player_id, command.name)
        if side is None:
            return refuse("match_not_found")
        player_socket = command.player_socket
        if player_socket is not None:
            player_socket.joined.add(self._match_id)
            self._send_snapshot(side, player_socket)
            self._announce_end()
        return self._snapshot(side)

    async def _play(self, command: m.PlayMove) -> str | None:
        side = await self._admit(command.player_id)
        if side is None:
            return "match_not_found"
        verdict = judge(
            over=self._is_over(),
            played=self._moves,
            side=side,
            turn=self._turn,
            legal=self._legal,
            ply=command.ply,
            move=command.move,
        )
        if verdict == "ignore":
            return None
        if verdict != "play":
            return verdict
        await self._make_move(side, command.move)
        return None

    async def _resign(self, command: m.Resign) -> str | None:
        side = await self._admit(command.player_id)
        if side is None:
            return "match_not_found"
        if self._is_over():
            return "match_over"
        self._end(MatchDecision("ended", self._seats[1 - side].player_id, "resigned"))
        raise Ending

    # --- playing -------------------------------------------------------------------------------------------------------------------

    async def _make_move(self, side: int, move: str) -> None:
        rules, now_ms = self._rules, self._parts.clock.now_ms()
        assert rules is not None  # noqa: S101  without rules the match is over
        since = self._clock.since_ms
        left = (
            self._clock.left
            if since is None
            else self._allowance.after_move(self._clock.left, side, now_ms - since)
        )
        to = position_of(rules, rules.apply(self._state, move))
        clock = MatchClock(left, None if since is None or to.outcome is not None else now_ms)
        made = Move(len(self._moves), side, move, now_ms, left)
        # After the last move the match is due soon: should this process end before the match has, the next one ends it.
        due_at = (
            now_ms // 1000 + END_GRACE_S
            if to.outcome is not None
            else self._due_at(self._presence, clock, to.turn)
        )
        await self._commit((rows.insert_move(self._partner_id, self._match_id, made),), due_at)
        self._stand(to)
        self._clock = clock
        self._moves.append(made)
        self._seq += 1
        deadline, remaining = self._times(now_ms)
        text = frames.encode(
            frames.Moved(
                match_id=self._match_id,
                seq=self._seq,
                ply=len(self._moves),
                by=side,
                move=move,
                state=rules.view(to.state),
                turn=to.turn,
                legal_moves=self._legal,
                deadline_at_ms=deadline,
                remaining_ms=remaining,
            )
        )
        for player_socket in self._player_sockets():
            if player_socket is not None and self._match_id in player_socket.joined:
                player_socket.connection.send(text)
        if to.outcome is not None:
            self._end(self._completed(to.outcome))

    async def _catch_up(self, side: int | None = None, name: str | None = None) -> None:
        """Bring the match up to now: who is here, whether the clocks start, whether one has run out. `side` is here, socket or not."""
        if self._is_over() or self._is_ending():
            return
        if self._rules is None:
            self._end(MatchDecision("no_contest", None, "platform_void"))
            return
        now_ms = self._parts.clock.now_ms()
        player_sockets = self._player_sockets()
        presence = self._presence if side is None else self._presence.seen(side, name, now_ms)
        for here, player_socket in enumerate(player_sockets):
            if player_socket is not None:
                player_socket.tables.add(self._match_id)
                presence = presence.seen(here, player_socket.name, now_ms)
        start = self._start_due(presence)
        if start is not None and now_ms >= start:
            presence = Attendance(presence.came_ms, now_ms, presence.names)
        starts = presence.clocks_ms is not None and self._presence.clocks_ms is None
        clock = MatchClock(self._clock.left, now_ms) if starts else self._clock
        if not clock.has_run_out(self._turn, now_ms):
            await self._keep(presence, clock, now_ms)
        self._presence, self._clock = presence, clock
        self._tell_presence(player_sockets, starts)
        for here, player_socket in enumerate(player_sockets):
            if player_socket is not None and player_socket.waiting:
                player_socket.waiting = False
                player_socket.joined.add(self._match_id)
                self._send_snapshot(here, player_socket)
        if clock.has_run_out(self._turn, now_ms):
            self._end(
                MatchDecision("ended", self._seats[1 - self._turn].player_id, "forfeit_timeout")
            )

    async def _keep(self, presence: Attendance, clock: MatchClock, now_ms: int) -> None:
        """Write who has been here, and when the match falls due, where the rows do not say so yet."""
        written = (
            ()
            if presence == self._presence
            else (rows.put_attendance(self._partner_id, self._match_id, presence),)
        )
        match = self._match
        if written or (
            match is not None
            and match.due_at is not None
            and match.due_at <= now_ms // 1000
            and any(presence.came_ms)
        ):
            await self._commit(written, self._due_at(presence, clock, self._turn))

    async def _commit(self, stmts: tuple[Stmt, ...], due_at: int) -> None:
        tx = Tx(self._partner_id, (*stmts, rows.set_due(self._partner_id, self._match_id, due_at)))
        if await self._parts.database.writer.submit(tx) is Outcome.CONFLICT:
            raise _Stale
        if self._match is not None:
            self._match = msgspec.structs.replace(self._match, due_at=due_at)
        self._parts.deadlines.note(due_at)

    def _start_due(self, presence: Attendance | None = None) -> int | None:
        due = (presence or self._presence).start_due()
        return None if due is None else max(due, self._wait_until_ms)

    def _due_at(self, presence: Attendance, clock: MatchClock, turn: int) -> int:
        due_ms = clock.deadline(turn) or self._start_due(presence) or self._parts.clock.now_ms()
        return -(-due_ms // 1000) + DUE_SLACK_S

    def _completed(self, outcome: games.Outcome) -> MatchDecision:
        winner = None if outcome.winner is None else self._seats[outcome.winner].player_id
        return MatchDecision("ended", winner, "completed", outcome.scores)

    # --- the end -------------------------------------------------------------------------------------------------------------------

    def _is_over(self) -> bool:
        """Whether the disk says that the match is over: its row does, or its moves, which come to the same end at every replay."""
        match, ending = self._match, self._ending
        return (
            match is None
            or match.status != "started"
            or (ending is not None and ending.end_reason == "completed")
        )

    def _is_ending(self) -> bool:
        """Whether this table has decided an end that is in no row: who resigned, whose time was up, a void. A crash would undo it."""
        return self._ending is not None and not self._is_over()

    async def _answer_held(self) -> None:
        """Answer what was asked since the end was decided, as soon as the end is on disk."""
        if self._is_ending():
            self._held.expire()
            return
        for envelope in self._held.take():
            ended_it = has_ended(envelope.message, self._seats)
            envelope.answer(None if ended_it else await self._handle(envelope.message))

    def _end(self, decision: MatchDecision) -> None:
        self._ending, self._ask_at = decision, 0.0
        self._legal = ()
        self._clock = MatchClock(self._clock.left)
        self._ask_for_end()

    def _ask_for_end(self) -> None:
        now = trio.current_time()
        if (
            self._ending is not None
            and self._match is not None
            and self._match.status == "started"
            and now >= self._ask_at
        ):
            self._ask_at = now + ASK_AGAIN_S
            self._partner.seats(self._match.environment).tell(
                m.EndPlay(self._match_id, self._ending)
            )

    def _announce_end(self) -> None:
        """Tell everyone who takes part, once, that the match has ended."""
        match = self._match
        if match is None or match.status == "started":
            return
        self._clock, self._legal = MatchClock(self._clock.left), ()
        self._seq += 1
        for side, player_socket in enumerate(self._player_sockets()):
            if player_socket is None:
                continue
            player_socket.tables.discard(self._match_id)
            if self._match_id in player_socket.joined:
                player_socket.joined.discard(self._match_id)
                ended = frames.Ended(
                    self._match_id,
                    self._seq,
                    match.status,
                    self._seats[side].result or UNSET,
                    match.end_reason or UNSET,
                )
                player_socket.connection.send(frames.encode(ended))

    # --- what players see ----------------------------------------------------------------------------------------------------------

    def _side(self, player_id: str) -> int | None:
        return next(
            (side for side, seat in enumerate(self._seats) if seat.player_id == player_id), None
        )

    def _player_sockets(self) -> list[PlayerSocket | None]:
        find = self._parts.presence.find
        return [find((self._partner_id, seat.environment, seat.player_id)) for seat in self._seats]

    def _tell_presence(self, player_sockets: list[PlayerSocket | None], starts: bool) -> None:
        """Tell each side that takes part of what changed at the other one."""
        connected = [player_socket is not None for player_socket in player_sockets]
        changed = [was != now for was, now in zip(self._connected, connected, strict=True)]
        self._connected = connected
        if not (starts or any(changed)):
            return
        self._seq += 1
        deadline, remaining = self._times(self._parts.clock.now_ms())
        for side, player_socket in enumerate(player_sockets):
            if (
                player_socket is not None
                and self._match_id in player_socket.joined
                and (starts or changed[1 - side])
            ):
                frame = frames.PresenceOf(
                    self._match_id, self._seq, self._opponent(side), deadline, remaining
                )
                player_socket.connection.send(frames.encode(frame))

    def _opponent(self, side: int) -> frames.Opponent:
        if len(self._seats) < 2:
            return frames.Opponent(connected=False)
        other = 1 - side
        return frames.Opponent(
            self._connected[other],
            self._seats[other].player_id,
            self._presence.names[other] or UNSET,
        )

    def _times(
        self, now_ms: int
    ) -> tuple[int | msgspec.UnsetType, tuple[int, int] | msgspec.UnsetType]:
        deadline = self._clock.deadline(self._turn)
        remaining = UNSET if self._allowance.per_turn else self._clock.shown(self._turn, now_ms)
        return UNSET if deadline is None else deadline, remaining

    def _snapshot(self, side: int) -> frames.Snapshot:
        match = self._match
        assert match is not None  # noqa: S101  it has seats
        deadline, remaining = self._times(self._parts.clock.now_ms())
        return frames.Snapshot(
            match_id=self._match_id,
            game_id=match.game_id,
            seq=self._seq,
            ply=len(self._moves),
            you=side,
            turn=self._turn,
            state={} if self._rules is None else self._rules.view(self._state),
            legal_moves=self._legal,
            opponent=self._opponent(side),
            deadline_at_ms=deadline,
            remaining_ms=remaining,
            status=match.status,
            result=self._seats[side].result or UNSET,
            end_reason=match.end_reason or UNSET,
        )

    def _send_snapshot(self, side: int, player_socket: PlayerSocket) -> None:
        player_socket.connection.send(frames.encode(self._snapshot(side)))
