"""Stakes when settlement answers late, not at all, with a refusal, or wrongly."""

from itertools import pairwise
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages import seats as m
from pgs.domain.errors import refuse
from tests.actors.ready_core import FLOOR, at, money, ready_core, until
from tests.actors.scripted_settlement import Answer, Late, ScriptedSettlement

AGAIN = refuse("settlement_unavailable")


async def test_an_answer_within_ten_seconds_is_waited_for(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement({"alice": [Late(9.5, "confirmed")]})
    async with ready_core(tmp_path, port) as s:
        seat = await s.seat("alice")
        assert trio.current_time() == 9.5
        assert (seat.status, seat.seated_at, seat.confirmed_at, seat.expires_at) == (
            "waiting",
            at(0),
            at(9),
            at(9 + 3600),
        )
        assert len(port.asked) == 1
        await s.check_money()


@pytest.mark.parametrize("never", ["hang", Late(10.5, "confirmed")])
async def test_without_an_answer_the_call_is_refused_at_ten_seconds_and_the_seat_is_pending(
    never: Answer | Late, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, ScriptedSettlement({"alice": [never]})) as s:
        assert await s.ask_seat("alice") == AGAIN
        assert trio.current_time() == 10
        seat = await s.by_key("alice")
        assert (seat.status, seat.stake_status, seat.confirmed_at, seat.expires_at) == (
            "pending",
            "pending",
            None,
            None,
        )
        assert (
            seat.match_id,
            money(seat),
            await s.feed(),
            await s.reader.all("ledger.sums"),
        ) == (
            None,
            (None, None, None),
            [],
            [],
        )


@pytest.mark.parametrize("fault", ["unpublished", "broken"])
async def test_an_invalid_answer_of_the_settlement_refuses_the_call_at_once(
    fault: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    events: list[str] = []
    async with ready_core(
        tmp_path, ScriptedSettlement({"alice": [fault]}), on_event=events.append
    ) as s:
        assert await s.ask_seat("alice") == AGAIN
        assert trio.current_time() == 0
        assert (await s.by_key("alice")).status == "pending"
        assert ("settlement_unanswered" if fault == "unpublished" else "child_crashed") in events


async def test_each_retry_that_finds_no_answer_is_refused_again_and_charges_nothing_twice(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement({"alice": ["hang", "hang", "hang", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        assert await s.ask_seat("alice") == AGAIN
        pending = await s.by_key("alice")
        for _ in range(2):
            assert await s.ask_seat("alice") == AGAIN
        last = await s.ask_seat("alice")
        assert isinstance(last, m.Seated)
        assert (last.replayed, last.seat.status, last.seat.seat_id) == (
            True,
            "waiting",
            pending.seat_id,
        )
        assert port.charged == {pending.seat_id: FLOOR}
        assert (await s.head()).seat_seq == 1
        await s.check_money()


async def test_a_stake_that_settlement_calls_pending_is_answered_as_such(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement({"alice": ["pending", "pending", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        first, second, third = [await s.ask_seat("alice") for _ in range(3)]
        assert isinstance(first, m.Seated)
        assert isinstance(second, m.Seated)
        assert isinstance(third, m.Seated)
        assert [(reply.seat.status, reply.replayed) for reply in (first, second, third)] == [
            ("pending", False),
            ("pending", True),
            ("waiting", True),
        ]
        assert trio.current_time() == 0
        await s.check_money()


@pytest.mark.usefixtures("rare_chores")
async def test_recovery_asks_again_by_itself_and_the_seat_waits_from_its_confirmation(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement({"alice": ["pending", "pending", "unpublished", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice")
        await until(14.9)
        assert (await s.by_key("alice")).status == "pending"
        await until(15)
        seat = await s.by_key("alice")
        assert [round(when) for when, _ in port.asked] == [0, 5, 10, 15]
        assert (seat.status, seat.confirmed_at, seat.expires_at) == (
            "waiting",
            at(15),
            at(15 + 3600),
        )
        assert (seat.revision, await s.feed()) == (0, [])
        await s.check_money()
        await until(15 + 3599.9)
        assert (await s.row(seat)).status == "waiting"
        await until(15 + 3600)
        assert (await s.row(seat)).end_reason == "no_opponent"
        assert len(port.asked) == 4


@pytest.mark.usefixtures("rare_chores")
async def test_recovery_asks_less_and_less_often_but_at_least_once_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement({"alice": ["pending"]})
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice")
        await until(1000)
        times = [when for when, _ in port.asked]
        gaps = [round(after - before) for before, after in pairwise(times)]
        assert gaps[:3] == [5, 5, 5]
        assert all(45 <= gap <= 60 for gap in gaps[-8:])  # spread over a quarter
        assert len(set(gaps[-8:])) > 1
        assert (await s.by_key("alice")).status == "pending"


@pytest.mark.usefixtures("rare_chores")
async def test_a_declined_stake_is_bound_to_its_key_and_replayed(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement({"alice": ["declined", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        first = await s.ask_seat("alice")
        assert isinstance(first, m.Seated)
        assert (first.seat.status, first.seat.stake_status, first.replayed) == (
            "declined",
            "declined",
            False,
        )
        again = await s.ask_seat("alice")
        assert again == m.Seated(first.seat, replayed=True)
        assert len(port.asked) == 1
        assert await s.ask_seat("bob", "alice") == refuse("idempotency_key_conflict")
        assert (await s.seat("bob")).status == "waiting"
        await until(4000)
        assert await s.row(first.seat) == first.seat
        assert [row.player_id for row in await s.feed()] == ["bob"]
        await s.check_money()


async def test_a_seat_whose_pending_stake_is_declined_later_is_in_no_feed_and_no_ledger(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, ScriptedSettlement({"alice": ["hang", "declined"]})) as s:
        assert await s.ask_seat("alice") == AGAIN
        late = await s.ask_seat("alice")
        assert isinstance(late, m.Seated)
        assert (late.seat.status, late.replayed) == ("declined", True)
        assert (await s.feed(), await s.reader.all("ledger.sums")) == ([], [])
        assert (await s.row(late.seat)).due_at is None


async def test_a_call_that_waits_for_its_stake_when_the_service_stops_is_told_so(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    failures: list[Exception] = []

    async with (
        trio.open_nursery() as nursery,
        ready_core(tmp_path, ScriptedSettlement({"alice": ["hang"]})) as s,
    ):

        async def call() -> None:
            try:
                await s.ask_seat("alice")
            except Crashed as error:
                failures.append(error)

        nursery.start_soon(call)
        await until(1)
    assert len(failures) == 1
    async with ready_core(tmp_path, ScriptedSettlement()) as s:
        seat = await s.seat("alice")
        assert (seat.status, seat.seated_at) == ("waiting", at(0))
        await s.check_money()


async def test_an_answer_about_a_stake_that_comes_twice_or_for_no_seat_changes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, ScriptedSettlement()) as s:
        seat = await s.seat("alice")
        seats = s.partner().seats("test")
        for message in (
            m.ChargeAnswered(seat.seat_id, "confirmed"),
            m.ChargeAnswered(seat.seat_id, "declined"),
            m.ChargeAnswered("x", None),
        ):
            assert seats.tell(message)
        await until(1)
        assert await s.row(seat) == seat
        await s.check_money()


async def test_a_deadline_that_is_told_too_early_or_too_late_changes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        waiting, alice = (
            await s.seat("dave", tier="bronze", environment="live"),
            await s.seat("alice"),
        )
        bob = await s.seat("bob")
        for seat in (waiting, alice):
            s.partner().seats(seat.environment).tell(m.SeatDue(seat.seat_id))
            s.partner().seats("test").tell(m.SeatDue(waiting.seat_id))  # a seat of live
        s.partner().seats("test").tell(m.MatchDue(bob.match_id or ""))
        await until(1)
        assert await s.row(waiting) == waiting
        assert [row.status for row in await s.feed()] == ["matched", "matched"]
