"""The ledger: every movement of players' money as one transfer between two accounts.

Accounts: `player:<playerId>` (outside the platform), `escrow` (stakes that are held) and `rake`
(the platform's share). Each partner and environment has a ledger of its own, whose rows are chained
by hash.
"""

import hashlib
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.matches import MatchWithSeats
from pgs.domain.seats import Seat

ESCROW: Final = "escrow"
RAKE: Final = "rake"
FIRST_HASH: Final = ""
"""What the first row of a ledger is chained to."""

_encode: Final = msgspec.json.Encoder().encode

Kind = Literal["charge", "prize", "refund", "rake"]


class Transfer(msgspec.Struct, frozen=True):
    """An amount in US cents that leaves `debit` and arrives in `credit`.

    `seat_id`: the seat whose stake moves. `match_id`: None for a charge. A seat has at most one
    transfer of each kind.
    """

    kind: Kind
    debit: str
    credit: str
    seat_id: str
    match_id: str | None
    amount_usd_cents: int


class LedgerRow(msgspec.Struct, frozen=True):
    """A transfer with its number: the rows of a partner and environment are numbered from 1.

    The fields between `at` and `hash` are those of `Transfer`, in the same order.
    `hash` covers the row without its number, and the hash of the row before it.
    """

    partner_id: str
    environment: Environment
    seq: int
    at: int
    kind: Kind
    debit: str
    credit: str
    seat_id: str
    match_id: str | None
    amount_usd_cents: int
    hash: str = ""


def charge(seat: Seat) -> Transfer:
    """Return the transfer of a confirmed stake from the player into escrow."""
    return Transfer(
        "charge", player(seat.player_id), ESCROW, seat.seat_id, None, seat.stake_usd_cents
    )


def settle(record: MatchWithSeats) -> Iterator[Transfer]:
    """Yield the transfers that empty the escrow of a match whose money is recorded on its seats.

    Each stake is refunded, or is divided into its rake and a part of the winner's prize.
    """
    match_id, winner = record.match.match_id, record.match.winner_player_id
    for seat in record.seats:
        rake = seat.rake_usd_cents or 0
        kind: Kind = "refund" if winner is None else "prize"
        to = player(seat.player_id if winner is None else winner)
        if left := seat.stake_usd_cents - rake:
            yield Transfer(kind, ESCROW, to, seat.seat_id, match_id, left)
        if rake:
            yield Transfer("rake", ESCROW, RAKE, seat.seat_id, match_id, rake)


def player(player_id: str) -> str:
    """Return the account of a player."""
    return f"player:{player_id}"


def row_after(
    seq: int,
    before: str,
    transfer: Transfer,
    *,
    partner_id: str,
    environment: Environment,
    at: int,
) -> LedgerRow:
    """Return a transfer as the row that follows row `seq`, whose hash is `before`."""
    moved = msgspec.structs.astuple(transfer)
    sealed = _sealed((before, partner_id, environment, at, *moved))
    return LedgerRow(*(partner_id, environment, seq + 1, at, *moved, sealed))


def hash_of(row: LedgerRow, before: str) -> str:
    """Return the SHA-256, in hex, of the previous row's hash `before` and the row's fields.

    The row's number is left out, so that a check can distinguish a misplaced row from an altered
    one.
    """
    partner_id, environment, _, at, *moved, _ = msgspec.structs.astuple(row)
    return _sealed((before, partner_id, environment, at, *moved))


def _sealed(fields: tuple[str | int | None, ...]) -> str:
    return hashlib.sha256(_encode(fields)).hexdigest()
