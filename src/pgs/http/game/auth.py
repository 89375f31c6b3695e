"""Authenticates players by their session tokens. `admit` waits before it returns some refusals."""

from collections.abc import Sequence
from typing import Final

import msgspec
import trio

from pgs.actors.shared.presence import Player
from pgs.domain.accounts import Account
from pgs.domain.errors import Refusal, refuse
from pgs.domain.keys import parse_bearer, parse_key
from pgs.domain.sessions import SessionClaims, is_expired, read_session
from pgs.http.api.auth import overloaded
from pgs.http.api.endpoint import Plain, Reply, Request
from pgs.http.api.services import Services
from pgs.http.transport.asgi import Headers

TOKEN_PREFIX: Final = "pgs.token."  # noqa: S105  begins a subprotocol's name, no secret
UNKNOWN: Final = Plain(401, "This session token is not valid, or it has expired. Mint a new one.")

API_KEY: Final = Plain(
    401,
    "An API key is not taken here: send a player's session token, from `POST /partner/sessions`.",
)


class Session(msgspec.Struct, frozen=True):
    """A player with a valid token, and the account as it was when the call was admitted."""

    account: Account
    claims: SessionClaims

    @property
    def partner_id(self) -> str:
        return self.claims.partner_id

    @property
    def player(self) -> Player:
        """The player: partner id, environment and player id."""
        return (self.claims.partner_id, self.claims.environment, self.claims.player_id)


def token_of(headers: Headers, subprotocols: Sequence[str] = ()) -> str | None:
    """Return the token of a call, or None if the call does not carry exactly one.

    The `Authorization` header carries it; for a browser's WebSocket, a subprotocol's name does.
    """
    given = [value for name, value in headers if name == b"authorization"]
    if given:
        return parse_bearer(given[0]) if len(given) == 1 else None
    offered = [
        name.removeprefix(TOKEN_PREFIX) for name in subprotocols if name.startswith(TOKEN_PREFIX)
    ]
    return offered[0] if len(offered) == 1 else None


class HeldBack(msgspec.Struct, frozen=True):
    """A refusal that is answered only after `hold_s` seconds."""

    reply: Reply
    hold_s: float


async def admit(services: Services, token: str | None) -> Session | Refusal | Plain | Reply:
    """Return the session of a token, or the answer that refuses it, possibly after a delay."""
    verdict = judge(services, token)
    if isinstance(verdict, HeldBack):
        await trio.sleep(verdict.hold_s)
        return verdict.reply
    return verdict


def judge(services: Services, token: str | None) -> Session | Refusal | Plain | Reply | HeldBack:
    """Return the session of a token, or the answer that refuses it."""
    parts, now = services.parts, trio.current_time()

    # 1. The token itself, without any look-up.
    claims = None if token is None else read_session(token, parts.ring)
    if (
        claims is None
        or is_expired(claims, parts.clock.real())
        or services.restricted_to not in (None, claims.environment)
    ):
        return UNKNOWN

    # 2. The player's bucket, then the one of the partner's Game API, then the process's. They come
    # after the token, so that forged tokens do not draw from them.
    limited = _limit(services, claims, now)
    if limited is not None:
        return limited

    # 3. The account as it is now. An emergency stop invalidates tokens that were minted before it.
    if parts.registry.is_closed(now):
        return refuse("registry_unavailable")
    account = parts.registry.account(claims.partner_id)
    if account is None or account.generations[claims.environment] != claims.generation:
        return UNKNOWN
    return Session(account, claims) if account.active else refuse("partner_inactive")


def _limit(services: Services, claims: SessionClaims, now: float) -> Reply | HeldBack | None:
    """Return the answer to a call that is over a limit, or None."""
    parts = services.parts
    player = (claims.partner_id, claims.environment, claims.player_id)
    refused = services.directory.admission.players.refuse(player, now)
    if refused is not None:
        parts.on_event("rate_limited_by_player")
        reply = Reply(refuse("rate_limited"), overloaded(refused.retry_after))
        return HeldBack(reply, refused.hold_s) if refused.hold_s else reply
    account = parts.registry.account(claims.partner_id)
    if account is None:
        process = services.directory.admission.process.admit(now)
        allowed, retry_after = process.allowed, process.retry_after
    else:
        admission = services.directory.partner(account.partner_id).game_admission
        admitted = admission.admit(account, now)
        allowed, retry_after = admitted.refused_by is None, admitted.retry_after
        if not allowed:
            parts.on_event(f"rate_limited_by_{admitted.refused_by}")
    return None if allowed else Reply(refuse("rate_limited"), overloaded(retry_after))


async def authenticate_session(request: Request) -> msgspec.Struct:
    """Return the session of the player who makes a call, or the answer that refuses it."""
    token = token_of(request.headers)
    if token is not None and parse_key(token) is not None:
        return API_KEY
    return await admit(request.services, token)
