"""The books of the reference settlement server: every charge and payout once, in one SQLite file.

They are on disk before an answer is sent, so a kill loses nothing that was answered.
"""

from pathlib import Path
from typing import Any, Literal

import aiosql
import apsw
import msgspec

FILE = "settlement.db"

Outcome = Literal["confirmed", "declined"]
Status = Literal["confirmed", "pending", "declined"]

_SQL: Any = aiosql.from_path(
    Path(__file__).with_name("books.sql"), "apsw", mandatory_parameters=False
)


class Charge(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The body of a charge."""

    seat_id: str
    partner_id: str
    environment: Literal["test", "live"]
    player_id: str
    amount_usd_cents: int

    @property
    def key(self) -> str:
        """The idempotency key that it must come with."""
        return self.seat_id


class Payout(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The body of a payout."""

    match_id: str
    seat_id: str
    partner_id: str
    environment: Literal["test", "live"]
    player_id: str
    amount_usd_cents: int
    kind: Literal["prize", "refund"]

    @property
    def key(self) -> str:
        """The idempotency key that it must come with."""
        return f"{self.match_id}:{self.seat_id}"


class Refused(Exception):
    """A request that no correct client sends; the text says why."""


class Books:
    """The books in a folder, which is made if it does not exist."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._db = apsw.Connection(str(folder / FILE))
        _SQL.keep_a_log(self._db)
        _SQL.wait_for_the_disk(self._db)
        for make in (_SQL.make_charges, _SQL.make_payouts, _SQL.make_refusals):
            make(self._db)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def charge(self, wanted: Charge, outcome: Outcome, ready_at: float, now: float) -> Status:
        """Make a charge, or find the one that was made, and return its status.

        `outcome` is what a new charge becomes at `ready_at`, in epoch seconds. Raises `Refused` if
        the seat was charged with other values.
        """
        row = _SQL.find_charge(self._db, seat_id=wanted.seat_id)
        if row is None:
            fields = msgspec.structs.asdict(wanted)
            _SQL.insert_charge(self._db, **fields, outcome=outcome, ready_at=ready_at)
            return _status(outcome, ready_at, now)
        if Charge(*row[:5]) != wanted:
            raise self._refusal(wanted.key, "the same key with other values")
        _SQL.count_charge_post(self._db, seat_id=wanted.seat_id)
        return _status(row[5], row[6], now)

    def pay(self, wanted: Payout, outcome: Outcome, ready_at: float, now: float) -> Status:
        """Make a payout, or find the one that was made, and return its status, as for a charge."""
        row = _SQL.find_payout(self._db, match_id=wanted.match_id, seat_id=wanted.seat_id)
        if row is None:
            self._check(wanted, now)
            fields = msgspec.structs.asdict(wanted)
            _SQL.insert_payout(self._db, **fields, outcome=outcome, ready_at=ready_at)
            return _status(outcome, ready_at, now)
        if Payout(*row[:7]) != wanted:
            raise self._refusal(wanted.key, "the same key with other values")
        _SQL.count_payout_post(self._db, match_id=wanted.match_id, seat_id=wanted.seat_id)
        return _status(row[7], row[8], now)

    def find_charge(self, seat_id: str, now: float) -> Status | None:
        """Return what has become of a charge, or None if there is none."""
        row = _SQL.find_charge(self._db, seat_id=seat_id)
        return None if row is None else _status(row[5], row[6], now)

    def find_payout(self, match_id: str, seat_id: str, now: float) -> Status | None:
        """Return what has become of a payout, or None if there is none."""
        row = _SQL.find_payout(self._db, match_id=match_id, seat_id=seat_id)
        return None if row is None else _status(row[7], row[8], now)

    def report(self) -> dict[str, Any]:
        """Return the totals and everything that is wrong. `sound`: whether nothing is wrong.

        `player` is what players have received minus what they have paid, as in `pgs ledger check`.
        """
        totals = [
            {
                "partnerId": partner_id,
                "environment": environment,
                "seats": seats,
                "payouts": paid,
                "chargedUsdCents": charged,
                "prizesUsdCents": prizes,
                "refundsUsdCents": refunds,
                "playerUsdCents": prizes + refunds - charged,
            }
            for partner_id, environment, charged, prizes, refunds, seats, paid in _SQL.totals(
                self._db
            )
        ]
        wrong: dict[str, list[str]] = {
            "paidWithoutACharge": _names(_SQL.payouts_without_a_charge(self._db)),
            "seatsPaidTwice": _names(_SQL.seats_paid_twice(self._db)),
            "refundsThatAreNotTheCharge": _names(_SQL.refunds_that_are_not_the_charge(self._db)),
            "matchesPaidWrongly": _names(_SQL.matches_paid_wrongly(self._db)),
            "paidMoreThanCharged": [
                f"{total['partnerId']} {total['environment']}"
                for total in totals
                if total["playerUsdCents"] > 0
            ],
            "refused": [f"{key}: {why}" for key, why in _SQL.refusals(self._db)],
        }
        charges, payouts, declined = _SQL.repeats(self._db)
        return {
            "sound": not any(wrong.values()),
            "totals": totals,
            "declinedCharges": declined,
            "repeatedCharges": charges,
            "repeatedPayouts": payouts,
            **wrong,
        }

    def charges(self) -> dict[str, tuple[int, str]]:
        """Return amount and outcome of every charge, by seat."""
        return {seat: (cents, outcome) for seat, cents, outcome in _SQL.all_charges(self._db)}

    def payouts(self) -> dict[tuple[str, str], tuple[str, int, str]]:
        """Return kind, amount and outcome of every payout, by match and seat."""
        return {
            (match, seat): (kind, cents, outcome)
            for match, seat, kind, cents, outcome in _SQL.all_payouts(self._db)
        }

    def _check(self, wanted: Payout, now: float) -> None:
        charge = _SQL.find_charge(self._db, seat_id=wanted.seat_id)
        if charge is None or _status(charge[5], charge[6], now) != "confirmed":
            raise self._refusal(wanted.key, "its seat is not charged")
        if charge[1:4] != (wanted.partner_id, wanted.environment, wanted.player_id):
            raise self._refusal(wanted.key, "its seat belongs to others")
        if wanted.kind == "refund" and wanted.amount_usd_cents != charge[4]:
            raise self._refusal(wanted.key, "a refund of another amount than the charge")
        for match_id, _, kind in _SQL.other_payouts(
            self._db, match_id=wanted.match_id, seat_id=wanted.seat_id
        ):
            if match_id != wanted.match_id:
                raise self._refusal(wanted.key, "its seat was paid in another match")
            if "prize" in (kind, wanted.kind):
                raise self._refusal(wanted.key, "its match has paid another prize or a refund")

    def _refusal(self, key: str, why: str) -> Refused:
        _SQL.insert_refusal(self._db, key=key, why=why)
        return Refused(why)


def _status(outcome: Outcome, ready_at: float, now: float) -> Status:
    return outcome if now >= ready_at else "pending"


def _names(rows: Any) -> list[str]:
    return [" ".join(row) for row in rows]
