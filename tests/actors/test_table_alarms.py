"""The alarms that wake open tables in time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import cast

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors.kernel.cell import IDLE_CLOSE_S
from pgs.actors.maintenance.deadlines import ring_alarms
from pgs.actors.messages.table import LookAgain
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.shared.table_alarms import FAR_S, Alarms

KEY = ("acme", "mat_1")


class Rings:
    """Stands for the directory and for each table; notes when a table is told to look again."""

    def __init__(self) -> None:
        self.rung: list[tuple[float, str]] = []
        self.deaf_until = 0.0
        self._of = ""

    def owned(self, partner_id: str) -> "Rings":
        return self

    def table(self, match_id: str) -> "Rings":
        self._of = match_id
        return self

    def tell(self, message: object) -> bool:
        assert message == LookAgain()
        self.rung.append((round(trio.current_time(), 3), self._of))
        return trio.current_time() >= self.deaf_until


async def _keep_ringing(parts: Parts, directory: PartnerDirectory) -> None:
    while True:
        await parts.alarms.wait()
        await ring_alarms(parts, directory)


@asynccontextmanager
async def ringing() -> AsyncIterator[tuple[Alarms, Rings]]:
    """Run alarms during the block; yield them and what they have rung."""
    alarms, rings = Alarms(), Rings()
    async with trio.open_nursery() as nursery:
        parts = cast(Parts, SimpleNamespace(alarms=alarms))
        nursery.start_soon(_keep_ringing, parts, cast(PartnerDirectory, rings))
        await wait_all_tasks_blocked()
        yield alarms, rings
        nursery.cancel_scope.cancel()


async def test_each_table_is_woken_at_its_time(autojump_clock: MockClock) -> None:
    async with ringing() as (alarms, rings):
        for match_id, at in (("late", 9), ("soon", 3), ("next", 5)):
            alarms.set(("acme", match_id), at)
        await trio.sleep(20)
        assert rings.rung == [(3, "soon"), (5, "next"), (9, "late")]
        assert len(alarms) == 0


async def test_a_table_that_cannot_be_told_is_told_again_a_second_later(
    autojump_clock: MockClock,
) -> None:
    async with ringing() as (alarms, rings):
        rings.deaf_until = 6
        alarms.set(KEY, 4)
        await trio.sleep(20)
        assert [at for at, _ in rings.rung] == [4, 5, 6]
        assert len(alarms) == 0


async def test_a_table_that_sets_its_alarm_anew_is_woken_once(autojump_clock: MockClock) -> None:
    async with ringing() as (alarms, rings):
        for at in (10, 30, 20, 25):
            alarms.set(KEY, at)
        await trio.sleep(60)
        assert rings.rung == [(25, "mat_1")]


async def test_an_alarm_that_is_moved_forward_rings_earlier(autojump_clock: MockClock) -> None:
    async with ringing() as (alarms, rings):
        alarms.set(KEY, 30)
        await trio.sleep(1)
        alarms.set(KEY, 5)
        await trio.sleep(60)
        assert rings.rung == [(5, "mat_1")]


async def test_a_dropped_alarm_rings_no_more_until_it_is_set_again(
    autojump_clock: MockClock,
) -> None:
    async with ringing() as (alarms, rings):
        alarms.set(KEY, 5)
        alarms.drop(KEY)
        await trio.sleep(10)
        assert rings.rung == []
        alarms.set(KEY, 15)
        await trio.sleep(10)
        assert rings.rung == [(15, "mat_1")]


async def test_an_alarm_that_was_moved_a_thousand_times_wakes_its_task_twice(
    autojump_clock: MockClock,
) -> None:
    """It wakes at the first and the last time that was set. Those in between are not queued."""
    alarms, woken = Alarms(), 0
    for move in range(1000):
        alarms.set(KEY, 30 + move / 1000)
    while alarms.find_due(trio.current_time()) is None:
        await alarms.wait()
        woken += 1
    assert (woken, trio.current_time()) == (2, 30.999)


async def test_a_table_with_a_far_alarm_is_woken_before_it_would_be_closed(
    autojump_clock: MockClock,
) -> None:
    assert FAR_S < IDLE_CLOSE_S
    async with ringing() as (alarms, rings):
        alarms.set(KEY, 10_000)
        await trio.sleep(FAR_S + 1)
        assert rings.rung == [(FAR_S, "mat_1")]
