"""Reads invoices and their lines, and builds the statements that write them."""

from typing import Any

import msgspec

from pgs.domain.days import start_of
from pgs.domain.environments import Environment
from pgs.domain.invoices import Invoice, InvoiceLine
from pgs.storage.columns import CHANGES
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


class Unbilled(msgspec.Struct, frozen=True):
    """The rake of a day, game and tier that no invoice bills yet."""

    day: int
    game_id: str
    tier_id: str
    matches: int
    rake_usd_cents: int


class BilledMatch(msgspec.Struct, frozen=True):
    """A match behind an invoice's line."""

    match_id: str
    ended_at: int
    rake_usd_cents: int


def insert_invoice(invoice: Invoice) -> Stmt:
    """Return the statement that adds an invoice; a second one for its month conflicts."""
    return Stmt("invoices.insert_invoice", invoice, 1)


def update_invoice(was: Invoice, invoice: Invoice) -> Stmt:
    """Return the statement that updates an invoice.

    It conflicts if the status has changed since `was`.
    """
    params: dict[str, Any] = {
        name: getattr(invoice, name) for name in ("partner_id", "invoice_id", *CHANGES["invoice"])
    }
    return Stmt("invoices.update_invoice", params | {"was_status": was.status}, 1)


def bill(invoice: Invoice, line: InvoiceLine) -> tuple[Stmt, Stmt]:
    """Return the statements that add a line and mark its rake as billed.

    They conflict if the rake is billed already.
    """
    of: dict[str, Any] = {"partner_id": invoice.partner_id, "invoice_id": invoice.invoice_id}
    place = {"day": line.day, "game_id": line.game_id, "tier_id": line.tier_id}
    return (
        Stmt("invoices.insert_line", of | msgspec.structs.asdict(line), 1),
        Stmt("invoices.bill", of | place | {"environment": invoice.environment}, 1),
    )


def unbill(invoice: Invoice) -> Stmt:
    """Return the statement that marks the rake of an invoice as not billed yet."""
    return Stmt(
        "invoices.unbill",
        {
            "partner_id": invoice.partner_id,
            "environment": invoice.environment,
            "invoice_id": invoice.invoice_id,
        },
    )


async def find_invoice(reader: Reader, partner_id: str, invoice_id: str) -> Invoice | None:
    """Return an invoice of a partner, or None."""
    row = await reader.one("invoices.find_invoice", partner_id=partner_id, invoice_id=invoice_id)
    return Invoice(*row) if row else None


async def find_month(
    reader: Reader, partner_id: str, environment: Environment, month: int
) -> Invoice | None:
    """Return the invoice of a month, or None."""
    row = await reader.one(
        "invoices.find_month", partner_id=partner_id, environment=environment, month=month
    )
    return Invoice(*row) if row else None


async def last_numbers(
    reader: Reader, partner_id: str, environment: Environment
) -> tuple[int, int]:
    """Return the highest `seq` and `number` of an environment's invoices, 0 where there is none."""
    row = await reader.one("invoices.last_numbers", partner_id=partner_id, environment=environment)
    return (row[0], row[1]) if row else (0, 0)


async def invoices_before(
    reader: Reader,
    partner_id: str,
    environment: Environment,
    before: int,
    months: tuple[int, int],
    status: str,
    page_size: int,
) -> list[Invoice]:
    """Return invoices with a `seq` below `before`, the newest first; begin at `NEWEST`.

    `months`: the first and the last month to list. An empty `status` stands for every status.
    """
    rows = await reader.all(
        "invoices.page",
        partner_id=partner_id,
        environment=environment,
        before=before,
        first_month=months[0],
        last_month=months[1],
        status=status,
        page_size=page_size,
    )
    return [Invoice(*row) for row in rows]


