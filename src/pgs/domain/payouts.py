"""What an ended match owes its players, and how its money is recorded on its seats."""

from typing import Literal

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.matches import MatchWithSeats
from pgs.domain.seats import Seat, no_earlier

PayoutKind = Literal["prize", "refund"]


class Payout(msgspec.Struct, frozen=True):
    """What one seat's player is owed after the end of the match."""

    partner_id: str
    environment: Environment
    seat_id: str
    player_id: str
    kind: PayoutKind
    amount_usd_cents: int


def payout_id(match_id: str, seat_id: str) -> str:
    """Return the name of a payout, as settlement and operators know it."""
    return f"{match_id}:{seat_id}"


def payouts(record: MatchWithSeats) -> tuple[Payout, ...]:
    """Return what an ended match owes.

    That is the prize to its winner or, without a winner, each stake to the player who paid it.
    """
    if record.match.winner_player_id is not None:
        return tuple(
            _payout(seat, "prize", record.match.prize_usd_cents)
            for seat in record.seats
            if seat.result == "won"
        )
    return tuple(_payout(seat, "refund", seat.stake_usd_cents) for seat in record.seats)


def due_to(record: MatchWithSeats, seat: Seat) -> int:
    """Return what a seat's player gets from an ended match: prize, stake back, or 0."""
    owed = (payout for payout in payouts(record) if payout.seat_id == seat.seat_id)
    return sum(payout.amount_usd_cents for payout in owed)


def record_money(record: MatchWithSeats, now: int) -> MatchWithSeats:
    """Return an ended match with its money recorded on all its seats in one step.

    If there is a winner, the rake is both stakes minus the prize, and is taken from the loser's
    stake first. Otherwise each stake is refunded in full.
    """
    match = msgspec.structs.replace(record.match, money="recorded", due_at=None)
    at = no_earlier(now, *record.seats)
    if match.winner_player_id is None:
        return MatchWithSeats(match, tuple(_refunded(seat, at) for seat in record.seats))
    lost_usd_cents = sum(seat.stake_usd_cents for seat in record.seats if seat.result != "won")
    rake = sum(seat.stake_usd_cents for seat in record.seats) - match.prize_usd_cents
    from_loser = min(rake, lost_usd_cents)
    seats = tuple(
        msgspec.structs.replace(
            seat,
            payout_usd_cents=match.prize_usd_cents if seat.result == "won" else 0,
            refund_usd_cents=0,
            rake_usd_cents=rake - from_loser if seat.result == "won" else from_loser,
            revision=seat.revision + 1,
            updated_at=at,
        )
        for seat in record.seats
    )
    return MatchWithSeats(match, seats)


def _payout(seat: Seat, kind: PayoutKind, amount_usd_cents: int) -> Payout:
    return Payout(
        seat.partner_id, seat.environment, seat.seat_id, seat.player_id, kind, amount_usd_cents
    )


def _refunded(seat: Seat, now: int) -> Seat:
    return msgspec.structs.replace(
        seat,
        stake_status="refunded",
        payout_usd_cents=0,
        refund_usd_cents=seat.stake_usd_cents,
        rake_usd_cents=0,
        revision=seat.revision + 1,
        updated_at=now,
    )
