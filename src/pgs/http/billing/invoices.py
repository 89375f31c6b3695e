"""Invoices, their lines, and the matches that a line bills, for API keys and for members.

Amounts in US cents, times in epoch seconds, days as `yyyymmdd` in UTC.
"""

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from pgs.domain.days import format_day, month_of
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from pgs.domain.invoices import INVOICE_STATUSES, Invoice, InvoiceLine, InvoiceStatus, describe
from pgs.http.api.day_ranges import parse_optional_range
from pgs.http.api.endpoint import Answer
from pgs.http.api.lists import AccountCall, Wanted, cut, wanted_limit, wanted_page
from pgs.http.api.responses import or_unset
from pgs.storage.invoices import (
    BilledMatch,
    find_invoice,
    find_line,
    invoices_before,
    lines_after,
    matches_of_line,
)

ALL_MONTHS: Final = (-(2**31), 2**31)
"""A range of months that contains every month."""


class InvoiceRecord(msgspec.Struct, frozen=True, rename="camel"):
    """An invoice. A draft has no number, no total and no lines yet."""

    invoice_id: str
    environment: str
    status: InvoiceStatus
    period_from: str
    period_to: str
    created_at: int
    number: int | UnsetType = UNSET
    total_usd_cents: int | UnsetType = UNSET
    line_count: int | UnsetType = UNSET
    finalized_at: int | UnsetType = UNSET
    due_at: int | UnsetType = UNSET
    paid_at: int | UnsetType = UNSET
    voided_at: int | UnsetType = UNSET


class InvoicePage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of invoices, the newest first."""

    invoices: list[InvoiceRecord]
    next_cursor: str | None
    has_more: bool


class LineRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A line of an invoice: the rake of a day's matches at one game and tier."""

    line_id: str
    day: str
    game_id: str
    tier_id: str
    description: str
    matches: int
    amount_usd_cents: int


class LinePage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of an invoice's lines, ordered by day, game and tier."""

    lines: list[LineRecord]
    next_cursor: str | None
    has_more: bool


class LineMatch(msgspec.Struct, frozen=True, rename="camel"):
    """A match, and the rake that was kept from its stakes."""

    match_id: str
    ended_at: int
    rake_usd_cents: int


class MatchPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the matches that a line bills, in the order in which they ended.

    Over all pages, their rakes add up to the amount of the line.
    """

    matches: list[LineMatch]
    next_cursor: str | None
    has_more: bool


async def list_invoices(call: AccountCall, environment: Environment) -> Answer:
    """Return a page of the invoices of the months `from` to `to`, or of all months."""
    limit = wanted_limit(call)
    if not isinstance(limit, int):
        return limit
    months = _window(call)
    if isinstance(months, Refusal):
        return months
    status = call.query.get("status", "all")
    if status != "all" and status not in INVOICE_STATUSES:
        return refuse("invoice_status_invalid").saying(
            f"No such invoice status. Send {', '.join(INVOICE_STATUSES)} or all, or leave it out."
        )
    wanted = wanted_page(call, _INVOICES, environment)
    if not isinstance(wanted, Wanted):
        return wanted
    found = await invoices_before(
        call.services.parts.database.reader,
        call.principal.account.partner_id,
        environment,
        wanted.before,
        months,
        "" if status == "all" else status,
        wanted.limit + 1,
    )
    shown, page = cut(call, _INVOICES, wanted, found, lambda invoice: invoice.seq, environment)
    records = [invoice_record(invoice) for invoice in shown]
    return InvoicePage(records, page.next_cursor, page.has_more)


async def read_invoice(call: AccountCall, environment: Environment) -> Answer:
    """Return an invoice that is not a draft."""
    invoice = await _readable(call, environment)
    return invoice if isinstance(invoice, Refusal) else invoice_record(invoice)


async def list_lines(call: AccountCall, environment: Environment) -> Answer:
    """Return a page of an invoice's lines."""
    limit = wanted_limit(call)
    if not isinstance(limit, int):
        return limit
    invoice = await _readable(call, environment)
    if isinstance(invoice, Refusal):
        return invoice
    kind = f"{_LINES}{invoice.invoice_id}"
    wanted = wanted_page(call, kind, environment)
    if not isinstance(wanted, Wanted):
        return wanted
    found = await lines_after(
        call.services.parts.database.reader,
        invoice.partner_id,
        invoice.invoice_id,
        wanted.after if isinstance(wanted.after, int) else 0,
        wanted.limit + 1,
    )
    shown, page = cut(call, kind, wanted, found, lambda line: line.line, environment)
    return LinePage([_line_record(line) for line in shown], page.next_cursor, page.has_more)


