"""Messages to the table of a match, and its replies."""

import msgspec

from pgs.actors.kernel.mail import Command, Message
from pgs.actors.shared.presence import PlayerSocket
from pgs.domain.errors import Refusal
from pgs.domain.socket_frames import Snapshot


class ActionTaken(msgspec.Struct, frozen=True):
    """The move or the resignation counts, and is on disk."""


class ActionRefused(msgspec.Struct, frozen=True):
    """The move or the resignation changed nothing. `reason` is a code of the Game API."""

    reason: str


ActionReply = ActionTaken | ActionRefused


class JoinTable(Command[Snapshot | Refusal], frozen=True):
    """Take part in a match. The reply is the match as the player sees it.

    `player_socket`, if any, gets the same snapshot before any later message.
    """

    player_id: str
    name: str | None
    player_socket: PlayerSocket | None


class PlayMove(Command[ActionReply], frozen=True):
    """Play a move. `ply` is the number of moves that the player had seen."""

    player_id: str
    ply: int
    move: str


class Resign(Command[ActionReply], frozen=True):
    """Give the match up."""

    player_id: str


class LookAgain(Message, frozen=True):
    """Something about the match may have changed: the open sockets, the time, or its rows.

    `started`: the match has just been made, so every open socket of its players gets a snapshot.
    """

    started: bool = False
