"""What happens to an account's seats and matches when it is switched off, and on again."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.seats import Closed, CloseMatches
from pgs.actors.seating import switching_off
from pgs.actors.seating.switching_off import SwitchedOff, close_switched_off, switch_off
from pgs.domain.accounts import Account
from pgs.domain.errors import refuse
from pgs.domain.seats import Seat
from tests.actors.playing import seated
from tests.actors.ready_core import FLOOR, PRIZE, again_and_again, at, money, ready_core, until
from tests.actors.scripted_settlement import ScriptedSettlement
from tests.virtual import seed_scheduler


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


async def test_reactivation_reopens_no_seat_that_was_closed(
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


async def test_new_seats_of_an_account_that_is_back_on_are_not_closed_by_an_unfinished_closing(
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


async def test_play_can_be_closed_for_another_reason_while_the_account_stays_on(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"carol": ["pending", "confirmed"]})
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
        voided = await seated(s, "alice", "bob")
        await seated(s, "carol", "dave")
        void = CloseMatches((voided, "mat_x"), "platform_void")
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
