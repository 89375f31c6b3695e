"""Days and months are closed in whatever order money, midnights and steps of the clock come."""

from pathlib import Path
from random import Random

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages import seats as m
from pgs.actors.messages.billing import AssembleInvoice, VoidInvoice
from pgs.actors.ports import ChargeAnswer, UndefinedAnswer
from pgs.actors.seating.settlement_actor import EmbeddedSettlement
from pgs.domain.days import DAY_S, day_of, first_day, last_day, month_of, start_of
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.invoices import Invoice
from pgs.domain.matches import MatchDecision
from pgs.domain.payouts import Payout
from pgs.domain.totals import Totals
from pgs.storage import invoices as rows
from pgs.storage.seats import running_matches_after
from pgs.storage.totals import totals_by_day
from tests.actors.ready_core import ReadyCore, ready_core
from tests.virtual import TrioClock

BEFORE = day_of(0)
AFTER = day_of(2**32)


class LatePayouts(EmbeddedSettlement):
    """Confirms every stake at once, and pays only while `open` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.open = True

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        if not self.open:
            raise UndefinedAnswer("closed")
        return await super().pay(match_id, payout)


class History:
    """Random play over days, with a clock that is put forward and back."""

    def __init__(self, s: ReadyCore, port: LatePayouts, chance: Random) -> None:
        self.s = s
        self.port = port
        self.chance = chance
        self.final = 0
        self.reported: dict[int, Totals] = {}
        self._seats = 0

    async def step(self) -> None:
        """Do one random thing, then check what must always hold."""
        await self.chance.choice(
            (self._seat, self._seat, self._seat, self._decide, self._decide, self._pass, self._pay)
        )()
        await trio.sleep(61)  # what is due is tried again
        await self._check()

    async def finish(self) -> None:
        """Let a month pass in which all money is paid."""
        clock = self.s.parts.clock
        assert isinstance(clock, TrioClock)
        self.port.open = True
        clock.skip(31 * DAY_S)
        await trio.sleep(3 * 3600)  # every seat that waits ends
        await self._check()
        await self._check()

    async def _seat(self) -> None:
        self._seats += 1
        await self.s.ask_seat(f"p{self._seats}", f"k{self._seats}")

    async def _decide(self) -> None:
        running = await running_matches_after(self.s.reader, "acme", "test", "", 100)
        if running:
            match_id = self.chance.choice(running)
            (seat, *_) = [seat for seat in await self.s.feed() if seat.match_id == match_id]
            won = MatchDecision("ended", seat.player_id, "decided_by_test_key")
            drawn = MatchDecision("ended", None, "decided_by_test_key")
            none = MatchDecision("no_contest", None, "decided_by_test_key")
            of = self.chance.choice((won, won, won, drawn, none))
            command = m.DecideMatch(match_id, of.outcome, of.winner_player_id, of.end_reason)
            reply = await self.s.partner().seats("test").ask(command)
            assert not isinstance(reply, Refusal | BadRequest), reply

    async def _pass(self) -> None:
        clock = self.s.parts.clock
        assert isinstance(clock, TrioClock)
        to_midnight = start_of(day_of(clock.now()) + 1) - clock.now()
        clock.skip(
            self.chance.choice(
                (60, to_midnight - 1, to_midnight, 1799, 1800, DAY_S, DAY_S, 9 * DAY_S, -60, -DAY_S)
            )
        )

    async def _pay(self) -> None:
        self.port.open = not self.port.open

    async def _check(self) -> None:
        final = (await self.s.partner().seats("test").ask(m.FinaliseDays())).day
        assert final >= self.final
        totals = await totals_by_day(self.s.reader, "acme", "test", BEFORE, AFTER)
        # What was reported of a final day is what it still is.
        for day, known in self.reported.items():
            assert totals[day] == known
        assert all(day in self.reported for day in totals if day <= self.final)
        self.final = final
        for day, figures in totals.items():
            if day <= final:
                self.reported[day] = figures
                assert figures.seat_stakes_usd_cents == (
                    figures.seat_payouts_usd_cents
                    + figures.seat_refunds_usd_cents
                    + figures.seat_rake_usd_cents
                )
        await self.s.check_money()


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(6))
async def test_no_figure_of_a_final_day_ever_changes(
    seed: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    port, chance = LatePayouts(), Random(seed)
    async with ready_core(tmp_path, port, seed=seed) as s:
        history = History(s, port, chance)
        for _ in range(120):
            await history.step()
        await history.finish()
        assert len(history.reported) > 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
async def test_invoices_bill_the_rake_of_every_final_month_exactly_once(
    seed: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    port, chance = LatePayouts(), Random(100 + seed)
    async with ready_core(tmp_path, port, seed=seed) as s:
        history = History(s, port, chance)
        months: set[int] = set()
        for number in range(160):
            await history.step()
            months.add(month_of(day_of(s.parts.clock.now())))
            if number % 20 == 19:
                for month in sorted(months):
                    await s.partner().billing("test").ask(AssembleInvoice(month))
                await _void_some(s, chance)
        found = await _invoices(s)
        numbers = [each.number for each in found if each.number is not None]
        assert sorted(numbers) == list(range(1, len(numbers) + 1))
        billed = sum(each.total_usd_cents or 0 for each in found if each.status == "open")
        unbilled = await rows.unbilled(s.reader, "acme", "test", (BEFORE, AFTER), 10_000)
        rake = sum(
            each.match_rake_usd_cents
            for each in (await totals_by_day(s.reader, "acme", "test", BEFORE, AFTER)).values()
        )
        assert billed + sum(each.rake_usd_cents for each in unbilled) == rake
        for each in found:
            if each.status == "draft":
                assert last_day(each.month) > history.final
            else:
                lines = await rows.lines_after(s.reader, "acme", each.invoice_id, 0, 10_000)
                assert sum(line.amount_usd_cents for line in lines) == each.total_usd_cents
                assert all(line.day < first_day(each.month + 1) for line in lines)


async def _void_some(s: ReadyCore, chance: Random) -> None:
    for invoice in await _invoices(s):
        if invoice.status == "open" and chance.random() < 0.3:
            reply = await s.partner().billing("test").ask(VoidInvoice(invoice.invoice_id))
            assert isinstance(reply, Invoice)


async def _invoices(s: ReadyCore) -> list[Invoice]:
    return await rows.list_invoices(s.reader, "acme", "", ("", "live", 0), 10_000)
