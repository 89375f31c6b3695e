"""The records of invoices that operator commands return."""

from pgs.domain.days import format_day, format_month
from pgs.domain.environments import Environment
from pgs.domain.invoices import Invoice, InvoiceLine, InvoiceStatus
from pgs.operator.records import Record


class InvoiceSummary(Record, frozen=True):
    """An invoice. Amounts in US cents, times in epoch seconds, days `yyyymmdd`.

    A draft has no number, no total and no lines yet.
    """

    partner_id: str
    environment: Environment
    invoice_id: str
    month: str
    period_from: str
    period_to: str
    status: InvoiceStatus
    created_at: int
    number: int | None = None
    total_usd_cents: int | None = None
    line_count: int | None = None
    finalized_at: int | None = None
    due_at: int | None = None
    paid_at: int | None = None
    voided_at: int | None = None


class InvoicePage(Record, frozen=True):
    """A page of invoices; `next_after` is the `after` of the next page, absent on the last one."""

    invoices: list[InvoiceSummary]
    next_after: tuple[str, Environment, int] | None = None


class LineRecord(Record, frozen=True):
    """A line: the rake of the matches decided on a day, at a game and a tier."""

    line_id: str
    line: int
    day: str
    game_id: str
    tier_id: str
    matches: int
    amount_usd_cents: int


class InvoiceWithLines(Record, frozen=True):
    """An invoice and a page of its lines. `next_after`: the line after which the next page begins,
    if there is one."""

    invoice: InvoiceSummary
    lines: list[LineRecord]
    next_after: int | None = None


class MissedInvoice(Record, frozen=True):
    """An invoice that was not assembled, because the partner's node did not do it. `error`: why."""

    partner_id: str
    environment: Environment
    error: str


class AssembledPage(Record, frozen=True):
    """The invoices of some partners. `next_after`: where the next page begins, if there is one."""

    invoices: list[InvoiceSummary]
    partners: int
    next_after: tuple[str, Environment] | None = None
    missed: tuple[MissedInvoice, ...] = ()


def invoice_summary(invoice: Invoice) -> InvoiceSummary:
    """Return an invoice as operators see it."""
    first, last = invoice.period
    return InvoiceSummary.of(
        invoice,
        month=format_month(invoice.month),
        period_from=format_day(first),
        period_to=format_day(last),
    )


def line_record(line: InvoiceLine) -> LineRecord:
    """Return a line as operators see it."""
    return LineRecord.of(line, day=format_day(line.day))
