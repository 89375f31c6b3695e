"""`POST test-match`: a match of two test players, for the page of the portal that tries a game.

The caller gets a session token for each player and never sees an API key.
"""

from typing import Final

import msgspec
import trio
from msgspec import UNSET, UnsetType

from pgs.actors.messages.seats import SeatTogether
from pgs.domain.errors import Refusal, refuse
from pgs.domain.secrets import HidesSecrets
from pgs.domain.sessions import TTL_MAX, SessionClaims, sign_session
from pgs.http.admin.authorization import AdminCall, account_now
from pgs.http.admin.endpoints import admin_write
from pgs.http.api.auth import overloaded
from pgs.http.api.body import Cents
from pgs.http.api.endpoint import Answer, Reply
from pgs.http.api.hints import licence_refusal

NAMES: Final = ("alice", "bob")
"""The display names of the two players. The one listed first begins."""

SUFFIX_BYTES: Final = 6
"""Bytes of randomness in the id of a test match's player: enough that no two test matches share a
player. The frame of a shared player would show the older match."""


class TryGame(msgspec.Struct, frozen=True, rename="camel"):
    """The game and tier to try. If the stake is left out, each player pays the price of a seat."""

    game_id: str
    tier_id: str
    stake_usd_cents: Cents | UnsetType = UNSET


class TriedPlayer(HidesSecrets, msgspec.Struct, frozen=True, rename="camel"):
    """A player of the match, with a session token for the frame at `frame_url`."""

    SECRETS = frozenset({"session_token"})

    player_id: str
    display_name: str
    session_token: str
    frame_url: str


class TriedMatch(msgspec.Struct, frozen=True, rename="camel"):
    """The match, what a seat in it costs, and its two players. The player listed first begins."""

    match_id: str
    stake_usd_cents: int
    expires_at: int
    players: list[TriedPlayer]


async def seat_two(call: AdminCall) -> Answer:
    """Seat two new test players against each other, by the same rules as with a test key."""
    request: TryGame = call.body
    parts, account = call.services.parts, account_now(call)
    if call.services.restricted_to == "live":
        return refuse("test_key_against_live")
    if not account.active:
        return refuse("partner_inactive")
    refusal = licence_refusal(account, "test", request.game_id, parts.games)
    if refusal is not None:
        return refusal
    partner = call.services.directory.partner(account.partner_id)
    answer = partner.test_matches.take(trio.current_time())
    if not answer.allowed:
        parts.on_event("rate_limited_by_admin")
        return Reply(refuse("rate_limited"), overloaded(answer.retry_after))
    suffix = parts.rng.bytes(SUFFIX_BYTES).hex()
    first, second = (f"{name}-{suffix}" for name in NAMES)
    stake = None if isinstance(request.stake_usd_cents, UnsetType) else request.stake_usd_cents
    name = f"try:{call.request_id}"
    seated = await partner.seats("test").ask(
        SeatTogether((first, second), request.game_id, request.tier_id, stake, name)
    )
    if isinstance(seated, Refusal):
        return seated
    now = parts.clock.real()
    players = [
        _player(
            call,
            SessionClaims(
                partner_id=account.partner_id,
                environment="test",
                game_id=request.game_id,
                player_id=player_id,
                display_name=display_name,
                issued_at=now,
                expires_at=now + TTL_MAX,
                generation=account.generations["test"],
            ),
        )
        for player_id, display_name in zip((first, second), NAMES, strict=True)
    ]
    return TriedMatch(seated.match_id, seated.stake_usd_cents, now + TTL_MAX, players)


def _player(call: AdminCall, claims: SessionClaims) -> TriedPlayer:
    return TriedPlayer(
        player_id=claims.player_id,
        display_name=claims.display_name or "",
        session_token=sign_session(claims, call.services.parts.ring),
        frame_url=f"{call.services.base_url}/portal/frame/test/{claims.partner_id}",
    )


ENDPOINTS = (
    admin_write(
        "POST",
        "test-match",
        seat_two,
        TriedMatch,
        "Seat two test players against each other",
        request=TryGame,
        errors=(
            "test_key_against_live",
            "partner_inactive",
            "game_not_licensed",
            "game_not_licensed_in_this_environment",
            "unknown_tier",
            "tier_locked",
            "rake_terms_not_agreed",
            "stake_below_floor",
            "stake_above_prize",
            "stake_does_not_match_price",
            "settlement_unavailable",
            "rate_limited",
        ),
        takes_seats=True,
    ),
)
