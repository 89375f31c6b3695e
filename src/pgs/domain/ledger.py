"""Double-entry bookkeeping: the lines of every transfer sum to zero.

A transfer's id names its purpose: `charge:` with a seat id or `settlement:` with a match id.
Accounts: `player` (what the player has paid in or been paid), `escrow` (stakes held for a seat),
`rake` (the platform's share).
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from pgs.domain.seats import Seat


class Line(msgspec.Struct, frozen=True):
    """One line of a transfer: US cents into (positive) or out of (negative) a seat's account."""

    account: Literal["player", "escrow", "rake"]
    seat_id: str
    amount_usd_cents: int


class Transfer(msgspec.Struct, frozen=True):
    """Lines that are booked together.

    `transfer_id` is unique within a partner, so that nothing is booked twice.
    """

    transfer_id: str
    kind: Literal["charge", "settlement"]
    lines: tuple[Line, ...]


def charge(seat: Seat) -> Transfer:
    """Return the transfer that moves a confirmed stake from the player into escrow."""
    return _balanced(
        f"charge:{seat.seat_id}",
        "charge",
        [
            Line("player", seat.seat_id, -seat.stake_usd_cents),
            Line("escrow", seat.seat_id, seat.stake_usd_cents),
        ],
    )


def settlement(match_id: str, seats: Sequence[Seat]) -> Transfer:
    """Return the transfer that empties the escrow of a match.

    Payouts, refunds and rake must be recorded on `seats` before.
    """
    lines = []
    for seat in seats:
        lines.append(Line("escrow", seat.seat_id, -seat.stake_usd_cents))
        lines.append(
            Line(
                "player", seat.seat_id, (seat.payout_usd_cents or 0) + (seat.refund_usd_cents or 0)
            )
        )
        lines.append(Line("rake", seat.seat_id, seat.rake_usd_cents or 0))
    return _balanced(f"settlement:{match_id}", "settlement", lines)


def _balanced(
    transfer_id: str, kind: Literal["charge", "settlement"], lines: Sequence[Line]
) -> Transfer:
    if sum(line.amount_usd_cents for line in lines) != 0:
        raise ValueError(f"{transfer_id} does not sum to zero")
    return Transfer(transfer_id, kind, tuple(line for line in lines if line.amount_usd_cents))
