"""One partner's invoices in one environment: assembled from final days, paid, declared void."""

from collections.abc import Mapping
from typing import ClassVar

import structlog

from pgs.actors.kernel.dispatch import DispatchingActor, Handler, Stale
from pgs.actors.kernel.mail import Envelope, Message
from pgs.actors.messages.billing import Assembled, AssembleInvoice, PayInvoice, VoidInvoice
from pgs.actors.messages.seats import FinaliseDays
from pgs.actors.partners import PartnerActors
from pgs.domain import ids, invoices
from pgs.domain.days import EARLIEST_DAY, first_day, last_day, month_of
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.invoices import Invoice, InvoiceLine
from pgs.storage import invoices as rows
from pgs.storage.transactions import Outcome, Stmt, Tx

PAGE = 200
"""Lines of an invoice that one transaction writes, in a few milliseconds. A month with thirty tiers
has about a thousand lines."""

log = structlog.get_logger("pgs.billing")


class BillingActor(DispatchingActor):
    """Handles one command at a time: no invoice number is skipped, and nothing is billed twice."""

    def __init__(self, partner: PartnerActors, environment: Environment) -> None:
        self._partner = partner
        self._environment: Environment = environment
        self._parts = partner.parts
        self._reader = partner.parts.database.reader

    async def load(self) -> None:
        """Do nothing: every command reads the rows that it needs."""

    async def _assemble(self, command: AssembleInvoice, _: Envelope) -> Assembled:
        final = (await self._partner.seats(self._environment).ask(FinaliseDays())).day
        # Rake of an earlier month belongs to that month's invoice, so assemble the earlier months
        # first. A month whose invoice is void gets no second invoice: the next invoice that is
        # assembled bills its rake.
        for left in await self._unbilled(command.month, page_size=1):
            for earlier in range(month_of(left.day), command.month):
                await self._assemble_month(earlier, final)
        return Assembled(await self._assemble_month(command.month, final))

    async def _assemble_month(self, month: int, final: int) -> Invoice | None:
        partner_id = self._partner.partner_id
        known = await rows.find_month(self._reader, partner_id, self._environment, month)
        if known is not None and known.status != "draft":
            return known
        draft = known or await self._begin(month)
        if draft is None or not invoices.may_finalise(draft, final):
            return draft
        return await self._open(draft)

    async def _begin(self, month: int) -> Invoice | None:
        """Write the draft of a month, unless the month has nothing to bill."""
        # A month without matches gets no invoice, even if a void invoice left rake unbilled. The
        # next month with matches bills that rake.
        if not await self._unbilled(month, page_size=1, since=first_day(month)):
            return None
        seq, _ = await rows.last_numbers(self._reader, self._partner.partner_id, self._environment)
        draft = Invoice(
            partner_id=self._partner.partner_id,
            environment=self._environment,
            invoice_id=self._parts.new_id(ids.INVOICE),
            seq=seq + 1,
            month=month,
            status="draft",
            created_at=self._parts.clock.now(),
        )
        await self._write(rows.insert_invoice(draft))
        return draft

    async def _open(self, draft: Invoice) -> Invoice:
        """Write the lines of a draft whose days are final, then its number and its total.

        An assembly that was cut short continues where it stopped.
        """
        count, total = await rows.sum_of_lines(self._reader, draft)
        while found := await self._unbilled(draft.month, PAGE):
            stmts: list[Stmt] = []
            for of in found:
                count += 1
                total += of.rake_usd_cents
                stmts += rows.bill(draft, self._line(of, count))
            await self._write(*stmts)
        _, number = await rows.last_numbers(
            self._reader, self._partner.partner_id, self._environment
        )
        opened = invoices.finalise(draft, number + 1, total, count, self._parts.clock.now())
        await self._write(rows.update_invoice(draft, opened))
        self._parts.on_event("invoice_opened")
        log.info(
            "invoice_opened",
            partner_id=opened.partner_id,
            environment=opened.environment,
            number=opened.number,
            lines=opened.line_count,
            total_usd_cents=opened.total_usd_cents,
        )
        return opened

    async def _unbilled(
        self, month: int, page_size: int, since: int = EARLIEST_DAY
    ) -> list[rows.Unbilled]:
        return await rows.unbilled(
            self._reader,
            self._partner.partner_id,
            self._environment,
            (since, last_day(month)),
            page_size,
        )

    def _line(self, of: rows.Unbilled, number: int) -> InvoiceLine:
        return InvoiceLine(
            self._parts.new_id(ids.INVOICE_LINE),
            number,
            of.day,
            of.game_id,
            of.tier_id,
            of.matches,
            of.rake_usd_cents,
        )

    async def _pay(self, command: PayInvoice, _: Envelope) -> Invoice | Refusal | BadRequest:
        was = await self._find_open(command.invoice_id)
        if not isinstance(was, Invoice):
            return was
        paid = invoices.pay(was, self._parts.clock.now())
        await self._write(rows.update_invoice(was, paid))
        return paid

    async def _void(self, command: VoidInvoice, _: Envelope) -> Invoice | Refusal | BadRequest:
        was = await self._find_open(command.invoice_id)
        if not isinstance(was, Invoice):
            return was
        void = invoices.void(was, self._parts.clock.now())
        await self._write(rows.update_invoice(was, void), rows.unbill(was))
        return void

    async def _find_open(self, invoice_id: str) -> Invoice | Refusal | BadRequest:
        found = await rows.find_invoice(self._reader, self._partner.partner_id, invoice_id)
        if found is None or found.environment != self._environment:
            return refuse("invoice_not_found")
        if found.status == "draft":
            return refuse("invoice_not_readable")
        if found.status != "open":
            return BadRequest(f"this invoice is {found.status}; only an open one can be changed")
        return found

    async def _write(self, *stmts: Stmt) -> None:
        """Commit statements. Raises `Stale` if a row was changed by somebody else."""
        tx = Tx(self._partner.partner_id, stmts)
        if await self._parts.database.writer.submit(tx) is Outcome.CONFLICT:
            raise Stale

    HANDLERS: ClassVar[Mapping[type[Message], Handler]] = {
        AssembleInvoice: _assemble,
        PayInvoice: _pay,
        VoidInvoice: _void,
    }
