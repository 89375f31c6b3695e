"""A paid seat from its stake to its money, and the match that two seats share.

A seat is also its row of the results feed: `position` and `revision` are set by whoever owns the feed's head, everything else here.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from pgs.domain.environments import Environment

WAIT_S: dict[Environment, int] = {"live": 300, "test": 3600}
"""Seconds that a confirmed stake waits for an opponent, as the interface promises. Tests are given
more time."""

ABSENCE_S: dict[Environment, int] = {"live": 60, "test": 3600}
"""Seconds that a match waits for the first of its players, as the interface promises. Tests decide
by key, so nobody need come."""

RETRY_MIN_S = 5
"""Seconds until settlement is asked again the first time. Most outages are short."""

RETRY_MAX_S = 60
"""Seconds between two later asks. Money that is owed should not wait longer than a minute after an
outage."""

SeatStatus = Literal["pending", "waiting", "matched", "ended", "no_contest", "declined"]
StakeStatus = Literal["pending", "confirmed", "declined", "refunded"]
Result = Literal["won", "lost", "drawn"]


class Seat(msgspec.Struct, frozen=True):
    """A player's paid seat. Times in epoch seconds; `due_at` says when the row next needs attention, if nothing else happens."""

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
    confirmed_at: int | None = None
    expires_at: int | None = None
    due_at: int | None = None
    closing: str | None = (
        None  # why a pending seat will not be played, should its stake be confirmed after all
    )
    match_id: str | None = None
    opponent_player_id: str | None = None
    result: Result | None = None
    score: int | None = None
    end_reason: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    payout_usd_cents: int | None = None
    refund_usd_cents: int | None = None
    rake_usd_cents: int | None = None
    position: int | None = None
    revision: int = 0
    updated_at: int = 0


class Match(msgspec.Struct, frozen=True):
    """Two seats at play, or one that found nobody. `money`: `none` while it runs, `due` from its end, `recorded` at last."""

    partner_id: str
    environment: Environment
    match_id: str
    game_id: str
    tier_id: str
    tier_revision: int
    prize_usd_cents: int
    status: Literal["started", "ended", "no_contest"]
    end_reason: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    winner_player_id: str | None = None
    pairing: str | None = None  # JSON
    money: Literal["none", "due", "recorded"] = "none"
    due_at: int | None = None


class MatchDecision(msgspec.Struct, frozen=True):
    """How a match ends: `winner_player_id` None is a draw, or no contest. `scores`: of the seats in order, where a game counts points."""

    outcome: Literal["ended", "no_contest"]
    winner_player_id: str | None
    end_reason: str
    scores: tuple[int, ...] | None = None


