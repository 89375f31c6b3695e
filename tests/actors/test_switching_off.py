"""What happens to an account's seats and matches when it is switched off, and on again."""

from collections.abc import Callable
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.seats import (
    Closed,
    CloseMatches,
    Seated,
)
from pgs.actors.seating import switching_off
from pgs.actors.seating.switching_off import SwitchedOff, close_switched_off, switch_off
from pgs.domain.accounts import Account
from pgs.domain.errors import refuse
from pgs.domain.seats import Seat
from pgs.storage.bulk import BulkRead
from pgs.storage.database import Database
from pgs.storage.transactions import StoreOutage
from tests.actors.ready_core import (
    FLOOR,
    PRIZE,
    again_and_again,
    at,
    money,
    ready_core,
    until,
)
from tests.actors.scripted_settlement import Late, ScriptedSettlement
from tests.virtual import Faults, seed_scheduler


async def test_waiting_seats_and_running_matches_end_at_once_with_their_stakes_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    async with ready_core(tmp_path, port) as s:
        waiting = await s.seat("alice", environment="live")
        playing = [await s.seat(player) for player in ("bob", "carol")]
        decided = [await s.seat(player) for player in ("dave", "erin")]
        await s.decide(decided[1].match_id, "dave")
        await until(30)
        assert await s.switch(False) == 2
        for seat in (waiting, *playing):
            row = await s.row(seat)
            assert (row.status, row.end_reason, row.ended_at) == (
                "no_contest",
                "account_inactive",
                at(30),
            )
        await until(31)
        for seat in (waiting, *playing):
            assert ((await s.row(seat)).stake_status, money(await s.row(seat))) == (
                "refunded",
                (0, FLOOR, 0),
            )
        assert [(await s.row(seat)).revision for seat in (waiting, *playing)] == [2, 3, 3]
        assert [money(await s.row(seat)) for seat in decided] == [
            (PRIZE, 0, 0),
            (0, 0, 2 * FLOOR - PRIZE),
        ]
        await s.check_money()


