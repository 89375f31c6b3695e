"""`invoice.…`: the invoices of all partners."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pgs.actors.core import Core
from pgs.actors.messages.billing import AssembleInvoice, PayInvoice, VoidInvoice
from pgs.domain.days import day_of, last_day, month_of, parse_month
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.invoices import INVOICE_STATUSES, Invoice
from pgs.domain.shards import shard_of
from pgs.operator.accounts import find_account, find_anywhere, nowhere
from pgs.operator.command import Args, Id, OperatorCommand
from pgs.operator.forwarding import answer_at_owner
from pgs.operator.invoice_records import (
    AssembledPage,
    InvoicePage,
    InvoiceSummary,
    InvoiceWithLines,
    MissedInvoice,
    invoice_summary,
    line_record,
)
from pgs.operator.messages import Done
from pgs.storage.bulk import read_in_bulk
from pgs.storage.invoices import (
    find_invoice,
    lines_after,
    list_invoices,
    partners_with_unbilled,
)

PARTNERS = 20
"""Pairs of partner and environment whose invoices one call assembles. It takes a second or less, so
that the terminal can show progress after each call."""

PAGE = 1000
"""Invoices, or lines, in one answer. An answer with 1,000 invoices has some 300 kB."""

NO_MONTH = BadRequest("the month must be written like 202611 and must have begun")


class Month(Args, frozen=True):
    """The month, `yyyymm`, whose invoices to assemble.

    `after`: the partner and environment after which to continue. `only`: the partner and
    environment whose invoice alone is assembled; `after` then has no effect.
    """

    month: Id
    after: tuple[Id, Environment] | None = None
    only: tuple[Id, Environment] | None = None


class InvoicesAfter(Args, frozen=True):
    """A page of invoices, of one partner or of all, with one status or with any."""

    partner_id: Id = ""
    status: Id = ""
    after: tuple[Id, Environment, int] | None = None
    limit: Annotated[int, Meta(ge=1, le=PAGE)] = PAGE


class InvoiceId(Args, frozen=True):
    """The invoice that a command is about."""

    invoice_id: Id


class LinesAfter(Args, frozen=True):
    """An invoice, and the line after which a page of its lines begins."""

    invoice_id: Id
    after: int = 0


async def assemble(core: Core, args: Month) -> AssembledPage | BadRequest:
    """Assemble a month's invoices for the next partners that have something to bill.

    The invoices of a month that is not over, or whose last day is not final, are drafts.
    """
    month = parse_month(args.month)
    if month is None or month > month_of(day_of(core.parts.clock.now())):
        return NO_MONTH
    if args.only is not None:
        return AssembledPage(await _assemble_one(core, month, *args.only), 1)
    after: tuple[str, Environment] = args.after or ("", "live")
    page = await read_in_bulk(
        core.parts.database,
        lambda reader: partners_with_unbilled(reader, last_day(month), after, PARTNERS),
    )
    invoices: list[InvoiceSummary] = []
    missed: list[MissedInvoice] = []
    for one in page:
        if core.directory.owns(one[0]):
            invoices += await _assemble_one(core, month, *one)
            continue
        answer = await answer_at_owner(
            core, INVOICE_ASSEMBLE, Month(args.month, only=one), patient=not missed
        )
        if isinstance(answer, Done):
            invoices += msgspec.json.decode(answer.result, type=AssembledPage).invoices
        else:
            missed.append(MissedInvoice(*one, answer.error))
    further = page[-1] if len(page) == PARTNERS else None
    return AssembledPage(invoices, len(page), further, tuple(missed))


async def _assemble_one(
    core: Core, month: int, partner_id: str, environment: Environment
) -> list[InvoiceSummary]:
    billing = core.directory.partner(partner_id).billing(environment)
    assembled = await billing.ask(AssembleInvoice(month))
    return [] if assembled.invoice is None else [invoice_summary(assembled.invoice)]


async def _of_one(core: Core, args: Month) -> int | None:
    return None if args.only is None else shard_of(args.only[0])


async def _of_invoice(core: Core, args: InvoiceId) -> int | None:
    invoice = await _find(core, args.invoice_id)
    return None if isinstance(invoice, Refusal) else shard_of(invoice.partner_id)


async def list_all(core: Core, args: InvoicesAfter) -> InvoicePage | Refusal | BadRequest:
    """Return a page of invoices by partner and environment, the oldest of each pair first."""
    if args.status and args.status not in INVOICE_STATUSES:
        return refuse("invoice_status_invalid")
    if args.partner_id:
        account = await find_account(core, args.partner_id)
        if isinstance(account, BadRequest):
            return account
    after: tuple[str, Environment, int] = args.after or ("", "live", 0)
    found = await read_in_bulk(
        core.parts.database,
        lambda reader: list_invoices(
            reader, args.partner_id, args.status, after, min(args.limit, PAGE) + 1
        ),
    )
    shown = found[: args.limit]
    last = shown[-1] if len(found) > args.limit else None
    return InvoicePage(
        [invoice_summary(invoice) for invoice in shown],
        (last.partner_id, last.environment, last.seq) if last else None,
    )


async def show(core: Core, args: LinesAfter) -> InvoiceWithLines | Refusal:
    """Return an invoice with a page of its lines."""
    invoice = await _find(core, args.invoice_id)
    if isinstance(invoice, Refusal):
        return invoice
    found = await lines_after(
        core.parts.database.reader, invoice.partner_id, invoice.invoice_id, args.after, PAGE + 1
    )
    shown = [line_record(line) for line in found[:PAGE]]
    return InvoiceWithLines(
        invoice_summary(invoice), shown, shown[-1].line if len(found) > PAGE else None
    )


async def pay(core: Core, args: InvoiceId) -> InvoiceSummary | Refusal | BadRequest:
    """Record that an open invoice was paid."""
    return await _change(core, PayInvoice(args.invoice_id))


async def void(core: Core, args: InvoiceId) -> InvoiceSummary | Refusal | BadRequest:
    """Declare an open invoice void; the next invoice bills the same rake."""
    return await _change(core, VoidInvoice(args.invoice_id))


async def _change(
    core: Core, command: PayInvoice | VoidInvoice
) -> InvoiceSummary | Refusal | BadRequest:
    invoice = await _find(core, command.invoice_id)
    if isinstance(invoice, Refusal):
        return invoice
    billing = core.directory.partner(invoice.partner_id).billing(invoice.environment)
    reply = await billing.ask(command)
    return invoice_summary(reply) if isinstance(reply, Invoice) else reply


async def _find(core: Core, invoice_id: str) -> Invoice | Refusal:
    found = await find_anywhere(core, find_invoice, invoice_id)
    return found or refuse("invoice_not_found").saying(nowhere("invoice", invoice_id))


INVOICE_ASSEMBLE = OperatorCommand(
    "invoice.assemble", Month, AssembledPage, assemble, about=_of_one
)
INVOICE_LIST = OperatorCommand("invoice.list", InvoicesAfter, InvoicePage, list_all)
INVOICE_SHOW = OperatorCommand("invoice.show", LinesAfter, InvoiceWithLines, show)
INVOICE_PAY = OperatorCommand("invoice.pay", InvoiceId, InvoiceSummary, pay, about=_of_invoice)
INVOICE_VOID = OperatorCommand("invoice.void", InvoiceId, InvoiceSummary, void, about=_of_invoice)

COMMANDS = (INVOICE_ASSEMBLE, INVOICE_LIST, INVOICE_SHOW, INVOICE_PAY, INVOICE_VOID)
