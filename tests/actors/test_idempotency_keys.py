"""One idempotency key stands for one seat, however often it is used."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages import seats as m
from pgs.domain.errors import Refusal, refuse
from pgs.domain.seats import SeatRequest
from tests.actors.ready_core import FLOOR, GAME, PRIZE, ready_core, until
from tests.actors.scripted_settlement import Late, ScriptedSettlement
from tests.virtual import Faults


async def test_two_calls_with_one_key_at_once_wait_for_one_answer(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement({"alice": [Late(4, "confirmed")]})
    async with ready_core(tmp_path, port) as s:
        replies: list[tuple[float, object]] = []

        async def call(after_s: float) -> None:
            await trio.sleep(after_s)
            reply = await s.ask_seat("alice")
            replies.append((trio.current_time(), reply))

        async with trio.open_nursery() as nursery:
            for after_s in (0, 1, 3.5):
                nursery.start_soon(call, after_s)
        assert [when for when, _ in replies] == [4, 4, 4]
        seats = [reply.seat for _, reply in replies if isinstance(reply, m.Seated)]
        assert len(seats) == 3
        assert len({seat.seat_id for seat in seats}) == 1
        assert sorted(reply.replayed for _, reply in replies if isinstance(reply, m.Seated)) == [
            False,
            True,
            True,
        ]
        assert (len(port.asked), (await s.head()).seat_seq) == (1, 1)


async def test_two_calls_at_once_take_one_seat_with_an_instant_settlement_too(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        replies: list[object] = []

        async def call() -> None:
            replies.append(await s.ask_seat("alice"))

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(call)
        assert sorted(reply.replayed for reply in replies if isinstance(reply, m.Seated)) == [
            False,
            True,
            True,
            True,
            True,
        ]
        assert (await s.head()).seat_seq == 1
        await s.check_money()


@pytest.mark.parametrize(
    "other",
    [
        SeatRequest("bob", GAME, "bronze", 120, "k", None),
        SeatRequest("alice", "reversi", "bronze", 120, "k", None),
        SeatRequest("alice", GAME, "gold", 120, "k", None),
        SeatRequest("alice", GAME, "bronze", 121, "k", None),
        # The stake that was charged is not the stake that was sent.
        SeatRequest("alice", GAME, "bronze", FLOOR, "k", None),
        # The key is looked up before the tier and the stake.
        SeatRequest("alice", GAME, "none", 1, "k", None),
    ],
)
async def test_a_key_is_bound_to_its_four_values_as_sent(
    other: SeatRequest, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_tier("gold", 100, 180)
        seat = await s.seat("alice", "k", 120)
        assert seat.stake_usd_cents == FLOOR
        reply = await s.partner().seats("test").ask(m.StakeSeat(other))
        assert reply == refuse("idempotency_key_conflict")
        assert await s.ask_seat("alice", "k", 120, ref="another reference") == m.Seated(
            seat, replayed=True
        )
        assert (await s.head()).seat_seq == 1


async def test_a_replay_shows_the_seats_current_status_even_after_its_tier_has_changed(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.seat("alice", "k", 120)
        bob = await s.seat("bob")
        await s.set_tier("bronze", 500, 900)
        assert (await s.seat("alice", "k", 120)).status == "matched"
        await s.decide(bob.match_id, "alice")
        await until(1)
        seat = await s.seat("alice", "k", 120)
        assert (seat.status, seat.result, seat.payout_usd_cents) == ("ended", "won", PRIZE)
        assert (await s.head()).seat_seq == 2


async def test_a_key_belongs_to_one_partner_and_environment(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        seats = [
            await s.seat("alice", "k"),
            await s.seat("alice", "k", environment="live"),
            await s.seat("alice", "k", partner="other"),
        ]
        assert len({seat.seat_id for seat in seats}) == 3


async def test_a_refused_stake_does_not_use_up_its_key(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        assert await s.ask_seat("alice", "k", 1) == refuse("stake_below_floor", floorUsdCents=FLOOR)
        assert (await s.seat("bob", "k")).player_id == "bob"


async def test_a_key_is_looked_up_only_if_its_seat_cannot_be_written(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        look_up = "from seat where partner_id = ? and environment = ? and idempotency_key = ?"
        seat = await s.seat("alice", "k")
        await s.seat("bob", environment="live")
        assert faults.count(look_up) == 0
        assert await s.ask_seat("alice", "k") == m.Seated(seat, replayed=True)
        assert faults.count(look_up) == 1
        assert isinstance(await s.ask_seat("carol", cents=1), Refusal)
        assert faults.count(look_up) == 2


async def test_a_repeated_key_does_not_make_the_writes_beside_it_begin_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        partners = [f"partner-{number}" for number in range(5)]
        for partner in partners:
            await s.open_partner(partner)
            await s.seat("alice", "k", partner=partner)
        faults.statements.clear()
        seats = {}

        async def take(partner: str, key: str) -> None:
            seats[partner] = await s.seat("alice", key, partner=partner)

        async with trio.open_nursery() as nursery:
            for number, partner in enumerate(partners):
                nursery.start_soon(take, partner, "k" if number == 2 else "another")
        assert [seats[partner].seq for partner in partners] == [2, 2, 1, 2, 2]
        assert (faults.count("begin immediate"), faults.count("commit")) == (1, 1)


async def test_a_repeated_key_is_answered_while_nothing_can_be_written(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        seat = await s.seat("alice", "k")
        for statement in ("begin immediate", "insert into seat"):
            faults.fail(statement)
            assert await s.ask_seat("alice", "k") == m.Seated(seat, replayed=True)
            with pytest.raises(Crashed):
                await s.ask_seat("bob")
            faults.heal()
        await s.check_money()
