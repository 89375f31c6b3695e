"""The table: the actor of one match while it is played.

The first message opens the table. Once a player has come, the table stays open until the match has
ended. The position is in rows, so a table that crashes is loaded again with the same position. Each
move is one transaction, which also writes when the match falls due. At that time the table is
opened if it is not open, for example after a restart of the service.

The table does not end its match itself. It asks the seats actor, which handles the money. After
every end the seats actor sends `LookAgain`, and the table reads the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import structlog
import trio

from pgs.actors.kernel.cell import Cell
from pgs.actors.kernel.dispatch import DispatchingActor, Handler, Stale
from pgs.actors.kernel.mail import LATER, Crashed, Envelope, Interrupted, Message, Overloaded
from pgs.actors.messages import table as m
from pgs.actors.messages.seats import EndPlay
from pgs.actors.partners import PartnerActors
from pgs.actors.play.held import Ending, HeldCommands, ended_the_match
from pgs.actors.play.participants import Participants
from pgs.actors.play.position import position_of
from pgs.actors.play.state import MatchState
from pgs.actors.shared.presence import PlayerSocket
from pgs.actors.waiting_seats import tell_of_seat_soon
from pgs.domain import socket_frames as frames
from pgs.domain.errors import Refusal, refuse
from pgs.domain.match_clocks import MatchClock
from pgs.domain.matches import MatchDecision, MatchWithSeats
from pgs.domain.play import Attendance, Move, judge
from pgs.storage import moves as rows
from pgs.storage.seats import find_match_with_seats
from pgs.storage.transactions import Outcome, Stmt, Tx, WriteFailed, WriterFull

ASK_AGAIN_S = 10.0
"""Seconds until a table asks the seats actor again to end its match. The table waits this long
because the seats actor may have a thousand matches to end."""

END_GRACE_S = 30
"""Seconds from the last move of a game until its match falls due. If the match has not ended by
then because its table is gone, the table is opened again and asks for the match's end."""

log = structlog.get_logger("pgs.table")


