"""The match that two seats share, from its start to its end.

`payouts.py` says what an ended match owes.
"""

from typing import Literal

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.seats import EndReason, Result, Seat, no_earlier
from pgs.domain.settlement_retries import retry_at

ABSENCE_S: dict[Environment, int] = {"live": 60, "test": 3600}
"""Seconds that a match waits for the first of its players, as the interface promises. In test a key
can decide a match, so its players need not come."""

MatchStatus = Literal["started", "ended", "no_contest"]


class Match(msgspec.Struct, frozen=True):
    """A match of two seats, or the match of a single seat that found no opponent.

    `pairing`: why the two players were paired, as JSON. `money`: `none` while the match runs, `due`
    after its end, `recorded` once settlement has confirmed every payout.
    """

    partner_id: str
    environment: Environment
    match_id: str
    game_id: str
    tier_id: str
    tier_revision: int
    prize_usd_cents: int
    status: MatchStatus
    end_reason: EndReason | None = None
    started_at: int | None = None
    ended_at: int | None = None
    winner_player_id: str | None = None
    pairing: str | None = None
    money: Literal["none", "due", "recorded"] = "none"
    due_at: int | None = None


class MatchWithSeats(msgspec.Struct, frozen=True):
    """A match and its seats by side; the seat of side 0, which moves first, comes first."""

    match: Match
    seats: tuple[Seat, ...]

    def has_player(self, player_id: str) -> bool:
        """Return whether a player has one of the seats."""
        return any(seat.player_id == player_id for seat in self.seats)


class MatchDecision(msgspec.Struct, frozen=True):
    """How a match ends.

    `winner_player_id` is None for a draw and for no contest. In games that count points, `scores`
    has one number for each seat, in the order of the seats.
    """

    outcome: Literal["ended", "no_contest"]
    winner_player_id: str | None
    end_reason: EndReason
    scores: tuple[int, ...] | None = None


def start(first: Seat, second: Seat, match_id: str, pairing: str, now: int) -> MatchWithSeats:
    """Return the match that two waiting seats start. `first` moves first."""
    at = no_earlier(now, first, second)
    # Arguments by position take half the time of those by name. The last word of each of the first
    # seven is the name of the field that it fills: `first.game_id` fills `game_id`.
    match = Match(
        first.partner_id,
        first.environment,
        match_id,
        first.game_id,
        first.tier_id,
        first.tier_revision,
        first.prize_usd_cents,
        status="started",
        started_at=at,
        pairing=pairing,
        due_at=now + ABSENCE_S[first.environment],
    )
    seats = (
        _matched(first, 0, second.player_id, match_id, at),
        _matched(second, 1, first.player_id, match_id, at),
    )
    return MatchWithSeats(match, seats)


def _matched(seat: Seat, side: int, opponent: str, match_id: str, now: int) -> Seat:
    return msgspec.structs.replace(
        seat,
        status="matched",
        match_id=match_id,
        side=side,
        opponent_player_id=opponent,
        started_at=now,
        due_at=None,
        revision=seat.revision + 1,
        updated_at=now,
    )


def close_alone(seat: Seat, match_id: str, end_reason: EndReason, now: int) -> MatchWithSeats:
    """Return the ended match of a single seat that found no opponent.

    That match never starts. Its purpose is to give the seat a row in the feed and a refund.
    """
    at = no_earlier(now, seat)
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
        ended_at=at,
        money="due",
        due_at=retry_at(now, now),
    )
    ended = msgspec.structs.replace(
        seat,
        status="no_contest",
        match_id=match_id,
        end_reason=end_reason,
        ended_at=at,
        due_at=None,
        revision=seat.revision + 1,
        updated_at=at,
    )
    return MatchWithSeats(match, (ended,))


def end(record: MatchWithSeats, decision: MatchDecision, now: int) -> MatchWithSeats:
    """Return a running match ended by a decision, with its money due."""
    at = no_earlier(now, *record.seats)
    match = msgspec.structs.replace(
        record.match,
        status=decision.outcome,
        end_reason=decision.end_reason,
        ended_at=at,
        winner_player_id=decision.winner_player_id,
        money="due",
        due_at=retry_at(now, now),
    )
    scores = decision.scores or (None,) * len(record.seats)
    seats = tuple(
        msgspec.structs.replace(
            seat,
            status=decision.outcome,
            result=result_of(seat, decision),
            score=score,
            end_reason=decision.end_reason,
            ended_at=at,
            revision=seat.revision + 1,
            updated_at=at,
        )
        for seat, score in zip(record.seats, scores, strict=True)
    )
    return MatchWithSeats(match, seats)


def result_of(seat: Seat, decision: MatchDecision) -> Result | None:
    """Return how a match went for a seat's player, or None for no contest."""
    if decision.outcome == "no_contest":
        return None
    if decision.winner_player_id is None:
        return "drawn"
    return "won" if decision.winner_player_id == seat.player_id else "lost"


def same_decision(match: Match, decision: MatchDecision) -> bool:
    """Return whether an ended match has the outcome and the winner of a decision.

    The end reason does not count.
    """
    return match.status == decision.outcome and match.winner_player_id == decision.winner_player_id