def retry_at(since: int, now: int) -> int:
    """Return when settlement is asked again for something that has been open since then: soon at first, then every minute."""
    return now + max(RETRY_MIN_S, min(RETRY_MAX_S, (now - since) // 4))


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
    """Return the seat whose stake was declined: it will never be paired nor appear in the feed."""
    return msgspec.structs.replace(
        seat, status="declined", stake_status="declined", due_at=None, updated_at=now
    )


def start(
    older: Seat, newer: Seat, match_id: str, pairing: str, now: int
) -> tuple[Match, tuple[Seat, Seat]]:
    """Return the match of two waiting seats, and the seats in it."""
    match = Match(
        partner_id=older.partner_id,
        environment=older.environment,
        match_id=match_id,
        game_id=older.game_id,
        tier_id=older.tier_id,
        tier_revision=older.tier_revision,
        prize_usd_cents=older.prize_usd_cents,
        status="started",
        started_at=now,
        pairing=pairing,
        due_at=now + ABSENCE_S[older.environment],
    )
    return match, (
        _seated(older, newer.player_id, match_id, now),
        _seated(newer, older.player_id, match_id, now),
    )


def _seated(seat: Seat, opponent: str, match_id: str, now: int) -> Seat:
    return msgspec.structs.replace(
        seat,
        status="matched",
        match_id=match_id,
        opponent_player_id=opponent,
        started_at=now,
        due_at=None,
        revision=seat.revision + 1,
        updated_at=now,
    )


def close_alone(seat: Seat, match_id: str, end_reason: str, now: int) -> tuple[Match, tuple[Seat]]:
    """Return the match of its own in which a seat without an opponent ends: it never started."""
    match = Match(
        partner_id=seat.partner_id,
        environment=seat.environment,
        match_id=match_id,
        game_id=seat.game_id,
        tier_id=seat.tier_id,
        tier_revision=seat.tier_revision,
        prize_usd_cents=seat.prize_usd_cents,
        status="no_contest",
        end_reason=end_reason,
        ended_at=now,
        money="due",
        due_at=retry_at(now, now),
    )
    ended = msgspec.structs.replace(
        seat,
        status="no_contest",
        match_id=match_id,
        end_reason=end_reason,
        ended_at=now,
        due_at=None,
        revision=seat.revision + 1,
        updated_at=now,
    )
    return match, (ended,)


def end(
    match: Match, seats: Sequence[Seat], decision: MatchDecision, now: int
) -> tuple[Match, tuple[Seat, ...]]:
    """Return a running match and its seats as they are once it is decided. Money is recorded later, by `record_money`."""
    ended = msgspec.structs.replace(
        match,
        status=decision.outcome,
        end_reason=decision.end_reason,
        ended_at=now,
        winner_player_id=decision.winner_player_id,
        money="due",
        due_at=retry_at(now, now),
    )
    return ended, tuple(
        msgspec.structs.replace(
            seat,
            status=decision.outcome,
            result=result_of(seat, decision),
            score=score,
            end_reason=decision.end_reason,
            ended_at=now,
            revision=seat.revision + 1,
            updated_at=now,
        )
        for seat, score in zip(seats, decision.scores or (None,) * len(seats), strict=True)
    )


def result_of(seat: Seat, decision: MatchDecision) -> Result | None:
    """Return how the match went for the seat's player; None where there was no contest."""
    if decision.outcome == "no_contest":
        return None
    if decision.winner_player_id is None:
        return "drawn"
    return "won" if decision.winner_player_id == seat.player_id else "lost"


def same_decision(match: Match, decision: MatchDecision) -> bool:
    """Return whether an ended match ended just so: outcome and winner count, not what brought them about."""
    return match.status == decision.outcome and match.winner_player_id == decision.winner_player_id


class Payout(msgspec.Struct, frozen=True):
    """What one seat's player is owed after the end."""

    seat_id: str
    player_id: str
    kind: Literal["prize", "refund"]
    amount_usd_cents: int


def payouts(match: Match, seats: Sequence[Seat]) -> tuple[Payout, ...]:
    """Return what an ended match owes: the prize to its winner, or every stake back."""
    if match.winner_player_id is not None:
        return tuple(
            Payout(seat.seat_id, seat.player_id, "prize", match.prize_usd_cents)
            for seat in seats
            if seat.result == "won"
        )
    return tuple(
        Payout(seat.seat_id, seat.player_id, "refund", seat.stake_usd_cents) for seat in seats
    )


def record_money(match: Match, seats: Sequence[Seat], now: int) -> tuple[Match, tuple[Seat, ...]]:
    """Return an ended match and its seats with their money recorded, all at once.

    Rake is what the stakes leave over the prize. The loser's stake pays it first.
    """
    recorded = msgspec.structs.replace(match, money="recorded", due_at=None)
    if match.winner_player_id is None:
        return recorded, tuple(
            msgspec.structs.replace(
                seat,
                stake_status="refunded",
                payout_usd_cents=0,
                refund_usd_cents=seat.stake_usd_cents,
                rake_usd_cents=0,
                revision=seat.revision + 1,
                updated_at=now,
            )
            for seat in seats
        )
    rake = sum(seat.stake_usd_cents for seat in seats) - match.prize_usd_cents
    from_loser = min(rake, sum(seat.stake_usd_cents for seat in seats if seat.result != "won"))
    return recorded, tuple(
        msgspec.structs.replace(
            seat,
            payout_usd_cents=match.prize_usd_cents if seat.result == "won" else 0,
            refund_usd_cents=0,
            rake_usd_cents=rake - from_loser if seat.result == "won" else from_loser,
            revision=seat.revision + 1,
            updated_at=now,
        )
        for seat in seats
    )
