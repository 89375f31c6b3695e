"""The messages of the game socket: a closed set of types, distinguished by `type`.

Times are epoch milliseconds.
"""

from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from pgs.domain.seats import EndReason

MOVES_SENT_MAX: Final = 1_000
"""Moves in a snapshot: the newest ones. The longest chess match on record has 538."""

# --- from the client -----------------------------------------------------------------------------


class Join(msgspec.Struct, frozen=True, tag_field="type", tag="join", rename="camel"):
    """Join a match. Without a `match_id`, join the oldest match that runs."""

    match_id: str | UnsetType | None = UNSET


class MakeMove(msgspec.Struct, frozen=True, tag_field="type", tag="move", rename="camel"):
    """Play a move. `ply`: how many moves the client has seen before it."""

    match_id: str
    ply: int
    move: str


class GiveUp(msgspec.Struct, frozen=True, tag_field="type", tag="resign", rename="camel"):
    """Resign a match."""

    match_id: str


class Ping(msgspec.Struct, frozen=True, tag_field="type", tag="ping", rename="camel"):
    """Ask for a pong, which contains the same `id`."""

    id: str | int


FromClient = Join | MakeMove | GiveUp | Ping

# --- from the server -----------------------------------------------------------------------------


class Opponent(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The other player. Fields that are not known are left out."""

    connected: bool | UnsetType = UNSET
    player_id: str | UnsetType = UNSET
    display_name: str | UnsetType = UNSET


class Waiting(msgspec.Struct, frozen=True, tag_field="type", tag="waiting", rename="camel"):
    """No match runs, and this is the player's oldest waiting seat. Times in epoch seconds."""

    seat_id: str
    game_id: str
    seated_at: int
    expires_at: int | None
    stake_usd_cents: int
    prize_usd_cents: int
    held_back: str | UnsetType = UNSET


class NoSeat(msgspec.Struct, frozen=True, tag_field="type", tag="no_seat", rename="camel"):
    """No match runs, and the player has no waiting seat."""


class Snapshot(msgspec.Struct, frozen=True, tag_field="type", tag="snapshot", rename="camel"):
    """A match as one side sees it.

    `end_reason` is set once the match has ended. So is `result`, except for a no-contest.
    `moves`: the moves that led to `state`, the newest 1,000 of them, the oldest first.
    `increment_ms`: the time that a side gains with each of its moves, in games that grant any.
    """

    match_id: str
    game_id: str
    seq: int
    ply: int
    you: int
    turn: int
    state: Any
    legal_moves: tuple[str, ...]
    moves: tuple[str, ...]
    opponent: Opponent
    stake_usd_cents: int
    prize_usd_cents: int
    deadline_at_ms: int | UnsetType = UNSET
    remaining_ms: tuple[int, int] | UnsetType = UNSET
    increment_ms: int | UnsetType = UNSET
    status: Literal["started", "ended", "no_contest"] = "started"
    result: str | UnsetType = UNSET
    end_reason: EndReason | UnsetType = UNSET


class Moved(msgspec.Struct, frozen=True, tag_field="type", tag="moved", rename="camel"):
    """A move was played. Both sides get the same frame."""

    match_id: str
    seq: int
    ply: int
    by: int
    move: str
    state: Any
    turn: int
    legal_moves: tuple[str, ...]
    deadline_at_ms: int | UnsetType = UNSET
    remaining_ms: tuple[int, int] | UnsetType = UNSET


class PresenceOf(msgspec.Struct, frozen=True, tag_field="type", tag="presence", rename="camel"):
    """The opponent has connected or left, or the clocks have started."""

    match_id: str
    seq: int
    opponent: Opponent
    deadline_at_ms: int | UnsetType = UNSET
    remaining_ms: tuple[int, int] | UnsetType = UNSET


class Ended(msgspec.Struct, frozen=True, tag_field="type", tag="ended", rename="camel"):
    """A match has ended. A no-contest has no `result`.

    `due_usd_cents`: the prize, the stake that the player gets back, or 0.
    """

    match_id: str
    seq: int
    outcome: str
    due_usd_cents: int
    result: str | UnsetType = UNSET
    end_reason: EndReason | UnsetType = UNSET


class ErrorFrame(msgspec.Struct, frozen=True, tag_field="type", tag="error", rename="camel"):
    """A message was refused. `ref`: the match id in that message."""

    reason: str
    ref: str | UnsetType = UNSET


class Pong(msgspec.Struct, frozen=True, tag_field="type", tag="pong", rename="camel"):
    """The answer to a ping."""

    id: str | int


_encode = msgspec.json.Encoder().encode


def encode(frame: msgspec.Struct) -> str:
    """Return a frame as the text of a message."""
    return _encode(frame).decode()
