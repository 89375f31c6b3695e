"""An account is switched off while stakes are pending or on their way to disk."""

from collections.abc import Callable
from pathlib import Path

import trio
from trio.testing import MockClock

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.seats import Seated
from tests.actors.ready_core import FLOOR, at, money, ready_core, until
from tests.actors.scripted_settlement import Late, ScriptedSettlement
from tests.virtual import Faults


async def test_a_pending_seat_is_marked_and_its_stake_goes_back_if_it_is_confirmed_after_all(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"alice": ["pending", "pending", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        seat = await s.seat("alice")
        assert await s.switch(False) == 0
        marked = await s.row(seat)
        assert (marked.status, marked.closing, await s.feed()) == (
            "pending",
            "account_inactive",
            [],
        )
        await until(10)
        row = await s.row(seat)
        assert (row.status, row.end_reason, row.confirmed_at, row.ended_at) == (
            "no_contest",
            "account_inactive",
            at(10),
            at(10),
        )
        assert (row.stake_status, money(row), row.revision, row.position) == (
            "refunded",
            (0, FLOOR, 0),
            2,
            2,
        )
        assert port.charged == {seat.seat_id: FLOOR}
        assert port.paid == {(row.match_id, seat.seat_id, "refund"): FLOOR}
        await s.check_money()


async def test_a_pending_seats_mark_outlives_the_reactivation(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"alice": ["pending", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        seat = await s.seat("alice")
        await s.switch(False)
        await s.switch(True)
        await s.seat("bob")
        await until(6)
        assert ((await s.row(seat)).status, (await s.row(seat)).end_reason) == (
            "no_contest",
            "account_inactive",
        )
        assert (await s.by_key("bob")).status == "waiting"
        await s.check_money()


async def test_a_pending_seat_marked_for_closing_is_declined_if_its_stake_is_declined(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"alice": ["pending", "declined"]})
    async with ready_core(tmp_path, port) as s:
        seat = await s.seat("alice")
        await s.switch(False)
        await until(6)
        assert ((await s.row(seat)).status, await s.feed()) == ("declined", [])
        await s.check_money()


async def test_the_mark_counts_before_the_closing_has_begun(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"alice": [Late(3, "confirmed")]})
    async with ready_core(tmp_path, port) as s:
        replies: list[object] = []

        async def call() -> None:
            replies.append(await s.ask_seat("alice"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await until(1)
            # Nobody closes the play, as if the process had died.
            await s.mark_active(False)
        (reply,) = replies
        assert isinstance(reply, Seated)
        assert (reply.seat.status, reply.seat.end_reason) == ("no_contest", "account_inactive")
        await until(5)
        assert (await s.by_key("alice")).stake_status == "refunded"
        await s.check_money()


async def test_a_seat_on_its_way_to_disk_when_the_account_is_switched_off_is_closed_too(
    tmp_path: Path,
) -> None:
    """This needs the writer's thread and so real time, but it waits only for events."""
    faults = Faults()
    with trio.fail_after(60):
        async with ready_core(tmp_path, faults=faults, threaded=True) as s:
            closed: list[int] = []
            switched = trio.Event()
            marks = faults.count("update partner")

            async def switch() -> None:
                await s.partner().account().ask(SwitchAccount("ops", False))
                switched.set()

            async def close() -> None:
                closed.append(await s.close_play("account_inactive"))

            async with trio.open_nursery() as nursery:
                with (
                    faults.hold("update partner") as let_the_mark_through,
                    faults.hold("insert into seat") as let_the_seat_through,
                ):
                    nursery.start_soon(switch)
                    await _until(lambda: faults.count("update partner") > marks)
                    nursery.start_soon(s.seat, "alice")
                    await _until(lambda: s.parts.database.writer.waiting == 2)
                    let_the_mark_through.set()
                    await switched.wait()
                    nursery.start_soon(close)
                    await _until(lambda: faults.count("insert into seat") > 0)
                    await trio.sleep(0.05)  # a closing that does not wait would now miss the seat
                    assert closed == []
                    let_the_seat_through.set()
            assert (await s.by_key("alice")).end_reason == "account_inactive"
            assert closed == [1]


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 -- what is waited for happens in the writer's thread
        await trio.sleep(0.001)
