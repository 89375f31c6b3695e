"""Checks that the whole ledger balances, and that it agrees with the seats and the matches."""

import msgspec

from pgs.storage.reader import Query, Reader, Row
from pgs.storage.transactions import Params

SHOWN_LIMIT = 100
"""Faults listed in one report. A longer list would be of no more help to an operator."""


class LedgerReport(msgspec.Struct, frozen=True, rename="camel"):
    """The ledger's balances in US cents, and its faults: empty lists if it is sound.

    A fault names the partner, and the transfer, line, seat or match.
    """

    balances: list[tuple[str, str, int, int]]  # environment, account, US cents, lines
    sum_usd_cents: int
    unbalanced_transfers: list[str]
    seats_charged_other_than_once: list[str]
    seats_settled_other_than_booked: list[str]
    matches_that_do_not_add_up: list[str]
    stray_lines: list[str]
    escrow_usd_cents: int
    open_stakes_usd_cents: int

    @property
    def sound(self) -> bool:
        """Whether all lines sum to zero, seats and matches agree with them, and escrow is right.

        Escrow is right if it holds exactly the open stakes.
        """
        return (
            self.sum_usd_cents == 0
            and not self.unbalanced_transfers
            and not self.seats_charged_other_than_once
            and not self.seats_settled_other_than_booked
            and not self.matches_that_do_not_add_up
            and not self.stray_lines
            and self.escrow_usd_cents == self.open_stakes_usd_cents
        )


async def check_ledger(reader: Reader) -> LedgerReport:
    """Return the report on the whole ledger, as it stands at one moment."""
    shown: Params = {"page_size": SHOWN_LIMIT}
    (
        balances,
        escrow,
        open_escrow,
        unbalanced,
        charged,
        settled,
        matches,
        stray,
    ) = await reader.together(
        Query("ledger.balances"),
        Query("ledger.escrow"),
        Query("ledger.open_escrow"),
        Query("ledger.unbalanced_transfers", shown),
        Query("ledger.seats_charged_other_than_once", shown),
        Query("ledger.seats_settled_other_than_booked", shown),
        Query("ledger.matches_that_do_not_add_up", shown),
        Query("ledger.stray_lines", shown),
    )
    return LedgerReport(
        balances=[(row[0], row[1], row[2], row[3]) for row in balances],
        sum_usd_cents=sum(row[2] for row in balances),
        unbalanced_transfers=_named(unbalanced),
        seats_charged_other_than_once=_named(charged),
        seats_settled_other_than_booked=_named(settled),
        matches_that_do_not_add_up=_named(matches),
        stray_lines=[f"{row[0]} {row[1]}, line {row[2]}" for row in stray],
        escrow_usd_cents=escrow[0][0],
        open_stakes_usd_cents=open_escrow[0][0],
    )


def _named(rows: list[Row]) -> list[str]:
    return [f"{row[0]} {row[1]}" for row in rows]
