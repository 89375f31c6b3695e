"""A closing of play that breaks is finished later, unless the account is back on."""

from collections.abc import Awaitable
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.seating import switching_off
from pgs.actors.seating.switching_off import switch_off
from pgs.storage.bulk import BulkRead
from pgs.storage.database import Database
from pgs.storage.transactions import StoreOutage
from tests.actors.ready_core import ready_core, until
from tests.actors.scripted_settlement import ScriptedSettlement
from tests.virtual import Faults


async def break_off(faults: Faults, closing: Awaitable[object]) -> None:
    """Let a closing break at the first seat or match that it ends."""
    faults.fail("insert into match")
    with pytest.raises(Crashed):
        await closing
    faults.heal()


async def test_a_start_finishes_a_closing_that_a_crash_cut_short(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"frank": ["pending"]})
    async with ready_core(tmp_path, port) as s:
        seats = [await s.seat(player) for player in ("alice", "bob")] + [
            await s.seat("carol", environment="live")
        ]
        pending = await s.seat("frank")
        await s.mark_active(False)
    async with ready_core(tmp_path, port, seed=1) as s:
        await until(1)
        for seat in seats:
            assert ((await s.row(seat)).end_reason, (await s.row(seat)).stake_status) == (
                "account_inactive",
                "refunded",
            )
        assert (await s.row(pending)).closing == "account_inactive"
        await s.check_money()


@pytest.mark.parametrize(
    "text",
    [
        "insert into match",
        "update match",
        "closing is null and (player_id, seq) >",
        "select match_id from match",
    ],
)
async def test_a_closing_that_broke_half_way_is_taken_up_again_within_a_minute(
    text: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        seats = [await s.seat(player) for player in ("alice", "bob", "carol")]
        faults.fail(text)
        with pytest.raises((Crashed, StoreOutage)):
            await s.switch(False)
        await until(61)  # the repair fails once more
        assert (await s.row(seats[0])).status == "matched"
        faults.heal()
        await until(121)
        for seat in seats:
            assert ((await s.row(seat)).end_reason, (await s.row(seat)).stake_status) == (
                "account_inactive",
                "refunded",
            )
        await s.check_money()


async def test_a_seat_that_a_broken_closing_left_open_stays_open_when_the_account_is_back_on(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        seat = await s.seat("alice")
        await break_off(faults, s.switch(False))
        await s.switch(True)
        await until(200)
        assert await s.row(seat) == seat


async def test_an_account_switched_on_while_the_rows_are_read_is_not_closed(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(database: Database, work: BulkRead[object]) -> object:
        found = await work(database.reader)
        await trio.sleep(5)
        return found

    async with ready_core(tmp_path) as s:
        monkeypatch.setattr(switching_off, "read_in_bulk", late)
        seat = await s.seat("alice")
        await until(59)
        await s.mark_active(False)
        await until(62)
        await s.mark_active(True)
        await until(120)
        assert await s.row(seat) == seat


async def test_a_closing_that_broke_is_not_taken_for_one_under_way(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        seat = await s.seat("alice")
        await break_off(faults, switch_off(s.partner(), SwitchAccount(by="ops", active=False)))
        await until(121)
        assert (await s.row(seat)).end_reason == "account_inactive"
        await s.check_money()


async def test_a_closing_goes_on_after_rows_could_not_be_read(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    events: list[str] = []
    async with ready_core(tmp_path, faults=faults, on_event=events.append) as s:
        seat = await s.seat("alice")
        await s.mark_active(False)
        faults.fail("where p.active = 0")
        await until(61)
        assert events.count("closing_unreadable") == 1
        assert (await s.row(seat)).status == "waiting"
        faults.heal()
        await until(121)
        assert (await s.row(seat)).end_reason == "account_inactive"
