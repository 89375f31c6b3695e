"""Invoices: one for each partner, environment and calendar month.

An invoice has a line for each day, game and tier whose rake it bills.
"""

from typing import Final, Literal, get_args

import msgspec

from pgs.domain.days import DAY_S, first_day, format_day, last_day
from pgs.domain.environments import Environment
from pgs.domain.plurals import counted

DUE_AFTER_S: Final = 30 * DAY_S
"""Seconds from an invoice's finalisation until it is due, as the interface promises."""

InvoiceStatus = Literal["draft", "open", "paid", "void"]

INVOICE_STATUSES: Final[tuple[InvoiceStatus, ...]] = get_args(InvoiceStatus)


class Invoice(msgspec.Struct, frozen=True):
    """An invoice. Times in epoch seconds; `month` as in `days.py`.

    `seq`: the place among the invoices of the same partner and environment, in the order in which
    they were begun. A draft has no number, total or line count yet, and no time but `created_at`.
    """

    partner_id: str
    environment: Environment
    invoice_id: str
    seq: int
    month: int
    status: InvoiceStatus
    created_at: int
    number: int | None = None
    total_usd_cents: int | None = None
    line_count: int | None = None
    finalized_at: int | None = None
    due_at: int | None = None
    paid_at: int | None = None
    voided_at: int | None = None

    @property
    def period(self) -> tuple[int, int]:
        """The first and the last day of the invoice's month."""
        return first_day(self.month), last_day(self.month)


class InvoiceLine(msgspec.Struct, frozen=True):
    """The rake of the matches that were decided on a day, at a game and a tier, in US cents.

    `line`: the line's place in the invoice, from 1.
    """

    line_id: str
    line: int
    day: int
    game_id: str
    tier_id: str
    matches: int
    amount_usd_cents: int


def describe(line: InvoiceLine) -> str:
    """Return what a line bills, in words."""
    text = format_day(line.day)
    matches = counted(line.matches, "match", "matches")
    return (
        f"Rake of {matches} of {line.game_id}, tier {line.tier_id}, "
        f"decided on {text[:4]}-{text[4:6]}-{text[6:]}"
    )


def may_finalise(invoice: Invoice, final_day: int) -> bool:
    """Return whether a draft may be made final: whether every day of its month is final.

    `final_day`: the newest final day, from `last_final_day` in `days.py`.
    """
    return final_day >= last_day(invoice.month)


def finalise(
    invoice: Invoice, number: int, total_usd_cents: int, line_count: int, now: int
) -> Invoice:
    """Return a draft as an open invoice: the `number`th of its partner and environment."""
    return msgspec.structs.replace(
        invoice,
        status="open",
        number=number,
        total_usd_cents=total_usd_cents,
        line_count=line_count,
        finalized_at=now,
        due_at=now + DUE_AFTER_S,
    )


def pay(invoice: Invoice, now: int) -> Invoice:
    """Return an open invoice as paid."""
    return msgspec.structs.replace(invoice, status="paid", paid_at=now)


def void(invoice: Invoice, now: int) -> Invoice:
    """Return an open invoice as void. The next one that is opened bills its rake."""
    return msgspec.structs.replace(invoice, status="void", voided_at=now)
