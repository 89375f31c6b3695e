"""An assembly that is cut short at any write is completed by the next; nothing is billed twice."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors import billing_actor
from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages import seats as m
from pgs.actors.messages.billing import AssembleInvoice
from pgs.domain.days import DAY_S, day_of, month_of
from pgs.domain.invoices import Invoice
from pgs.storage import invoices as rows
from tests.actors.ready_core import ReadyCore, ready_core
from tests.virtual import Faults, TrioClock

MATCHES = 5


async def play_a_match_a_day(s: ReadyCore) -> int:
    """Play matches with rake on days of one month; let the month end. Return the month."""
    clock = s.parts.clock
    assert isinstance(clock, TrioClock)
    for number in range(MATCHES):
        await s.seat(f"a{number}")
        match_id = (await s.seat(f"b{number}")).match_id
        assert match_id is not None
        decision = m.DecideMatch(match_id, "ended", f"a{number}", "decided_by_test_key")
        await s.partner().seats("test").ask(decision)
        await trio.sleep(1)
        clock.skip(DAY_S)
    month = month_of(day_of(clock.now()))
    clock.skip(31 * DAY_S)
    return month


async def assemble(s: ReadyCore, month: int) -> Invoice:
    assembled = await s.partner().billing("test").ask(AssembleInvoice(month))
    assert assembled.invoice is not None
    invoice: Invoice = assembled.invoice
    return invoice


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    "text",
    ["insert into invoice (", "insert into invoice_line", "update totals", "update invoice"],
)
@pytest.mark.parametrize("skip", [0, 3])
async def test_an_assembly_that_fails_at_a_write_is_completed_by_the_next_one(
    text: str,
    after: bool,
    skip: int,
    tmp_path: Path,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(billing_actor, "PAGE", 2)
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        month = await play_a_match_a_day(s)
        faults.fail(text, after=after, skip=skip)
        if skip == 0 or text in ("insert into invoice_line", "update totals"):
            with pytest.raises(Crashed):
                await assemble(s, month)
        faults.heal()
        opened_at = s.parts.clock.now()
    async with ready_core(tmp_path) as s:
        clock = s.parts.clock
        assert isinstance(clock, TrioClock)
        clock.skip(opened_at - clock.now())
        invoice = await assemble(s, month)
        assert (invoice.status, invoice.number, invoice.line_count) == ("open", 1, MATCHES)
        lines = await rows.lines_after(s.reader, "acme", invoice.invoice_id, 0, 100)
        assert [line.line for line in lines] == list(range(1, MATCHES + 1))
        assert sum(line.amount_usd_cents for line in lines) == invoice.total_usd_cents
        assert await rows.unbilled(s.reader, "acme", "test", (0, 2**31), 100) == []
        assert await assemble(s, month) == invoice
