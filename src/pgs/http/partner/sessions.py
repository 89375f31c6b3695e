"""`POST /partner/sessions`: a session token for a player's frame. The call takes no seat."""

from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from pgs.domain.errors import BadRequest
from pgs.domain.names import DISPLAY_NAME_MAX, fault_of_name
from pgs.domain.secrets import HidesSecrets
from pgs.domain.sessions import (
    LISTED_MAX,
    TTL_DEFAULT,
    TTL_MAX,
    TTL_MIN,
    SessionClaims,
    player_uid,
    sign_session,
)
from pgs.http.api.body import PlayerId
from pgs.http.api.endpoint import Call, Endpoint
from pgs.storage.moves import running_seats_of_player


class MintSession(msgspec.Struct, frozen=True, rename="camel"):
    """The player and game that the token is for, and its lifetime in seconds."""

    game_id: str
    player_id: PlayerId
    display_name: Annotated[str, msgspec.Meta(max_length=DISPLAY_NAME_MAX)] | UnsetType = UNSET
    ttl_seconds: Annotated[int, msgspec.Meta(ge=TTL_MIN, le=TTL_MAX)] = TTL_DEFAULT


class ResumableMatch(msgspec.Struct, frozen=True, rename="camel"):
    """A match of the player that has not ended."""

    match_id: str
    status: str = "started"


class MintedSession(HidesSecrets, msgspec.Struct, frozen=True, rename="camel"):
    """A session token, and the other data that a host page needs.

    Times in epoch seconds. `resume` lists the player's running matches, the oldest first, at most
    100.
    """

    SECRETS = frozenset({"session_token"})

    session_token: str
    token_type: str
    environment: str
    game_id: str
    player_id: str
    player_uid: str
    issued_at: int
    expires_at: int
    embed_url: str
    game_socket_url: str
    resume: list[ResumableMatch]


async def mint_session(call: Call) -> MintedSession | BadRequest:
    """Return a new token. It is signed and self-contained, so nothing is written."""
    request: MintSession = call.body
    fault = fault_of_name(request.display_name) if request.display_name else None
    if fault is not None:
        return BadRequest(f"Field `displayName` {fault}.")
    account, environment = call.principal.account, call.principal.key.environment
    parts, partner_id = call.services.parts, account.partner_id
    now = parts.clock.real()
    claims = SessionClaims(
        partner_id=partner_id,
        environment=environment,
        game_id=request.game_id,
        player_id=request.player_id,
        display_name=request.display_name or None,
        issued_at=now,
        expires_at=now + request.ttl_seconds,
        generation=account.generations[environment],
    )
    base_url = call.services.base_url
    prefix = "test/" if environment == "test" else ""
    running = await running_seats_of_player(
        parts.database.reader, partner_id, environment, request.player_id, LISTED_MAX
    )
    return MintedSession(
        session_token=sign_session(claims, parts.keys.ring),
        token_type="Bearer",  # noqa: S106  the scheme's name, no secret
        environment=environment,
        game_id=request.game_id,
        player_id=request.player_id,
        player_uid=player_uid(claims),
        issued_at=now,
        expires_at=claims.expires_at,
        embed_url=f"{base_url}/embed/{prefix}{partner_id}",
        game_socket_url=f"ws{base_url.removeprefix('http')}/game/socket",
        resume=[ResumableMatch(match_id) for _, match_id in running],
    )


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/partner/sessions",
        handler=mint_session,
        request=MintSession,
        response=MintedSession,
        launch=True,
        errors=(
            "game_not_licensed",
            "game_not_licensed_in_this_environment",
            "malformed_player_id",
        ),
        summary="A session token for a player's frame",
    ),
)
