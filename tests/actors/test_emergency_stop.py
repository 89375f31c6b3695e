"""The emergency stop invalidates older tokens and closes open play, whatever fails meanwhile."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.maintenance.chores import REPAIR_S
from pgs.actors.messages.account.lifecycle import (
    EmergencyStop,
    StopFinished,
    StopMarked,
    SwitchAccount,
)
from pgs.actors.seating.emergency_stop import Stopped, emergency_stop, finish_stops
from pgs.actors.seating.switching_off import SwitchedOff, deactivate
from pgs.domain.accounts import Account
from pgs.domain.errors import refuse
from pgs.storage.bulk import read_in_bulk
from pgs.storage.emergency_stops import find_stop, unfinished_stops
from tests.actors.account_changes import Change, nothing
from tests.actors.people import ask
from tests.actors.ready_core import FLOOR, ReadyCore, again_and_again, at, money, ready_core, until
from tests.virtual import Faults, seed_scheduler

STOP = EmergencyStop("ada", "test")


async def play(s: ReadyCore) -> None:
    """Start a match and leave a seat waiting in test, and leave a seat waiting in live."""
    for player in ("alice", "bob", "carol"):
        await s.seat(player)
    await s.seat("dave", environment="live")


async def check_stopped(s: ReadyCore) -> None:
    """Check that all test play was ended by the stop and refunded, and that live play goes on."""
    for key in ("alice", "bob", "carol"):
        seat = await s.by_key(key)
        assert (seat.status, seat.end_reason, money(seat)) == (
            "no_contest",
            "emergency_stop",
            (0, FLOOR, 0),
        )
    assert (await s.by_key("dave", "live")).status == "waiting"
    await s.check_money()


async def test_a_stop_invalidates_tokens_and_ends_open_play_in_its_environment_alone(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await play(s)
        await until(3)
        async with Change(s, ("ada", "emergency_stop.ordered", {"environment": "test"})):
            assert await emergency_stop(s.partner(), STOP) == Stopped("test", at(3), 2)
        assert s.account().generations == {"test": 1, "live": 0}
        assert await unfinished_stops(s.reader) == []
        await until(4)
        await check_stopped(s)
        assert (await s.seat("erin")).status == "waiting"  # the stop does not affect new play
        await until(200)
        assert (await s.by_key("erin")).end_reason != "emergency_stop"


async def test_every_stop_invalidates_the_tokens_since_the_last_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        assert await emergency_stop(s.partner(), STOP) == Stopped("test", at(0), 0)
        await emergency_stop(s.partner(), STOP)
        await emergency_stop(s.partner(), EmergencyStop("ada", "live"))
        assert s.account().generations == {"test": 2, "live": 1}


async def test_a_refused_stop_stops_nothing(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        await play(s)
        async with nothing(s):
            assert await emergency_stop(
                s.partner(), EmergencyStop("ada", "test", if_revision=0)
            ) == refuse("partner_changed")
        assert (await s.by_key("carol")).status == "waiting"


async def test_a_stop_whose_process_dies_after_the_mark_is_finished_at_the_next_start(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await play(s)
        marked = await ask(s, STOP)
        assert isinstance(marked, StopMarked)
    async with ready_core(tmp_path, seed=1) as s:
        assert s.account().generations["test"] == 1
        await until(trio.current_time() + 1)
        await check_stopped(s)
        assert await unfinished_stops(s.reader) == []


@pytest.mark.parametrize(
    "text",
    [
        "insert into match",
        "update match",
        "delete from stop",
        "closing is null and (player_id, seq) >",
    ],
)
async def test_a_stop_that_breaks_half_way_is_finished_within_a_minute(
    text: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        await play(s)
        await until(1)
        faults.fail(text)
        with pytest.raises(Exception):  # noqa: B017, PT011  whatever the store raised
            await emergency_stop(s.partner(), STOP)
        assert await find_stop(s.reader, "acme", "test") == 1
        faults.heal()
        await until(1 + REPAIR_S)
        await until(2 + REPAIR_S)
        await check_stopped(s)
        assert await unfinished_stops(s.reader) == []


@pytest.mark.parametrize(
    "command", [STOP, SwitchAccount("ada", False)], ids=["emergency stop", "deactivation"]
)
async def test_a_stop_or_a_deactivation_is_finished_even_if_its_caller_leaves(
    command: Any, tmp_path: Path, autojump_clock: MockClock
) -> None:
    work: Callable[..., Any] = emergency_stop if command is STOP else deactivate
    async with ready_core(tmp_path) as s:
        await play(s)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(work, s.partner(), command)
            while (await s.by_key("carol")).status == "waiting":
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        await until(1)
        assert {(await s.by_key(key)).status for key in ("alice", "bob", "carol")} == {"no_contest"}
        assert await unfinished_stops(s.reader) == []


async def test_finishing_an_older_stop_keeps_the_mark_of_a_newer_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await ask(s, STOP)
        await ask(s, STOP)
        await ask(s, StopFinished("test", 1))
        assert await find_stop(s.reader, "acme", "test") == 2
        await ask(s, StopFinished("test", 2))
        assert await find_stop(s.reader, "acme", "test") is None


async def test_a_deactivation_counts_the_seats_and_matches_that_it_ended(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await play(s)
        off = await deactivate(s.partner(), SwitchAccount("ada", False))
        assert isinstance(off.reply, Account)
        assert (off.reply.active, off.reply.switched_off_by, off.ended) == (False, "ada", 3)
        assert await deactivate(s.partner(), SwitchAccount("ada", False)) == SwitchedOff(
            refuse("account_inactive"), 0
        )


async def test_an_emergency_stop_is_refused_while_the_service_stops(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        s.parts.system.stopping = True
        with pytest.raises(Exception, match="stopping"):
            await emergency_stop(s.partner(), STOP)
        s.parts.system.stopping = False
        assert await find_stop(s.reader, "acme", "test") is None


async def test_finishing_a_stop_from_an_outdated_mark_leaves_newer_play_alone(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:

        async def late(*args: Any) -> Any:
            found = await read_in_bulk(*args)
            if found:
                assert await emergency_stop(s.partner(), EmergencyStop("ada", "live")) == Stopped(
                    "live", at(60), 0
                )
                await ask(s, StopFinished("test", 1))
                await s.seat("erin")
            return found

        await until(1)
        await ask(s, STOP)
        monkeypatch.setattr("pgs.actors.seating.emergency_stop.read_in_bulk", late)
        await until(REPAIR_S + 1)
        assert (await s.by_key("erin")).status == "waiting"


@pytest.mark.parametrize("seed", range(8))
async def test_a_stop_counts_all_that_it_ended_even_if_maintenance_runs_meanwhile(
    seed: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await play(s)
        seed_scheduler(seed)
        async with again_and_again(finish_stops, s):
            assert await emergency_stop(s.partner(), STOP) == Stopped("test", at(0), 2)
        await until(1)
        await check_stopped(s)