class TableActor(DispatchingActor):
    """One match: its moves, its clocks, and the sockets of its two players."""

    def __init__(self, partner: PartnerActors, match_id: str, cell: Cell) -> None:
        self._partner = partner
        self._parts = partner.parts
        self._partner_id = partner.partner_id
        self._match_id = match_id
        self._cell = cell
        self._ask_at = 0.0  # when the seats actor is asked again, in trio's time
        self._held = HeldCommands()

    async def load(self) -> None:
        """Read the match from its rows.

        A running clock starts again with the time that was left after the last move.
        """
        reader = self._parts.database.reader
        found = await self._read_match()
        match = None if found is None else found.match
        seats = () if found is None else found.seats
        attendance = await rows.find_attendance(reader, self._partner_id, self._match_id)
        moves = await rows.moves_of_match(reader, self._partner_id, self._match_id)
        installed = None if match is None else self._parts.games.get(match.game_id)
        now_ms = self._parts.clock.now_ms()
        self._state = MatchState(match, seats, attendance or Attendance(), moves, installed, now_ms)
        if installed is not None and self._state.is_unplayable:
            log.error("moves_unreadable", partner_id=self._partner_id, match_id=self._match_id)
            self._parts.on_event("moves_unreadable")
        self._ask_at = 0.0
        self._participants = Participants(self._parts.presence, self._state, self._match_id, now_ms)
        self._participants.greet_again(now_ms)
        self._announce_end()
        self._ask_for_end()

    async def _read_match(self) -> MatchWithSeats | None:
        reader = self._parts.database.reader
        return await find_match_with_seats(reader, self._partner_id, self._match_id)

    async def receive(self, message: Message, envelope: Envelope) -> object:
        """Handle a message, answer the held commands if the end is on disk, and set the alarm."""
        try:
            reply = await super().receive(message, envelope)
            await self._answer_held()
        except Ending:
            self._held.add(envelope)
            return LATER
        finally:
            self._set_alarm()
        return reply

    # --- what the players ask ------------------------------------------------------------------

    async def _join(self, command: m.JoinTable, _: Envelope) -> frames.Snapshot | Refusal:
        socket = command.player_socket
        joins_again = socket is not None and self._match_id in socket.joined
        side = await self._admit(command.player_id, command.name, socket)
        if side is None:
            return refuse("match_not_found")
        now_ms = self._parts.clock.now_ms()
        if socket is not None:
            # `_admit` may have sent the snapshot to a socket that joins for the first time. Such a
            # socket gets no second one.
            if joins_again or self._match_id not in socket.joined:
                self._participants.join(side, socket, now_ms)
            self._announce_end()
        return self._participants.snapshot(side, now_ms)

    async def _play(self, command: m.PlayMove, _: Envelope) -> m.ActionReply:
        side = await self._admit(command.player_id)
        if side is None:
            return m.ActionRefused("match_not_found")
        state = self._state
        verdict = judge(
            over=state.is_over,
            played=state.moves,
            side=side,
            turn=state.position.turn,
            legal=state.position.legal,
            ply=command.ply,
            move=command.move,
        )
        if verdict == "ignore":
            return m.ActionTaken()
        if verdict != "play":
            return m.ActionRefused(verdict)
        await self._make_move(side, command.move)
        return m.ActionTaken()

    async def _resign(self, command: m.Resign, _: Envelope) -> m.ActionReply:
        side = await self._admit(command.player_id)
        if side is None:
            return m.ActionRefused("match_not_found")
        if self._state.is_over:
            return m.ActionRefused("match_over")
        self._end(self._state.opponent_wins(side, "resigned"))
        raise Ending

    async def _look_again(self, message: m.LookAgain, _: Envelope) -> None:
        found = await self._read_match()
        self._state.match = None if found is None else found.match
        if found is not None:
            self._state.seats = found.seats
        if message.started and self._state.runs:
            self._participants.mark_arrivals(waiting_only=False)
        await self._catch_up()
        if message.started and self._state.runs:
            self._participants.greet(self._parts.clock.now_ms())
        self._announce_end()
        self._ask_for_end()

    async def _admit(
        self, player_id: str, name: str | None = None, socket: PlayerSocket | None = None
    ) -> int | None:
        """Call `_catch_up` for the player who sent a command; return the player's side.

        A player who has no seat gets None, without `_catch_up`. `socket`: the socket that joins,
        which makes the player present. Raises `Ending` while a decided end is not on disk.
        """
        side = self._state.side_of(player_id)
        if side is not None:
            if socket is not None and self._state.runs:
                self._participants.mark_present(socket)
            await self._catch_up(side, name)
            if self._state.is_ending:
                raise Ending
        return side

    # --- moves and clocks ----------------------------------------------------------------------

    async def _make_move(self, side: int, move: str) -> None:
        state, now_ms = self._state, self._parts.clock.now_ms()
        if state.rules is None:
            raise LookupError("a match whose game cannot be played is over")
        position = position_of(state.rules, state.rules.apply(state.position.state, move))
        ends = position.outcome is not None
        since_ms, left = state.clock.since_ms, state.clock.left
        if since_ms is not None:
            left = state.time_control.after_move(left, side, now_ms - since_ms)
        clock = MatchClock(left, None if since_ms is None or ends else now_ms)
        made = Move(len(state.moves), side, move, now_ms, left)
        # After the last move the match falls due soon. If this process stops before the match has
        # ended, the next process ends it.
        due_at = (
            now_ms // 1000 + END_GRACE_S
            if ends
            else state.row_due_at(state.attendance, clock, position.turn, now_ms)
        )
        await self._commit((rows.insert_move(self._partner_id, self._match_id, made),), due_at)
        state.set_position(position)
        state.clock = clock
        state.moves.append(made)
        self._participants.tell_move(made, now_ms)
        if state.ending is not None:
            self._end(state.ending)

    async def _catch_up(self, side: int | None = None, name: str | None = None) -> None:
        """Update attendance and clocks; end the match if a clock ran out or it cannot be played.

        `side` counts as having come, even without an open socket.
        """
        state = self._state
        if state.is_over or state.is_ending:
            return
        if state.is_unplayable:
            self._end(MatchDecision("no_contest", None, "platform_void"))
            return
        now_ms = self._parts.clock.now_ms()
        self._participants.mark_arrivals(waiting_only=True)
        attendance = self._attendance_now(side, name, now_ms)
        starts = attendance.clocks_ms is not None and state.attendance.clocks_ms is None
        clock = MatchClock(state.clock.left, now_ms) if starts else state.clock
        ran_out = clock.has_run_out(state.position.turn, now_ms)
        if not ran_out:
            await self._write_attendance(attendance, clock, now_ms)
        state.attendance, state.clock = attendance, clock
        self._participants.tell_presence(clocks_started=starts, now_ms=now_ms)
        self._participants.greet(now_ms)
        if ran_out:
            self._end(state.opponent_wins(state.position.turn, "forfeit_timeout"))

    def _attendance_now(self, side: int | None, name: str | None, now_ms: int) -> Attendance:
        attendance = self._state.attendance
        if side is not None:
            attendance = attendance.seen(side, name, now_ms)
        for here, socket in enumerate(self._participants.present()):
            if socket is not None:
                attendance = attendance.seen(here, socket.name, now_ms)
        start_ms = self._state.start_due_ms(attendance)
        if start_ms is not None and now_ms >= start_ms:
            attendance = Attendance(attendance.came_ms, now_ms, attendance.names)
        return attendance

    async def _write_attendance(
        self, attendance: Attendance, clock: MatchClock, now_ms: int
    ) -> None:
        """Write who has come and when the match falls due, unless the rows already say so."""
        state = self._state
        stmts: tuple[Stmt, ...] = ()
        if attendance != state.attendance:
            stmts = (rows.put_attendance(self._partner_id, self._match_id, attendance),)
        due_at = None if state.match is None else state.match.due_at
        is_due = due_at is not None and due_at <= now_ms // 1000 and any(attendance.came_ms)
        if stmts or is_due:
            due_at = state.row_due_at(attendance, clock, state.position.turn, now_ms)
            await self._commit(stmts, due_at)

    async def _commit(self, stmts: tuple[Stmt, ...], due_at: int) -> None:
        due = rows.set_due(self._partner_id, self._match_id, due_at)
        tx = Tx(self._partner_id, (*stmts, due))
        if await self._parts.database.writer.submit(tx) is Outcome.CONFLICT:
            raise Stale
        self._state.note_due_at(due_at)
        self._parts.deadlines.note(due_at)

    def _set_alarm(self) -> None:
        """Set the alarm for the next check of the clocks; close the table of an ended match."""
        key, state = (self._partner_id, self._match_id), self._state
        if not state.runs:
            self._parts.alarms.drop(key)
            self._cell.close_soon()
        elif state.ending is not None:
            self._parts.alarms.set(key, min(self._ask_at, self._held.deadline()))
        elif (next_ms := state.next_look_ms()) is not None:
            wait_s = (next_ms - self._parts.clock.now_ms()) / 1000
            self._parts.alarms.set(key, trio.current_time() + wait_s)

    # --- the end -------------------------------------------------------------------------------

    def _end(self, decision: MatchDecision) -> None:
        self._state.ending, self._ask_at = decision, 0.0
        self._state.stop_play()
        self._ask_for_end()

    def _ask_for_end(self) -> None:
        """Ask the seats actor to end the match, unless it was asked within `ASK_AGAIN_S`."""
        state, now = self._state, trio.current_time()
        if state.ending is None or state.match is None or not state.runs or now < self._ask_at:
            return
        self._ask_at = now + ASK_AGAIN_S
        seats = self._partner.seats(state.match.environment)
        seats.tell(EndPlay(self._match_id, state.ending))

    def _announce_end(self) -> None:
        """Tell the players that the match has ended, if its row says so."""
        match = self._state.match
        if match is not None and not self._state.runs:
            self._state.stop_play()
            self._participants.tell_end(match)
            for socket in self._participants.sockets():
                tell_of_seat_soon(self._parts, socket)

    async def _answer_held(self) -> None:
        """Answer the held commands if the end is on disk; until then, only fail expired ones.

        If a command fails, only that command gets the error.
        """
        if self._state.is_ending:
            self._held.expire()
            return
        for envelope in self._held.take():
            if ended_the_match(envelope.message, self._state.seats):
                envelope.answer(m.ActionTaken())
                continue
            try:
                envelope.answer(await super().receive(envelope.message, envelope))
            except Ending:
                self._held.add(envelope)
            except (Overloaded, WriterFull) as error:
                envelope.fail(Overloaded(str(error)))
            except (Crashed, WriteFailed) as error:
                outage = isinstance(error, WriteFailed | Interrupted)
                envelope.fail((Interrupted if outage else Crashed)(str(error)))

    HANDLERS: ClassVar[Mapping[type[Message], Handler]] = {
        m.JoinTable: _join,
        m.PlayMove: _play,
        m.Resign: _resign,
        m.LookAgain: _look_again,
    }
