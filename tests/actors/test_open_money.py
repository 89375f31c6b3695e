"""What stays open for over a day is counted, logged once a day, and shown by readiness."""

from pathlib import Path

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from pgs.actors.maintenance.chores import COUNT_S
from pgs.actors.shared.open_money import OVERDUE_S, TELL_EVERY_S, OpenMoney
from pgs.service_readiness import NO_ROOM_S, Readiness
from pgs.storage.open_money import OpenCount
from tests.actors.ready_core import at, ready_core, until
from tests.actors.scripted_settlement import ScriptedSettlement
from tests.virtual import Faults, TrioClock


async def test_what_is_open_is_counted_every_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_charge = {"cleo": ["pending"]}
    port.of_payout = {"alice": ["pending"], "bob": ["pending"]}
    async with ready_core(tmp_path, port) as s:
        await s.seat("cleo")
        await until(10)
        await s.seat("alice")
        await s.decide((await s.seat("bob")).match_id, None)
        await until(COUNT_S + 1)
        money = s.parts.open_money
        assert money.charges == OpenCount(1, at(0), 0)
        assert money.payouts == OpenCount(2, at(10), 0)
        assert money.overdue == 0


async def test_a_prize_counts_as_one_payout(tmp_path: Path, autojump_clock: MockClock) -> None:
    port = ScriptedSettlement()
    port.of_payout = {"alice": ["pending"]}
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice")
        await s.decide((await s.seat("bob")).match_id, "alice")
        await until(COUNT_S + 1)
        assert s.parts.open_money.payouts.count == 1


async def test_items_open_for_over_a_day_are_logged_once_a_day_and_the_service_stays_ready(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port, events = ScriptedSettlement(), list[str]()
    port.of_charge = {"cleo": ["pending"]}
    async with ready_core(tmp_path, port, on_event=events.append) as s:
        clock = s.parts.clock
        assert isinstance(clock, TrioClock)
        readiness = Readiness()
        readiness.started(s.core)
        await s.seat("cleo")
        clock.skip(OVERDUE_S - 100)
        await until(COUNT_S + 1)
        assert (readiness.notes(), "settlement_overdue" in events) == ({}, False)
        clock.skip(100)
        with capture_logs() as lines:
            await until(4 * COUNT_S)
        told = [line for line in lines if line["event"] == "settlement_overdue"]
        seat = await s.by_key("cleo")
        assert [(line["charges"], line["payouts"], line["ids"]) for line in told] == [
            (1, 0, [f"acme {seat.seat_id}"])
        ]
        assert "1 charge or payout is open for over a day" in readiness.notes()["settlement"]
        assert await readiness.why_not() is None
        clock.skip(TELL_EVERY_S)
        await until(6 * COUNT_S)
        assert events.count("settlement_overdue") == 2


async def test_readiness_says_for_a_minute_that_a_connection_found_no_room(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    counted = list[str]()
    async with ready_core(tmp_path) as s:
        readiness = Readiness()
        readiness.started(s.core)
        note = readiness.listening(counted.append)
        note("send_timeout")
        assert readiness.notes() == {}
        note("connection_refused")
        assert "none of them is idle" in readiness.notes()["connections"]
        await trio.sleep(NO_ROOM_S)
        assert readiness.notes() == {}
    assert counted == ["send_timeout", "connection_refused"]


def test_the_first_of_a_new_backlog_is_reported_at_once() -> None:
    money, overdue = OpenMoney(), OpenCount(1, 0, 1)
    assert money.note_count(overdue, OpenCount(), 100)
    assert not money.note_count(overdue, OpenCount(), 200)
    assert not money.note_count(OpenCount(), OpenCount(), 300)
    assert money.note_count(OpenCount(), overdue, 400)


async def test_a_count_that_fails_is_reported_and_tried_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, events = Faults(), list[str]()
    async with ready_core(tmp_path, faults=faults, on_event=events.append) as s:
        faults.fail("min(seated_at)")
        await until(2 * COUNT_S + 1)
        assert events.count("open_money_uncounted") >= 1
        faults.heal()
        await trio.sleep(COUNT_S + 1)
        assert s.core.chores.runs["count_open_money", "done"] >= 1
