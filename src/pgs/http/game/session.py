"""`GET /game/session`: the player of a token, and their open matches and seats."""

from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from pgs.domain.sessions import LISTED_MAX, player_uid
from pgs.http.api.endpoint import CallBy, Endpoint, Reply
from pgs.http.api.services import Services
from pgs.http.api.themes import FrameTheme, frame_theme
from pgs.http.game.auth import Session
from pgs.storage.moves import current_seats_of_player

NOT_STORED: Final = ((b"cache-control", b"no-store"),)

GameCall = CallBy[Session]


class OwnMatch(msgspec.Struct, frozen=True, rename="camel"):
    """A running match of the player."""

    match_id: str
    status: str = "started"


class OwnSeat(msgspec.Struct, frozen=True, rename="camel"):
    """A seat of the player that is in no match yet, or in a running one."""

    seat_id: str
    status: str


class GameSession(msgspec.Struct, frozen=True, rename="camel"):
    """A session. `expires_at` is in epoch seconds."""

    player_uid: str
    player_id: str
    environment: str
    game_id: str
    expires_at: int
    theme: FrameTheme
    matches: list[OwnMatch]
    seats: list[OwnSeat]
    display_name: str | UnsetType = UNSET


class Welcome(GameSession, frozen=True, tag_field="type", tag="welcome", rename="camel"):
    """The socket's first message, unless the session cannot be read."""


async def read_own(services: Services, session: Session) -> dict[str, Any]:
    """Return the fields of `GameSession`, as they are now."""
    claims, reader = session.claims, services.parts.database.reader
    own = await current_seats_of_player(reader, *session.player, LISTED_MAX)
    return {
        "player_uid": player_uid(claims),
        "player_id": claims.player_id,
        "environment": claims.environment,
        "game_id": claims.game_id,
        "expires_at": claims.expires_at,
        "theme": await frame_theme(services, claims.partner_id, claims.environment),
        "matches": [OwnMatch(match_id) for _, match_id in own.running],
        "seats": [
            *(OwnSeat(seat_id, "matched") for seat_id, _ in own.running),
            *(OwnSeat(*seat) for seat in own.expecting),
        ],
        "display_name": claims.display_name or UNSET,
    }


async def read_session(call: GameCall) -> Reply:
    return Reply(GameSession(**await read_own(call.services, call.principal)), NOT_STORED)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/game/session",
        handler=read_session,
        response=GameSession,
        credential="session",
        errors=("partner_inactive", "registry_unavailable"),
        crash="registry_unavailable",
        summary="Read the session",
    ),
)
