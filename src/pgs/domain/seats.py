"""A paid seat: the request for it, and the states of its stake.

Once it has a match, a seat is also a row of the results feed. The rules of `matches.py` and
`payouts.py` raise its `revision`. Its `position` in the feed is set when it is written
(`actors/seating/plan.py`).
"""

from typing import Literal

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.settlement_retries import RETRY_MIN_S
from pgs.domain.tiers import SeatPrice

WAIT_S: dict[Environment, int] = {"live": 300, "test": 3600}
"""Seconds that a confirmed stake waits for an opponent, as the interface promises. Seats in test
have more time."""

SettlementSide = Literal["embedded", "remote"]
"""Which settlement holds a stake: the embedded one, or the settlement server."""

SeatStatus = Literal["pending", "waiting", "matched", "ended", "no_contest", "declined"]
StakeStatus = Literal["pending", "confirmed", "declined", "refunded"]
Result = Literal["won", "lost", "drawn"]
EndReason = Literal[
    "completed",
    "resigned",
    "forfeit_timeout",
    "decided_by_test_key",
    "no_opponent",
    "cancelled",
    "both_absent",
    "account_inactive",
    "platform_void",
    "emergency_stop",
]
"""Every reason for which a match ends, as the interface promises."""


class SeatRequest(msgspec.Struct, frozen=True):
    """What a partner sends to take a seat."""

    player_id: str
    game_id: str
    tier_id: str
    sent_usd_cents: int
    idempotency_key: str
    partner_ref: str | None


class Seat(msgspec.Struct, frozen=True):
    """A player's paid seat. Times are epoch seconds.

    `due_at`: when the seats actor must act on the seat, unless the seat changes first.
    `closing`: why a seat whose stake is pending will be closed once the stake is confirmed.
    `settlement`: who holds the stake; this never changes.
    `side`: the seat's side in its match, where side 0 moves first.
    """

    partner_id: str
    environment: Environment
    seat_id: str
    seq: int
    idempotency_key: str
    player_id: str
    game_id: str
    tier_id: str
    tier_revision: int
    sent_usd_cents: int
    stake_usd_cents: int
    prize_usd_cents: int
    partner_ref: str | None
    status: SeatStatus
    stake_status: StakeStatus
    seated_at: int
    settlement: SettlementSide = "embedded"
    confirmed_at: int | None = None
    expires_at: int | None = None
    due_at: int | None = None
    closing: EndReason | None = None
    match_id: str | None = None
    side: int | None = None
    opponent_player_id: str | None = None
    result: Result | None = None
    score: int | None = None
    end_reason: EndReason | None = None
    started_at: int | None = None
    ended_at: int | None = None
    payout_usd_cents: int | None = None
    refund_usd_cents: int | None = None
    rake_usd_cents: int | None = None
    position: int | None = None
    revision: int = 0
    updated_at: int = 0


def is_due(due_at: int | None, now: int) -> bool:
    """Return whether the `due_at` of a seat or a match has come."""
    return due_at is not None and due_at <= now


def new_seat(
    request: SeatRequest,
    price: SeatPrice,
    *,
    partner_id: str,
    environment: Environment,
    seat_id: str,
    seq: int,
    now: int,
    settlement: SettlementSide,
) -> Seat:
    """Return the seat that a request takes.

    The embedded settlement confirms every stake, so the seat waits for an opponent at once. With a
    settlement server the stake is pending.
    """
    confirmed = settlement == "embedded"
    due_at = now + (WAIT_S[environment] if confirmed else RETRY_MIN_S)
    return Seat(  # positional arguments take half the time; each is named like its field
        partner_id,
        environment,
        seat_id,
        seq,
        request.idempotency_key,
        request.player_id,
        request.game_id,
        request.tier_id,
        price.tier_revision,
        request.sent_usd_cents,
        price.stake_usd_cents,
        price.prize_usd_cents,
        request.partner_ref,
        status="waiting" if confirmed else "pending",
        stake_status="confirmed" if confirmed else "pending",
        seated_at=now,
        settlement=settlement,
        confirmed_at=now if confirmed else None,
        expires_at=due_at if confirmed else None,
        due_at=due_at,
        updated_at=now,
    )


def is_same_request(seat: Seat, request: SeatRequest) -> bool:
    """Return whether a request with a seat's idempotency key repeats the one that took the seat.

    `partner_ref` may differ: it is the partner's own note.
    """
    return (
        seat.player_id == request.player_id
        and seat.game_id == request.game_id
        and seat.tier_id == request.tier_id
        and seat.sent_usd_cents == request.sent_usd_cents
    )


def no_earlier(now: int, *seats: Seat) -> int:
    """Return `now`, or the time of the seats' latest confirmation if the clock is behind that.

    Nothing may happen to a seat on a day before the one on which its stake is booked.
    """
    for seat in seats:
        if seat.confirmed_at is not None and seat.confirmed_at > now:
            now = seat.confirmed_at
    return now


def confirm(seat: Seat, now: int) -> Seat:
    """Return the seat with its stake confirmed, waiting for an opponent."""
    expires_at = now + WAIT_S[seat.environment]
    return msgspec.structs.replace(
        seat,
        status="waiting",
        stake_status="confirmed",
        confirmed_at=now,
        expires_at=expires_at,
        due_at=expires_at,
        updated_at=now,
    )


def decline(seat: Seat, now: int) -> Seat:
    """Return the seat with its stake declined. It is never paired and never in the feed."""
    return msgspec.structs.replace(
        seat, status="declined", stake_status="declined", due_at=None, updated_at=now
    )
