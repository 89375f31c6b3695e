"""The sockets of a match's two players, and what they are told."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors.play.state import MatchState
from pgs.actors.shared.presence import PlayerSocket, PresenceRegister, player_of
from pgs.domain import socket_frames as frames
from pgs.domain.matches import Match, MatchWithSeats
from pgs.domain.payouts import due_to
from pgs.domain.play import Move


class Participants:
    """Tells both players of one match what happens in it.

    A player gets messages after their socket has joined the match. Every message carries a number,
    `seq`. It rises by one with each message except a snapshot, which carries the number of the
    message before it. It starts at `now_ms`, so that it also rises when the table is loaded again.
    """

    def __init__(
        self, presence: PresenceRegister, state: MatchState, match_id: str, now_ms: int
    ) -> None:
        self._presence = presence
        self._state = state
        self._match_id = match_id
        self._seq = now_ms
        self._connected = [socket is not None for socket in self.present()]

    def sockets(self) -> list[PlayerSocket | None]:
        """Return each side's open socket, or None."""
        return [self._presence.find(player_of(seat)) for seat in self._state.seats]

    def present(self) -> list[PlayerSocket | None]:
        """Return each side's socket if its player is present at this match, else None.

        A player is present once the socket has joined the match, or is about to get its snapshot. A
        socket that plays another match does not make its player present.
        """
        return [
            socket if socket is not None and self._match_id in socket.tables else None
            for socket in self.sockets()
        ]

    def snapshot(self, side: int, now_ms: int) -> frames.Snapshot:
        """Return the match as a side sees it."""
        state = self._state
        match, seat = state.match, state.seats[side]
        if match is None:
            raise LookupError("a match that has seats has a row")
        deadline, remaining = self._times(now_ms)
        return frames.Snapshot(
            match_id=match.match_id,
            game_id=match.game_id,
            seq=self._seq,
            ply=len(state.moves),
            you=side,
            turn=state.position.turn,
            state={} if state.rules is None else state.rules.view(state.position.state),
            legal_moves=state.position.legal,
            moves=tuple(made.move for made in state.moves[-frames.MOVES_SENT_MAX :]),
            opponent=self._opponent(side),
            stake_usd_cents=seat.stake_usd_cents,
            prize_usd_cents=seat.prize_usd_cents,
            deadline_at_ms=deadline,
            remaining_ms=remaining,
            increment_ms=state.time_control.increment_ms or UNSET,
            status=match.status,
            result=seat.result or UNSET,
            end_reason=match.end_reason or UNSET,
        )

    def mark_present(self, socket: PlayerSocket) -> None:
        """Count a socket's player as present. `greet` or `join` sends the snapshot afterwards."""
        socket.tables.add(self._match_id)

    def join(self, side: int, socket: PlayerSocket, now_ms: int) -> None:
        """Count a socket as joined and send it the snapshot as the match's first message."""
        self.mark_present(socket)
        socket.told = None
        socket.joined.add(self._match_id)
        socket.connection.send(frames.encode(self.snapshot(side, now_ms)))

    def greet_again(self, now_ms: int) -> None:
        """Send the snapshot again to the sockets that had joined before the table was loaded."""
        for side, socket in enumerate(self.sockets()):
            if socket is not None and self._match_id in socket.joined:
                self.join(side, socket, now_ms)

    def mark_arrivals(self, *, waiting_only: bool) -> None:
        """Count players with an open socket as present, so that `greet` sends them the snapshot.

        `waiting_only`: count only players whose socket was last sent `waiting` or `no_seat`.
        """
        for socket in self.sockets():
            if socket is not None and (socket.told is not None or not waiting_only):
                self.mark_present(socket)

    def greet(self, now_ms: int) -> None:
        """Send the snapshot to the sockets of present players that have not joined."""
        for side, socket in enumerate(self.present()):
            if socket is not None and self._match_id not in socket.joined:
                self.join(side, socket, now_ms)

    def tell_move(self, made: Move, now_ms: int) -> None:
        """Send a committed move to both players."""
        state = self._state
        if state.rules is None:
            raise LookupError("a game without rules has no moves")
        self._seq += 1
        deadline, remaining = self._times(now_ms)
        moved = frames.Moved(
            match_id=self._match_id,
            seq=self._seq,
            ply=len(state.moves),
            by=made.side,
            move=made.move,
            state=state.rules.view(state.position.state),
            turn=state.position.turn,
            legal_moves=state.position.legal,
            deadline_at_ms=deadline,
            remaining_ms=remaining,
        )
        text = frames.encode(moved)
        for socket in self.sockets():
            if socket is not None and self._match_id in socket.joined:
                socket.connection.send(text)

    def tell_presence(self, *, clocks_started: bool, now_ms: int) -> None:
        """Tell each player if the other has connected or left, or if the clocks have started."""
        sockets = self.present()
        connected = [socket is not None for socket in sockets]
        changed = [was != now for was, now in zip(self._connected, connected, strict=True)]
        self._connected = connected
        if not (clocks_started or any(changed)):
            return
        self._seq += 1
        deadline, remaining = self._times(now_ms)
        for side, socket in enumerate(sockets):
            concerned = clocks_started or changed[1 - side]
            if socket is not None and self._match_id in socket.joined and concerned:
                frame = frames.PresenceOf(
                    self._match_id, self._seq, self._opponent(side), deadline, remaining
                )
                socket.connection.send(frames.encode(frame))

    def tell_end(self, match: Match) -> None:
        """Tell each player, only once, that the match has ended."""
        match_id, record = self._match_id, MatchWithSeats(match, self._state.seats)
        self._seq += 1
        for side, socket in enumerate(self.sockets()):
            if socket is None:
                continue
            socket.tables.discard(match_id)
            if match_id in socket.joined:
                socket.joined.discard(match_id)
                seat = self._state.seats[side]
                ended = frames.Ended(
                    match_id,
                    self._seq,
                    match.status,
                    due_to(record, seat),
                    seat.result or UNSET,
                    match.end_reason or UNSET,
                )
                socket.connection.send(frames.encode(ended))

    def _opponent(self, side: int) -> frames.Opponent:
        seats = self._state.seats
        if len(seats) < 2:
            return frames.Opponent(connected=False)
        other = 1 - side
        name = self._state.attendance.names[other] or UNSET
        return frames.Opponent(self._connected[other], seats[other].player_id, name)

    def _times(self, now_ms: int) -> tuple[int | UnsetType, tuple[int, int] | msgspec.UnsetType]:
        state = self._state
        turn = state.position.turn
        deadline = state.clock.deadline(turn)
        remaining = UNSET if state.time_control.per_turn else state.clock.shown(turn, now_ms)
        return UNSET if deadline is None else deadline, remaining
