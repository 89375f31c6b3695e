"""How many tables are open, as the metrics count them, also after crashes and closings."""

from contextlib import AbstractContextManager
from pathlib import Path
from unittest import mock

import pytest
from trio.testing import MockClock

from pgs.actors.kernel.cell import IDLE_CLOSE_S
from pgs.actors.kernel.mail import Crashed
from pgs.actors.kernel.restarts import RESTART_LIMIT
from pgs.actors.messages import table as m
from pgs.actors.play.table import TableActor
from pgs.metrics import Metrics
from tests.actors.playing import Player, at_table, match_row, seated, with_side_clocks
from tests.actors.ready_core import ReadyCore, ready_core, settle, until


def shown(s: ReadyCore) -> int:
    """Return how many open tables a scrape of the metrics shows."""
    metrics = Metrics()
    metrics.watch(s.core, lambda: 0, lambda: 0)
    (line,) = [
        line
        for line in metrics.scrape().decode().splitlines()
        if line.startswith("pgs_open_tables ")
    ]
    return int(float(line.partition(" ")[2]))


async def _break(*_: object) -> None:
    raise RuntimeError


def moves_break() -> AbstractContextManager[object]:
    """Let every move break its table."""
    return mock.patch.dict(TableActor.HANDLERS, {m.PlayMove: _break})


async def test_a_table_that_breaks_and_comes_back_is_counted_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        assert shown(s) == 0
        match_id, ann, _ = await at_table(s)
        assert shown(s) == 1
        with (
            moves_break(),
            pytest.raises(Crashed),
        ):
            await ann.move(match_id, 0, "a1")
        await settle()
        assert shown(s) == 1
        assert await ann.move(match_id, 0, "a1") is None
        assert shown(s) == 1


async def test_a_table_of_a_degraded_partner_is_not_open(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, _ = await at_table(s)
        with moves_break():
            for _ in range(RESTART_LIMIT.restarts + 1):
                assert shown(s) == 1
                with pytest.raises(Crashed):
                    await ann.move(match_id, 0, "a1")
                await settle()
        assert shown(s) == 0
        await until(RESTART_LIMIT.cool_down_s + 1)
        ann.table(match_id).tell(m.LookAgain())
        await settle()
        assert shown(s) == 1


async def test_a_table_whose_match_has_ended_or_that_was_idle_is_not_open(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        with (
            with_side_clocks(s, 3600, 0),
            mock.patch.object(s.parts.alarms, "set"),
        ):  # nothing wakes an idle table
            idle, _, _ = await at_table(s)
            ended = await seated(s, "carol", "dave")
            await Player(s, "carol").join(ended)
            assert shown(s) == 2
            await s.decide(ended, None)
            await settle()
            assert shown(s) == 1
            await until(IDLE_CLOSE_S - 5)
            assert shown(s) == 1
            await until(IDLE_CLOSE_S + 5)
            assert (await match_row(s, idle)).status == "started"
            assert shown(s) == 0
