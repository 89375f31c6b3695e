"""Charges and payouts while the settlement server is down, slow or gone from the settings."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages import seats as m
from pgs.actors.ports import ChargeAnswer
from pgs.actors.shared import settlements
from pgs.actors.shared.circuit_breaker import BREAK_AFTER, OPEN_MIN_S
from pgs.actors.shared.settlements import PARKED_S
from pgs.domain.errors import refuse
from pgs.domain.seats import Seat
from tests.actors.ready_core import FLOOR, PRIZE, money, ready_core, until
from tests.actors.scripted_settlement import Late, ScriptedSettlement

AGAIN = refuse("settlement_unavailable")
PLAYERS = [f"player-{number}" for number in range(BREAK_AFTER)]


class Outage(ScriptedSettlement):
    """A server that answers nothing while it is `down`."""

    def __init__(self) -> None:
        super().__init__()
        self.down = True

    async def charge(self, seat: Seat) -> ChargeAnswer:
        self.of_charge[seat.idempotency_key] = ["unpublished" if self.down else "confirmed"]
        return await super().charge(seat)


async def test_after_an_outage_is_known_a_seat_is_refused_at_once_without_a_call(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port, events = Outage(), list[str]()
    async with ready_core(tmp_path, port, on_event=events.append) as s:
        for player in PLAYERS:
            assert await s.ask_seat(player) == AGAIN
        assert events.count("settlement_calls_stopped") == 1
        asked = len(port.asked)
        assert await s.ask_seat("late") == AGAIN
        assert (trio.current_time(), len(port.asked)) == (0, asked)
        assert "settlement_held_back" in events
        assert (await s.by_key("late")).status == "pending"


async def test_after_the_outage_every_seat_is_asked_for_and_charged_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port, events = Outage(), list[str]()
    async with ready_core(tmp_path, port, on_event=events.append) as s:
        for player in (*PLAYERS, "late"):
            assert await s.ask_seat(player) == AGAIN
        await until(100)
        assert len(port.asked) < 60, "calls go on against a server that is down"
        port.down = False
        await until(200)
        assert events.count("settlement_calls_resumed") == 1
        charged = [await s.by_key(player) for player in (*PLAYERS, "late")]
        assert {seat.stake_status for seat in charged} == {"confirmed"}
        assert port.charged == {seat.seat_id: FLOOR for seat in charged}
        await s.check_money()


async def test_a_new_seat_tries_the_server_once_the_pause_is_over(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = Outage()
    async with ready_core(tmp_path, port) as s:
        for player in PLAYERS:
            await s.ask_seat(player)
        port.down = False
        await until(OPEN_MIN_S)
        assert (await s.seat("fresh")).stake_status == "confirmed"


async def test_a_stake_that_finds_no_free_call_to_settlement_is_refused_in_time_and_asked_for_later(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlements, "FIRST_CALLS", 1)
    monkeypatch.setattr(settlements, "WAITING_MAX", 1)
    port, events = ScriptedSettlement(), list[str]()
    port.of_charge = {"alice": [Late(9.0, "confirmed")], "bob": [Late(9.0, "confirmed")]}
    async with ready_core(tmp_path, port, on_event=events.append) as s:
        replies: dict[str, tuple[float, object]] = {}

        async def call(player: str) -> None:
            reply = await s.ask_seat(player)
            replies[player] = (trio.current_time(), reply)

        async with trio.open_nursery() as nursery:
            for player in ("alice", "bob", "carol"):
                nursery.start_soon(call, player)
                await trio.testing.wait_all_tasks_blocked()
        assert isinstance(replies.pop("alice")[1], m.Seated)
        assert replies == {"bob": (2, AGAIN), "carol": (0, AGAIN)}
        assert events.count("settlement_held_back") == 2
        await until(100)
        assert (await s.by_key("bob")).stake_status == "confirmed"
        await s.check_money()


@pytest.mark.usefixtures("rare_chores")
async def test_a_declined_payout_waits_for_an_operator_and_is_reported_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port, events = ScriptedSettlement(), list[str]()
    port.of_payout = {"bob": ["declined"]}
    async with ready_core(tmp_path, port, on_event=events.append) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        await s.decide(bob.match_id, "bob")
        await until(3000)
        assert port.payouts_asked[bob.match_id or "", bob.seat_id] == 1
        assert events.count("payout_declined") == 1
        assert (await s.match_of(bob)).money == "due"
        await s.check_money()


async def test_a_confirmed_payout_is_not_asked_for_again_while_the_other_is_open(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_payout = {"bob": ["pending", "unpublished", "hang", "confirmed"]}
    async with ready_core(tmp_path, port) as s:
        alice, bob = await s.seat("alice"), await s.seat("bob")
        await s.decide(bob.match_id, None)
        await until(100)
        asked = {
            seat.player_id: port.payouts_asked[bob.match_id or "", seat.seat_id]
            for seat in (alice, bob)
        }
        assert asked == {"alice": 1, "bob": 4}
        assert (await s.match_of(bob)).money == "recorded"
        await s.check_money()


async def test_an_answer_that_contradicts_a_decision_is_reported_and_changes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port, events = ScriptedSettlement(), list[str]()
    port.of_charge = {"alice": ["declined"]}
    async with ready_core(tmp_path, port, on_event=events.append) as s:
        await s.ask_seat("alice")
        seat = await s.by_key("alice")
        s.partner().seats("test").tell(m.ChargeAnswered(seat.seat_id, "confirmed"))
        await until(1)
        assert await s.row(seat) == seat
        assert events.count("settlement_contradicted") == 1


# --- when the setting changes between two starts ------------------------------------------------


@pytest.mark.usefixtures("rare_chores")
async def test_what_a_server_holds_stays_open_while_no_server_is_set(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_charge = {"pending": ["unpublished"]}
    async with ready_core(tmp_path, port) as s:
        assert await s.ask_seat("pending") == AGAIN
        waiting = await s.seat("waiting", environment="live")
        assert (await s.by_key("pending")).settlement == "remote"
    asked = len(port.asked)
    async with ready_core(tmp_path, seed=1) as s:
        await until(4000)
        assert (await s.by_key("pending")).status == "pending"
        # It expired, and its refund is the server's to pay.
        assert ((await s.row(waiting)).end_reason, (await s.match_of(waiting)).money) == (
            "no_opponent",
            "due",
        )
        assert await s.ask_seat("pending") == AGAIN
        await s.check_money()
    assert (len(port.asked), port.paid) == (asked, {})
    port.of_charge = {}
    async with ready_core(tmp_path, port, seed=2) as s:
        await until(4000 + PARKED_S + 1)
        assert (await s.by_key("pending")).stake_status == "confirmed"
        assert money(await s.row(waiting)) == (0, FLOOR, 0)
        await s.check_money()


async def test_only_seats_of_one_settlement_are_paired_and_that_settlement_pays_them(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        old = await s.seat("old")
    port = ScriptedSettlement()
    async with ready_core(tmp_path, port, seed=1) as s:
        new = await s.seat("new")
        assert (old.settlement, new.settlement) == ("embedded", "remote")
        assert (new.status, (await s.row(old)).status) == ("waiting", "waiting")
        newer = await s.seat("newer")
        assert newer.match_id == (await s.row(new)).match_id
        await s.decide(newer.match_id, "newer")
        await s.switch(False)
        await until(60)
        assert money(await s.row(newer)) == (PRIZE, 0, 0)
        assert money(await s.row(old)) == (0, FLOOR, 0)
        assert port.charged == {seat.seat_id: FLOOR for seat in (new, newer)}
        assert port.paid == {(newer.match_id, newer.seat_id, "prize"): PRIZE}
        await s.check_money()


async def test_live_waves_pair_within_one_settlement(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        old = await s.seat("old", environment="live")
    async with ready_core(tmp_path, ScriptedSettlement(), seed=1) as s:
        new = await s.seat("new", environment="live")
        await until(100)
        assert {(await s.row(seat)).status for seat in (old, new)} == {"waiting"}
        newer = await s.seat("newer", environment="live")
        await until(110)
        assert (await s.row(newer)).match_id == (await s.row(new)).match_id is not None
