"""Billing chores whose actors fail go on with the other partners, and leave nothing open."""

import gc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.actors.maintenance.billing import assemble_invoices, finalise_days
from pgs.domain.days import day_of
from pgs.domain.totals import Totals, TotalsKey
from pgs.storage import seats as rows
from pgs.storage.totals import raise_totals
from pgs.storage.transactions import StoreOutage
from tests.actors.ready_core import ready_core
from tests.virtual import START


class _Failing:
    """A directory whose actors fail with an error."""

    def __init__(self, error: Exception) -> None:
        self.asked: list[str] = []
        self._error = error

    def owns(self, partner_id: str) -> bool:
        return True

    def partner(self, partner_id: str) -> "_Failing":
        self.asked.append(partner_id)
        return self

    def seats(self, environment: str) -> "_Failing":
        return self

    billing = seats

    async def ask(self, command: object) -> None:
        raise self._error


Chore = Callable[[Any, Any], Awaitable[None]]
both = pytest.mark.parametrize("chore", [finalise_days, assemble_invoices])


async def _run(folder: Path, chore: Chore, error: Exception) -> list[str]:
    """Run a chore for two partners whose actors fail; return the partners that it asked."""
    async with ready_core(folder) as s:
        key = TotalsKey(day_of(START) - 40, "chess", "gold")
        for partner_id in ("acme", "bravo"):
            await s.write_without_the_actors(
                rows.move_head(partner_id, "test", rows.Head(), rows.Head(seat_seq=1)),
                raise_totals(partner_id, "test", key, Totals(matches=1)),
            )
        directory = _Failing(error)
        with pytest.raises(type(error)):
            await chore(s.parts, directory)
        gc.collect()  # trio warns of a list that was not closed, and a warning is an error
        return directory.asked


@both
async def test_a_chore_that_an_outage_ends_leaves_no_list_half_read(
    chore: Chore, tmp_path: Path, autojump_clock: MockClock
) -> None:
    assert await _run(tmp_path, chore, StoreOutage("no disk")) == ["acme"]


@both
@pytest.mark.parametrize("error", [Overloaded("full"), Crashed("broken")])
async def test_a_partner_whose_actors_fail_does_not_keep_a_chore_from_the_others(
    error: Exception, chore: Chore, tmp_path: Path, autojump_clock: MockClock
) -> None:
    assert await _run(tmp_path, chore, error) == ["acme", "bravo"]
