"""Who is told of seats and matches that are due, and who is skipped."""

from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.maintenance import deadlines
from pgs.storage import seats as rows
from tests.actors.ready_core import FLOOR, PRIZE, ReadyCore, at, money, ready_core, until
from tests.actors.scripted_settlement import ScriptedSettlement


async def _seats_of(s: ReadyCore, partner: str, count: int) -> None:
    await s.open_partner(partner)
    for number in range(count):  # each on a tier of its own, so that none finds an opponent
        await s.set_tier(f"tier-{number}", FLOOR, 2 * FLOOR)
        await s.seat(
            "alice", f"{number}", environment="live", tier=f"tier-{number}", partner=partner
        )


async def test_a_degraded_partner_is_told_nothing_and_delays_no_other_partners_deadlines(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows fill the first page, and stay due as long as it is degraded."""
    monkeypatch.setattr(deadlines, "PAGE", 2)
    events: list[str] = []
    async with ready_core(tmp_path, on_event=events.append) as s:
        await _seats_of(s, "aaa", 5)
        await _seats_of(s, "zzz", 5)
        await until(299)
        restarts = s.partner("aaa").restarts
        while not restarts.crashed(trio.current_time()):
            pass
        await until(302)
        assert restarts.degraded(trio.current_time())
        assert {(await s.by_key(f"{number}", "live", "aaa")).status for number in range(5)} == {
            "waiting"
        }
        assert {(await s.by_key(f"{number}", "live", "zzz")).end_reason for number in range(5)} == {
            "no_opponent"
        }
        assert "message_dropped" not in events
        await until(299 + restarts.limit.cool_down_s + 2)
        assert {(await s.by_key(f"{number}", "live", "aaa")).end_reason for number in range(5)} == {
            "no_opponent"
        }
        await s.check_money()


async def test_a_due_row_without_a_note_of_its_deadline_is_found_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """The next noted deadline is an hour away."""
    async with ready_core(tmp_path) as s:
        seat = await s.seat("alice")
        await until(65)  # the chore has just searched the rows
        await s.write_without_the_actors(
            rows.update_seat(seat, msgspec.structs.replace(seat, due_at=at(100)))
        )
        await until(99)
        assert (await s.row(seat)).status == "waiting"
        await until(100 + deadlines.SEARCH_AT_LEAST_S + deadlines.SEARCH_AGAIN_S)
        assert (await s.row(seat)).end_reason == "no_opponent"
        await s.check_money()


# --- notes: nothing was due before, so without a note the next search would come a minute later


async def test_a_stake_without_an_answer_is_asked_for_again_in_time(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"alice": ["unpublished", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        await until(30)
        await s.ask_seat("alice", environment="live")
        await until(34)
        assert (await s.by_key("alice", "live")).status == "pending"
        await until(37)
        assert (await s.by_key("alice", "live")).status == "waiting"


async def test_a_payout_without_an_answer_is_asked_for_again_in_time(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_payout={"bob": ["unpublished", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice")
        match_id = (await s.seat("bob")).match_id
        await until(30)
        await s.decide(match_id, "bob")
        await until(34)
        assert money(await s.by_key("bob")) == (None, None, None)
        await until(37)
        assert money(await s.by_key("bob")) == (PRIZE, 0, 0)
        await s.check_money()