async def list_invoices(
    reader: Reader,
    partner_id: str,
    status: str,
    after: tuple[str, Environment, int],
    page_size: int,
) -> list[Invoice]:
    """Return invoices in the order of partner, environment and `seq`, beginning after `after`.

    An empty `partner_id` stands for every partner, an empty `status` for every status.
    """
    rows = await reader.all(
        "invoices.of_all_partners",
        partner_id=partner_id,
        status=status,
        after_partner_id=after[0],
        after_environment=after[1],
        after_seq=after[2],
        page_size=page_size,
    )
    return [Invoice(*row) for row in rows]


async def lines_after(
    reader: Reader, partner_id: str, invoice_id: str, after: int, page_size: int
) -> list[InvoiceLine]:
    """Return lines of an invoice in their order, beginning after line `after`."""
    rows = await reader.all(
        "invoices.lines",
        partner_id=partner_id,
        invoice_id=invoice_id,
        after=after,
        page_size=page_size,
    )
    return [InvoiceLine(*row) for row in rows]


async def find_line(
    reader: Reader, partner_id: str, invoice_id: str, line_id: str
) -> InvoiceLine | None:
    """Return a line of an invoice, or None."""
    row = await reader.one(
        "invoices.find_line", partner_id=partner_id, invoice_id=invoice_id, line_id=line_id
    )
    return InvoiceLine(*row) if row else None


async def sum_of_lines(reader: Reader, invoice: Invoice) -> tuple[int, int]:
    """Return how many lines an invoice has, and their sum in US cents."""
    row = await reader.one(
        "invoices.sum_of_lines", partner_id=invoice.partner_id, invoice_id=invoice.invoice_id
    )
    return (row[0], row[1]) if row else (0, 0)


async def unbilled(
    reader: Reader,
    partner_id: str,
    environment: Environment,
    days: tuple[int, int],
    page_size: int,
) -> list[Unbilled]:
    """Return the rake that no invoice bills yet, in the order of day, game and tier.

    `days`: the first and the last day to list.
    """
    rows = await reader.all(
        "invoices.unbilled",
        partner_id=partner_id,
        environment=environment,
        first_day=days[0],
        last_day=days[1],
        page_size=page_size,
    )
    return [Unbilled(*row) for row in rows]


async def partners_with_unbilled(
    reader: Reader, last_day: int, after: tuple[str, str], page_size: int
) -> list[tuple[str, Environment]]:
    """Return partners and environments with unbilled rake up to `last_day`, in their order.

    The list begins after the partner and environment `after`.
    """
    rows = await reader.all(
        "invoices.partners_with_unbilled",
        last_day=last_day,
        after_partner_id=after[0],
        after_environment=after[1],
        page_size=page_size,
    )
    return [(partner_id, environment) for partner_id, environment in rows]


async def drafts_after(
    reader: Reader, last_month: int, after: tuple[str, str, int], page_size: int
) -> list[tuple[str, Environment, int]]:
    """Return the partner, environment and month of drafts up to `last_month`, in their order.

    The list begins after the partner, environment and month `after`.
    """
    rows = await reader.all(
        "invoices.drafts",
        last_month=last_month,
        after_partner_id=after[0],
        after_environment=after[1],
        after_month=after[2],
        page_size=page_size,
    )
    return [(partner_id, environment, month) for partner_id, environment, month in rows]


async def matches_of_line(
    reader: Reader,
    invoice: Invoice,
    line: InvoiceLine,
    after: tuple[int, str],
    page_size: int,
) -> list[BilledMatch]:
    """Return the matches that a line bills, in the order of end and id, beginning after `after`."""
    ended_at, match_id = max(after, (start_of(line.day), ""))
    rows = await reader.all(
        "invoices.matches_of_line",
        partner_id=invoice.partner_id,
        environment=invoice.environment,
        game_id=line.game_id,
        tier_id=line.tier_id,
        after_ended_at=ended_at,
        after_match_id=match_id,
        until=start_of(line.day + 1),
        page_size=page_size,
    )
    return [BilledMatch(*row) for row in rows]
