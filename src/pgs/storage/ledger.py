"""What the ledger's rows add up to."""

import msgspec

from pgs.storage.database import Reader

SHOWN_LIMIT = 100  # faults listed in one report; more of them tell no more


class LedgerReport(msgspec.Struct, frozen=True, rename="camel"):
    """The ledger's balances in US cents, and whatever is wrong with it: three empty lists when it is sound."""

    balances: list[tuple[str, str, int, int]]  # environment, account, US cents, lines
    sum_usd_cents: int
    unbalanced_transfers: list[str]
    seats_charged_other_than_once: list[str]
    escrow_usd_cents: int
    open_stakes_usd_cents: int

    @property
    def sound(self) -> bool:
        """Whether everything sums to zero, each stake was charged once, and escrow holds exactly the open stakes."""
        return (
            self.sum_usd_cents == 0
            and not self.unbalanced_transfers
            and not self.seats_charged_other_than_once
            and self.escrow_usd_cents == self.open_stakes_usd_cents
        )


def check_ledger(reader: Reader) -> LedgerReport:
    """Return the report on the whole ledger."""
    balances = [(row[0], row[1], row[2], row[3]) for row in reader.all("ledger.balances")]
    escrow, open_stakes = reader.one("ledger.escrow"), reader.one("ledger.open_escrow")
    return LedgerReport(
        balances=balances,
        sum_usd_cents=sum(row[2] for row in balances),
        unbalanced_transfers=[f"{row[0]} {row[1]}" for row in reader.all("ledger.unbalanced_transfers", page_size=SHOWN_LIMIT)],
        seats_charged_other_than_once=[
            f"{row[0]} {row[1]}" for row in reader.all("ledger.seats_charged_other_than_once", page_size=SHOWN_LIMIT)
        ],
        escrow_usd_cents=escrow[0] if escrow else 0,
        open_stakes_usd_cents=open_stakes[0] if open_stakes else 0,
    )
