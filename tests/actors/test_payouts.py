"""Payouts when settlement answers late, not at all, with a refusal, or wrongly."""

from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.actors.messages import seats as m
from tests.actors.playing import match_row, seated
from tests.actors.ready_core import FLOOR, money, ready_core, until
from tests.actors.scripted_settlement import Answer, ScriptedSettlement


@pytest.mark.parametrize("fault", ["unpublished", "pending", "hang", "broken"])
async def test_money_is_recorded_once_settlement_has_confirmed_all_of_a_match(
    fault: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_payout={"bob": [fault, fault, "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        alice, bob = await s.seat("alice"), await s.seat("bob")
        await s.decide(bob.match_id, None)
        await until(4)
        for seat in (alice, bob):
            assert ((await s.row(seat)).revision, money(await s.row(seat))) == (
                2,
                (None, None, None),
            )
        await until(40)
        for seat in (alice, bob):
            assert (
                (await s.row(seat)).revision,
                money(await s.row(seat)),
                (await s.row(seat)).stake_status,
            ) == (
                3,
                (0, FLOOR, 0),
                "refunded",
            )
        assert port.payouts_asked[bob.match_id or "", bob.seat_id] == 3
        assert port.paid == {(bob.match_id, seat.seat_id, "refund"): FLOOR for seat in (alice, bob)}
        assert (await s.match_of(bob)).due_at is None
        await s.check_money()


async def test_a_payout_that_hangs_delays_no_other_match(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_payout={"alice": ["hang"]})
    async with ready_core(tmp_path, port) as s:
        first, second = await seated(s, "alice", "bob"), await seated(s, "carol", "dave")
        await s.decide(first, "alice")
        await s.decide(second, "carol")
        await until(1)
        assert (await match_row(s, first)).money == "due"
        assert (await match_row(s, second)).money == "recorded"
        await s.check_money()


@pytest.mark.usefixtures("rare_chores")
async def test_an_open_payout_is_asked_for_at_least_once_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_payout={"alice": ["pending"]})
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        await s.decide(bob.match_id, "alice")
        await until(3000)
        asked = sum(port.payouts_asked.values())
        await until(3600)
        assert asked + 10 <= sum(port.payouts_asked.values()) <= asked + 13
        assert (await s.match_of(bob)).money == "due"


async def test_a_payout_confirmed_twice_or_for_a_running_match_changes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    events: list[str] = []
    async with ready_core(tmp_path, ScriptedSettlement(), on_event=events.append) as s:
        first, second = await seated(s, "alice", "bob"), await seated(s, "carol", "dave")
        await s.decide(first, "alice")
        await until(1)
        before = await s.feed()
        for match_id in (first, second, "mat_x"):
            assert s.partner().seats("test").tell(m.PaidOut(match_id))
        await until(2)
        assert await s.feed() == before
        assert "actor_broke" not in events
        await s.check_money()
