"""Idle partners: when they are closed, and what closing them must not lose."""

from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.actors.kernel.cell import IDLE_CLOSE_S
from pgs.actors.maintenance.chores import CLOSE_IDLE_S
from pgs.actors.messages.account.settings import SetRate
from pgs.actors.messages.seats import CloseSeats
from pgs.domain.members import PLATFORM
from tests.actors.ready_core import ReadyCore, ready_core, until

# The actors are closed after the first time, and their partner after the second.
LONG_IDLE_S = 2 * IDLE_CLOSE_S + 2 * CLOSE_IDLE_S


async def _slow_bucket(s: ReadyCore) -> None:
    """Give the partner a bucket that takes an hour to fill."""
    await s.partner().account().ask(SetRate(PLATFORM, 3600, 1))


async def test_an_idle_partner_is_closed_and_opened_anew_on_its_next_use(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        before = s.partner()
        await until(LONG_IDLE_S)
        assert len(s.core.directory) == 0
        assert s.partner() is not before
        assert (await s.seat("alice")).status == "waiting"


async def test_using_an_address_of_a_closed_partner_raises_an_error(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """A closed address that worked would let two seats actors assign the same positions."""
    async with ready_core(tmp_path) as s:
        seats = s.partner().seats("test")
        await until(LONG_IDLE_S)
        with pytest.raises(RuntimeError, match="closed"):
            await seats.ask(CloseSeats((), "no_opponent"))


@pytest.mark.parametrize("name", ["admission", "embed_admission"])
@pytest.mark.usefixtures("rare_chores")
async def test_a_partner_stays_open_until_its_buckets_are_full(
    tmp_path: Path, autojump_clock: MockClock, name: str
) -> None:
    async with ready_core(tmp_path) as s:
        await _slow_bucket(s)
        partner = s.partner()
        bucket = getattr(partner, name)
        while bucket.admit(s.account(), 0.0).refused_by is None:
            pass
        await until(LONG_IDLE_S)
        assert s.partner() is partner
        assert bucket.left(LONG_IDLE_S) == int(LONG_IDLE_S)
        await until(3600 + CLOSE_IDLE_S)
        assert s.partner() is not partner
