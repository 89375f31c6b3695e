"""What the table of a match is asked and told, and what it tells the seats actor."""

from pgs.actors.kernel.mail import Command, Message
from pgs.actors.shared.presence import PlayerSocket
from pgs.domain.errors import Refusal
from pgs.domain.frames import Snapshot
from pgs.domain.seats import MatchDecision


class JoinTable(Command[Snapshot | Refusal], frozen=True):
    """Take part in a match; answers what the player sees. A player_socket is sent it too, ahead of everything that happens later."""

    player_id: str
    name: str | None
    player_socket: PlayerSocket | None


class PlayMove(Command[str | None], frozen=True):
    """Play a move in sight of `ply` earlier ones; answers why it was refused."""

    player_id: str
    ply: int
    move: str


class Resign(Command[str | None], frozen=True):
    """Give a match up; answers why that was refused."""

    player_id: str


class LookAgain(Message, frozen=True):
    """Something that concerns the match may have changed: who is here, the time, or its rows."""


class EndPlay(Message, frozen=True):
    """To the seats actor: the match was played to its end, or has to end. The table asks again until it has."""

    match_id: str
    decision: MatchDecision
