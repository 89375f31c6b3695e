"""Players with open game sockets at the tables of a core, and what they are sent."""

from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import msgspec

from pgs.actors.kernel.dispatch import Handler
from pgs.actors.kernel.mail import Message
from pgs.actors.kernel.ref import Ref
from pgs.actors.messages import table as m
from pgs.actors.messages.seats import EndPlay
from pgs.actors.seating.seats_actor import SeatsActor
from pgs.actors.shared.presence import PlayerSocket
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal
from pgs.domain.matches import Match
from pgs.domain.socket_frames import Snapshot
from pgs.games.rules import SideClock
from pgs.games.tic_tac_toe import TicTacToe
from pgs.storage.seats import find_match
from tests.actors.ready_core import GAME, ReadyCore

A_WINS = ("a1", "b1", "a2", "b2", "a3")


class Socket:
    """What a player is sent, and the code that the socket was closed with."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self.code: int | None = None

    def send(self, text: str) -> bool:
        self.frames.append(msgspec.json.decode(text))
        return True

    def close(self, code: int) -> None:
        self.code = code if self.code is None else self.code


class Player:
    """A player with a socket that enters and leaves the presence register like a real one."""

    def __init__(
        self,
        core: ReadyCore,
        player_id: str,
        environment: Environment = "test",
        name: str | None = None,
    ) -> None:
        self.core = core
        self.player_id = player_id
        self.key = ("acme", environment, player_id)
        self.socket = Socket()
        generation = core.account().generations[environment]
        self.player_socket = PlayerSocket(self.key, generation, name, self.socket)

    async def enter(self) -> "Player":
        self.core.parts.presence.enter(self.player_socket)
        return self

    def leave(self) -> None:
        if self.core.parts.presence.leave(self.player_socket):
            for match_id in sorted(self.player_socket.tables):
                self.table(match_id).tell(m.LookAgain())

    def table(self, match_id: str) -> Ref:
        return self.core.partner().table(match_id)

    async def join(self, match_id: str) -> Snapshot | Refusal:
        return await self.table(match_id).ask(
            m.JoinTable(self.player_id, self.player_socket.name, self.player_socket)
        )

    async def move(self, match_id: str, ply: int, move: str) -> str | None:
        """Play a move; return why it was refused, or None."""
        return reason_of(await self.table(match_id).ask(m.PlayMove(self.player_id, ply, move)))

    async def resign(self, match_id: str) -> str | None:
        """Resign the match; return why that was refused, or None."""
        return reason_of(await self.table(match_id).ask(m.Resign(self.player_id)))

    def take(self) -> list[dict[str, Any]]:
        """Return the frames sent since the last call."""
        taken, self.socket.frames = self.socket.frames, []
        return taken

    def kinds(self) -> list[str]:
        """Return the types of the frames sent since the last call."""
        return [frame["type"] for frame in self.take()]


async def seated(core: ReadyCore, *players: str, environment: Environment = "test") -> str:
    """Return the match of two new seats; the first player's is the older."""
    seats = [await core.seat(player, environment=environment) for player in players]
    match_id = seats[-1].match_id
    assert match_id is not None
    return match_id


async def at_table(core: ReadyCore, *, name: str | None = None) -> tuple[str, Player, Player]:
    """Return a running match and its players, who have joined; the first one is to move."""
    match_id = await seated(core, "ann", "bob")
    ann, bob = [await Player(core, player, name=name).enter() for player in ("ann", "bob")]
    for player in (ann, bob):
        await player.join(match_id)
    for player in (ann, bob):
        player.take()
    return match_id, ann, bob


async def alone_at_table(
    core: ReadyCore, player_id: str, name: str | None = None
) -> tuple[str, Player]:
    """Return the match of ann and bob, and the only one of them who has joined it."""
    match_id = await seated(core, "ann", "bob")
    player = await Player(core, player_id, name=name).enter()
    await player.join(match_id)
    return match_id, player


def reason_of(reply: m.ActionReply) -> str | None:
    """Return why a move or a resignation was refused, or None."""
    return reply.reason if isinstance(reply, m.ActionRefused) else None


async def play(match_id: str, players: tuple[Player, Player], *moves: str, ply: int = 0) -> None:
    """Play moves in turn, beginning with side 0."""
    for number, move in enumerate(moves, ply):
        assert await players[number % 2].move(match_id, number, move) is None


async def match_row(core: ReadyCore, match_id: str) -> Match:
    """Return a match's current row."""
    match = await find_match(core.reader, "acme", match_id)
    assert match is not None
    return match


def with_side_clocks(
    core: ReadyCore, initial_s: int, increment_s: int
) -> AbstractContextManager[object]:
    """Give each side of the game a clock of its own while the block runs."""
    side_clock = SideClock(initial_s * 1000, increment_s * 1000)

    class SideClocks(TicTacToe):
        clock = side_clock  # type: ignore[assignment]  # the service takes any clock

    return mock.patch.dict(core.parts.games, {GAME: SideClocks()})


def ends_are(handler: Handler) -> AbstractContextManager[object]:
    """Replace the handler with which the seats actor takes the ends that tables report."""
    handlers: dict[type[Message], Handler] = {**SeatsActor.HANDLERS, EndPlay: handler}
    return mock.patch.object(SeatsActor, "HANDLERS", handlers)


async def never(*_: object) -> None:
    """A handler for `ends_are` that commits no end."""