async def list_matches(call: AccountCall, environment: Environment) -> Answer:
    """Return a page of the matches that a line bills."""
    limit = wanted_limit(call)
    if not isinstance(limit, int):
        return limit
    invoice = await _readable(call, environment)
    if isinstance(invoice, Refusal):
        return invoice
    reader = call.services.parts.database.reader
    line = await find_line(reader, invoice.partner_id, invoice.invoice_id, call.path["line_id"])
    if line is None:
        return refuse("invoice_not_found")
    kind = f"{_MATCHES}{line.line_id}"
    wanted = wanted_page(call, kind, environment)
    if not isinstance(wanted, Wanted):
        return wanted
    ended_at, _, match_id = str(wanted.after or "0.").partition(".")
    found = await matches_of_line(
        reader, invoice, line, (int(ended_at), match_id), wanted.limit + 1
    )
    shown, page = cut(call, kind, wanted, found, _place, environment)
    records = [LineMatch(of.match_id, of.ended_at, of.rake_usd_cents) for of in shown]
    return MatchPage(records, page.next_cursor, page.has_more)


def invoice_record(invoice: Invoice) -> InvoiceRecord:
    """Return the record of an invoice."""
    first, last = invoice.period
    return InvoiceRecord(
        invoice_id=invoice.invoice_id,
        environment=invoice.environment,
        status=invoice.status,
        period_from=format_day(first),
        period_to=format_day(last),
        created_at=invoice.created_at,
        number=or_unset(invoice.number),
        total_usd_cents=or_unset(invoice.total_usd_cents),
        line_count=or_unset(invoice.line_count),
        finalized_at=or_unset(invoice.finalized_at),
        due_at=or_unset(invoice.due_at),
        paid_at=or_unset(invoice.paid_at),
        voided_at=or_unset(invoice.voided_at),
    )


_INVOICES: Final = "invoices"
_LINES: Final = "lines."
_MATCHES: Final = "line-matches."


def _window(call: AccountCall) -> tuple[int, int] | Refusal:
    """Return the months of `from` and `to`; all months if the call names neither."""
    wanted = parse_optional_range(call.query)
    if wanted is None:
        return ALL_MONTHS
    return wanted if isinstance(wanted, Refusal) else (month_of(wanted[0]), month_of(wanted[1]))


async def _readable(call: AccountCall, environment: Environment) -> Invoice | Refusal:
    partner_id = call.principal.account.partner_id
    reader = call.services.parts.database.reader
    invoice = await find_invoice(reader, partner_id, call.path["invoice_id"])
    if invoice is None or invoice.environment != environment:
        return refuse("invoice_not_found")
    return refuse("invoice_not_readable") if invoice.status == "draft" else invoice


def _line_record(line: InvoiceLine) -> LineRecord:
    return LineRecord(
        line_id=line.line_id,
        day=format_day(line.day),
        game_id=line.game_id,
        tier_id=line.tier_id,
        description=describe(line),
        matches=line.matches,
        amount_usd_cents=line.amount_usd_cents,
    )


def _place(match: BilledMatch) -> str:
    return f"{match.ended_at}.{match.match_id}"
