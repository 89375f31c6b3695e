"""Publishes activity events about seats, matches, nudges, refusals and calls.

A change is published after its commit. Without a subscriber these functions do nothing.
"""

from collections.abc import Mapping, Sequence

from pgs.actors.parts import Parts
from pgs.actors.shared.activity import ActivityEvent
from pgs.domain.environments import Environment
from pgs.domain.matches import Match
from pgs.domain.seats import Seat
from pgs.storage.attempts import Attempt


def tell_of_play(
    parts: Parts,
    partner_id: str,
    environment: Environment,
    seats: Sequence[Seat],
    matches: Sequence[Match],
) -> None:
    """Publish the seats and matches that were just committed."""
    activity = parts.activity
    if not activity.has_subscribers(partner_id, environment):
        return
    at = parts.clock.real()
    for seat in seats:
        detail = {
            "seatId": seat.seat_id,
            "matchId": seat.match_id,
            "playerId": seat.player_id,
            "gameId": seat.game_id,
            "tierId": seat.tier_id,
            "status": seat.status,
            "stakeUsdCents": seat.stake_usd_cents,
        }
        activity.tell(partner_id, environment, ActivityEvent("seat", at, detail))
    for match in matches:
        ended = {
            "matchId": match.match_id,
            "gameId": match.game_id,
            "status": match.status,
            "endReason": match.end_reason,
        }
        activity.tell(partner_id, environment, ActivityEvent("match", at, ended))


def tell_of_attempt(
    parts: Parts, partner_id: str, environment: Environment, attempt: Attempt
) -> None:
    """Publish one try at delivering a nudge."""
    if parts.activity.has_subscribers(partner_id, environment):
        detail = {
            "nudgeId": attempt.nudge_id,
            "matchId": attempt.match_id,
            "try": attempt.try_number,
            "delivered": attempt.delivered,
            "statusCode": attempt.status_code,
            "test": attempt.test,
            "resend": attempt.resend,
        }
        parts.activity.tell(
            partner_id, environment, ActivityEvent("nudge", parts.clock.real(), detail)
        )


def tell_of_refusal(
    parts: Parts, partner_id: str, environment: Environment, path: str, reason: str
) -> None:
    """Publish the refusal of a call that was made with a key."""
    if parts.activity.has_subscribers(partner_id, environment):
        parts.activity.tell(
            partner_id,
            environment,
            ActivityEvent("refusal", parts.clock.real(), {"path": path, "reason": reason}),
        )


def tell_of_call(
    parts: Parts,
    partner_id: str,
    environment: Environment,
    detail: Mapping[str, object],
) -> None:
    """Publish a call that was made with a key and has been answered."""
    if parts.activity.has_subscribers(partner_id, environment):
        event = ActivityEvent("call", parts.clock.real(), detail)
        parts.activity.tell(partner_id, environment, event)
