"""Presence: every player with an open game socket.

Each method of the register takes effect before it returns. A player has one socket: opening another
closes the first. When a deactivation or an emergency stop is published, the sockets of the account
or of the stopped environment are closed in the same step.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

import trio

from pgs.domain.accounts import Account
from pgs.domain.environments import Environment
from pgs.domain.play import PLAY_STOPPED, REPLACED
from pgs.domain.seats import Seat
from pgs.domain.socket_frames import NoSeat, Waiting

BACK_SOON_S = 15.0
"""Seconds for which a player who closed a socket still counts as present, as the interface
promises. A page that is loaded again or a lost connection takes a few seconds."""

Player = tuple[str, Environment, str]  # partner, environment, player


def player_of(seat: Seat) -> Player:
    """Return the player of a seat."""
    return (seat.partner_id, seat.environment, seat.player_id)


class SocketPort(Protocol):
    """The connection of a `PlayerSocket`. Its methods return without waiting for the client."""

    def send(self, text: str) -> bool:
        """Queue a message; return False if the socket has ended."""
        ...

    def close(self, code: int) -> None:
        """Close the socket after sending what is queued."""
        ...


class PlayerSocket:
    """One open socket of a player.

    `generation`: the environment's count of emergency stops when the socket's token was minted.
    """

    __slots__ = (
        "connection",
        "follows_seats",
        "generation",
        "joined",
        "name",
        "player",
        "tables",
        "told",
    )

    def __init__(
        self, player: Player, generation: int, name: str | None, connection: SocketPort
    ) -> None:
        self.player = player
        self.generation = generation
        self.name = name
        self.connection = connection
        self.follows_seats = False  # joined without naming a match: is told which seat waits
        self.told: Waiting | NoSeat | None = None  # the last one sent; None after a snapshot
        self.joined: set[str] = set()  # matches whose messages it gets
        self.tables: set[str] = set()  # tables that count it as present


class PresenceRegister:
    """Every open socket, by partner and player, and who has just closed theirs."""

    def __init__(self) -> None:
        # By player, in trio's time: when the last socket closed, the oldest time first.
        self._left: dict[Player, float] = {}
        self._here: dict[str, dict[Player, PlayerSocket]] = {}  # by partner

    def enter(self, player_socket: PlayerSocket) -> None:
        """Register a player's socket, and close the older one if there is one."""
        partner = self._here.setdefault(player_socket.player[0], {})
        older = partner.get(player_socket.player)
        partner[player_socket.player] = player_socket
        self._left.pop(player_socket.player, None)
        if older is not None:
            older.connection.close(REPLACED)

    def leave(self, player_socket: PlayerSocket) -> bool:
        """Remove a socket; return True if this leaves its player without a socket.

        Return False if the socket is not registered any more, because a newer socket has replaced
        it or because `forget` has removed it.
        """
        partner = self._here.get(player_socket.player[0], {})
        if partner.get(player_socket.player) is not player_socket:
            return False
        del partner[player_socket.player]
        if not partner:
            del self._here[player_socket.player[0]]
        now = trio.current_time()
        for player, left_at in list(self._left.items()):
            if now - left_at < BACK_SOON_S:
                break
            del self._left[player]
        self._left[player_socket.player] = now
        return True

    def is_here(self, player: Player) -> bool:
        """Return whether a player has an open socket, or closed it less than `BACK_SOON_S` ago."""
        if self.find(player) is not None:
            return True
        left_at = self._left.get(player)
        return left_at is not None and trio.current_time() - left_at < BACK_SOON_S

    def is_anybody_here(self, partner_id: str) -> bool:
        """Return whether any player of a partner has an open socket."""
        return partner_id in self._here

    def find(self, player: Player) -> PlayerSocket | None:
        """Return the player's open socket."""
        partner = self._here.get(player[0])
        return None if partner is None else partner.get(player)

    def account_changed(self, account: Account) -> None:
        """Close the sockets that may not stay open in the account's new state."""
        for player_socket in list(self._here.get(account.partner_id, {}).values()):
            if not admits(account, player_socket):
                player_socket.connection.close(PLAY_STOPPED)

    def forget(self, belongs: Callable[[str], bool], code: int) -> None:
        """Close the sockets of these partners, and forget them and the players who just left."""
        for partner_id in [partner_id for partner_id in self._here if belongs(partner_id)]:
            for player_socket in self._here.pop(partner_id).values():
                player_socket.connection.close(code)
        for player in [player for player in self._left if belongs(player[0])]:
            del self._left[player]

    def close_all(self, code: int) -> None:
        """Close every socket with a close code."""
        for player_socket in list(self):
            player_socket.connection.close(code)

    def __iter__(self) -> Iterator[PlayerSocket]:
        return (
            player_socket for partner in self._here.values() for player_socket in partner.values()
        )

    def __len__(self) -> int:
        return sum(map(len, self._here.values()))


def admits(account: Account, player_socket: PlayerSocket) -> bool:
    """Return whether a socket may stay open in the account's current state."""
    return (
        account.active and account.generations[player_socket.player[1]] == player_socket.generation
    )