async def test_no_seat_is_taken_while_the_account_is_off(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.switch(False)
        assert await s.ask_seat("alice") == refuse("partner_inactive")
        assert (await s.head()).seat_seq == 0
        await s.switch(True)
        assert (await s.seat("alice")).status == "waiting"


async def test_reactivation_brings_nothing_back_that_was_closed(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        seat = await s.seat("alice")
        await s.switch(False)
        await s.switch(True)
        replay = await s.seat("alice")
        assert (replay.seat_id, replay.status, replay.end_reason) == (
            seat.seat_id,
            "no_contest",
            "account_inactive",
        )
        assert (await s.seat("bob")).status == "waiting"


async def test_another_partners_play_goes_on(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        other = await s.seat("alice", partner="other")
        await s.seat("alice")
        await s.switch(False)
        assert await s.row(other) == other


async def test_a_pending_seat_is_marked_and_its_stake_goes_back_if_it_is_confirmed_after_all(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_charge = {"alice": ["pending", "pending", "confirmed"]}
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
    port = ScriptedSettlement()
    port.of_charge = {"alice": ["pending", "confirmed"]}
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


async def test_a_marked_pending_seat_that_is_declined_is_declined(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_charge = {"alice": ["pending", "declined"]}
    async with ready_core(tmp_path, port) as s:
        seat = await s.seat("alice")
        await s.switch(False)
        await until(6)
        assert ((await s.row(seat)).status, await s.feed()) == ("declined", [])
        await s.check_money()


async def test_the_mark_counts_before_the_closing_has_begun(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_charge = {"alice": [Late(3, "confirmed")]}
    async with ready_core(tmp_path, port) as s:
        replies: list[object] = []

        async def call() -> None:
            replies.append(await s.ask_seat("alice"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await until(1)
            # Nobody closes the play, as if the process had died.
            assert isinstance(await s.partner().account().ask(SwitchAccount("ops", False)), Account)
        (reply,) = replies
        assert isinstance(reply, Seated)
        assert (reply.seat.status, reply.seat.end_reason) == ("no_contest", "account_inactive")
        await until(5)
        assert (await s.by_key("alice")).stake_status == "refunded"
        await s.check_money()


async def test_a_start_finishes_a_closing_that_a_crash_cut_short(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_charge = {"frank": ["pending"]}
    async with ready_core(tmp_path, port) as s:
        seats = [await s.seat(player) for player in ("alice", "bob")] + [
            await s.seat("carol", environment="live")
        ]
        pending = await s.seat("frank")
        assert isinstance(await s.partner().account().ask(SwitchAccount("ops", False)), Account)
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
        "closing is null and seat_id >",
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


async def test_what_a_broken_closing_left_open_plays_on_when_the_account_is_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        seat = await s.seat("alice")
        faults.fail("insert into match")
        with pytest.raises(Crashed):
            await s.switch(False)
        faults.heal()
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
        assert isinstance(await s.partner().account().ask(SwitchAccount("ops", False)), Account)
        await until(62)
        assert isinstance(await s.partner().account().ask(SwitchAccount("ops", True)), Account)
        await until(120)
        assert await s.row(seat) == seat


@pytest.mark.parametrize("seed", range(8))
async def test_a_deactivation_counts_all_that_it_ended_even_if_maintenance_runs_meanwhile(
    seed: int, tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        for player in ("alice", "bob", "carol"):
            await s.seat(player)
        await s.seat("dave", environment="live")
        seed_scheduler(seed)
        async with again_and_again(close_switched_off, s):
            off = await switch_off(s.partner(), SwitchAccount(by="ops", active=False))
        assert isinstance(off.reply, Account)
        assert off.ended == 3
        assert not s.parts.closings.under_way("acme", "test")
        await until(1)
        await s.check_money()


async def test_a_switching_off_that_is_refused_ends_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.switch(False)
        assert await switch_off(s.partner(), SwitchAccount(by="ops", active=False)) == SwitchedOff(
            refuse("account_inactive"), 0
        )
        assert not s.parts.closings.under_way("acme", "test")


async def test_a_closing_that_broke_is_not_taken_for_one_under_way(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        seat = await s.seat("alice")
        faults.fail("insert into match")
        with pytest.raises(Crashed):
            await switch_off(s.partner(), SwitchAccount(by="ops", active=False))
        faults.heal()
        await until(121)
        assert (await s.row(seat)).end_reason == "account_inactive"
        await s.check_money()


async def test_seats_of_an_account_that_is_back_on_are_not_closed_by_a_closing_that_still_pages(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switching_off, "PAGE", 1)
    async with ready_core(tmp_path) as s:
        for number in range(20):
            await s.seat("alice", f"old{number}")
        news: list[Seat] = []

        async def on_again() -> None:
            while s.account().active or not await s.feed():
                await trio.lowlevel.checkpoint()
            await s.partner().account().ask(SwitchAccount(by="ops", active=True))
            news.extend([await s.seat("alice", f"new{number}") for number in range(20)])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(on_again)
            off = await switch_off(s.partner(), SwitchAccount(by="ops", active=False))
        assert 0 < off.ended < 20
        assert {(await s.row(seat)).status for seat in news} == {"waiting"}
        await s.check_money()


async def test_rows_that_cannot_be_read_end_no_closing_for_good(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    events: list[str] = []
    async with ready_core(tmp_path, faults=faults, on_event=events.append) as s:
        seat = await s.seat("alice")
        assert isinstance(await s.partner().account().ask(SwitchAccount("ops", False)), Account)
        faults.fail("where p.active = 0")
        await until(61)
        assert events.count("closing_unreadable") == 1
        assert (await s.row(seat)).status == "waiting"
        faults.heal()
        await until(121)
        assert (await s.row(seat)).end_reason == "account_inactive"


async def test_closing_goes_through_every_page(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_tier("gold", 100, 180)
        for number in range(120):
            await s.seat("alice", f"w{number}")
            await s.seat("alice" if number % 2 else "bob", f"p{number}", tier="gold")
        assert await s.switch(False) == 120 + 60
        await until(1)
        assert {(row.status, row.stake_status) for row in await s.feed()} == {
            ("no_contest", "refunded")
        }
        assert len(await s.feed()) == 240
        await s.check_money()


async def test_a_seat_on_its_way_to_disk_when_the_account_is_switched_off_is_closed_too(
    tmp_path: Path,
) -> None:
    """Needs the writer's own thread, and therefore real time, but waits only for events."""
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


async def test_play_can_be_closed_for_another_reason_while_the_account_stays_on(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_charge = {"carol": ["pending", "confirmed"]}
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        waiting, pending = await s.seat("dave", environment="live"), await s.seat("carol")
        assert await s.close_play("emergency_stop") == 2
        assert (await s.seat("erin")).status == "waiting"
        await until(6)
        for seat in (bob, waiting, pending):
            assert ((await s.row(seat)).status, (await s.row(seat)).end_reason) == (
                "no_contest",
                "emergency_stop",
            )
            assert ((await s.row(seat)).stake_status, money(await s.row(seat))) == (
                "refunded",
                (0, FLOOR, 0),
            )
        assert (await s.by_key("erin")).status == "waiting"
        await s.check_money()


async def test_one_match_is_voided_and_the_others_play_on(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        pairs = [
            (await s.seat(a), await s.seat(b)) for a, b in (("alice", "bob"), ("carol", "dave"))
        ]
        void = CloseMatches((pairs[0][1].match_id or "", "mat_x"), "platform_void")
        assert await s.partner().seats("test").ask(void) == Closed(1)
        assert await s.partner().seats("live").ask(void) == Closed(0)
        assert await s.partner().seats("test").ask(void) == Closed(0)
        await until(1)
        assert [(row.end_reason, row.status) for row in await s.feed()] == [
            (None, "matched"),
            (None, "matched"),
            ("platform_void", "no_contest"),
            ("platform_void", "no_contest"),
        ]
        await s.check_money()
