"""Tells a player's socket which of the player's seats waits, unless a match of the player runs."""

import msgspec
from msgspec import UNSET

from pgs.actors.parts import Parts
from pgs.actors.shared.presence import Player, PlayerSocket, player_of
from pgs.domain.live_pairing import HeldBack, held_back
from pgs.domain.seats import Seat
from pgs.domain.socket_frames import NoSeat, Waiting, encode
from pgs.storage.moves import current_seats_of_player, running_seats_of_player


class Standing(msgspec.Struct, frozen=True):
    """A player's oldest running match, and the message to the socket about the seat that waits."""

    match_id: str | None
    frame: Waiting | NoSeat


async def find_standing(parts: Parts, player: Player) -> Standing:
    """Return a player's oldest running match and waiting seat. Raises `StoreOutage`."""
    own = await current_seats_of_player(parts.database.reader, *player, 1)
    match_id = own.running[0][1] if own.running else None
    seat = own.waiting
    return Standing(match_id, NoSeat() if seat is None else await _frame(parts, seat))


def send_standing(player_socket: PlayerSocket, frame: Waiting | NoSeat) -> None:
    """Tell a socket which seat waits, and note what it was told."""
    player_socket.told = frame
    player_socket.connection.send(encode(frame))


def tell_of_seat_soon(parts: Parts, player_socket: PlayerSocket | None) -> None:
    """Start a task that tells a socket which seat waits, if the socket named no match to join."""
    if player_socket is not None and player_socket.follows_seats:
        parts.system.spawn(_tell_of_seat, parts, player_socket)


async def _tell_of_seat(parts: Parts, player_socket: PlayerSocket) -> None:
    """Tell a socket which seat waits, if that has changed. During a match, tell it nothing.

    After a match, a player who has no further seat keeps the end of that match on the screen.
    """
    if player_socket.joined or parts.presence.find(player_socket.player) is not player_socket:
        return
    standing = await find_standing(parts, player_socket.player)
    news = standing.frame != (player_socket.told or NoSeat())
    if standing.match_id is None and news:
        send_standing(player_socket, standing.frame)


async def why_held_back(parts: Parts, seat: Seat) -> HeldBack | None:
    """Return why a waiting seat is not paired now, or None. Raises `StoreOutage`."""
    if seat.environment != "live" or seat.status != "waiting":
        return None
    player = player_of(seat)
    playing = await running_seats_of_player(parts.database.reader, *player, 1)
    return held_back(here=parts.presence.is_here(player), busy=bool(playing))


async def _frame(parts: Parts, seat: Seat) -> Waiting:
    return Waiting(
        seat_id=seat.seat_id,
        game_id=seat.game_id,
        seated_at=seat.seated_at,
        expires_at=seat.expires_at,
        stake_usd_cents=seat.stake_usd_cents,
        prize_usd_cents=seat.prize_usd_cents,
        held_back=await why_held_back(parts, seat) or UNSET,
    )
