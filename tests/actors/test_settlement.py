"""Stakes and payouts when settlement answers late, not at all, with a refusal, or wrongly."""

from itertools import pairwise
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages import seats as m
from pgs.domain.errors import refuse
from pgs.domain.seats import SeatRequest
from tests.actors.ready_core import FLOOR, GAME, PRIZE, at, money, ready_core, until
from tests.actors.scripted_settlement import Late, ScriptedSettlement

AGAIN = refuse("settlement_unavailable")


def scripted(**of_charge: list[object]) -> ScriptedSettlement:
    """Return a settlement that answers these idempotency keys as listed and confirms all others."""
    port = ScriptedSettlement()
    port.of_charge = of_charge  # type: ignore[assignment]  # a port that the test scripts
    return port


async def test_an_answer_within_ten_seconds_is_waited_for(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = scripted(alice=[Late(9.5, "confirmed")])
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
    never: object, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, scripted(alice=[never])) as s:
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
            await s.reader.all("ledger.balances"),
        ) == (
            None,
            (None, None, None),
            [],
            [],
        )


@pytest.mark.parametrize("fault", ["unpublished", "broken"])
async def test_an_invalid_answer_of_the_settlement_refuses_the_call_at_once(
    fault: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    events: list[str] = []
    async with ready_core(tmp_path, scripted(alice=[fault]), on_event=events.append) as s:
        assert await s.ask_seat("alice") == AGAIN
        assert trio.current_time() == 0
        assert (await s.by_key("alice")).status == "pending"
        assert ("settlement_unanswered" if fault == "unpublished" else "child_crashed") in events


async def test_each_retry_that_finds_no_answer_is_refused_again_and_charges_nothing_twice(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = scripted(alice=["hang", "hang", "hang", "confirmed"])
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
    port = scripted(alice=["pending", "pending", "confirmed"])
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


async def test_recovery_asks_again_by_itself_and_the_seat_waits_from_its_confirmation(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = scripted(alice=["pending", "pending", "unpublished", "confirmed"])
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


async def test_recovery_asks_ever_more_seldom_but_at_least_once_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = scripted(alice=["pending"])
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice")
        await until(1000)
        times = [when for when, _ in port.asked]
        gaps = [round(after - before) for before, after in pairwise(times)]
        assert gaps[:3] == [5, 5, 5]
        assert all(45 <= gap <= 60 for gap in gaps[-8:])  # spread over a quarter
        assert len(set(gaps[-8:])) > 1
        assert (await s.by_key("alice")).status == "pending"


async def test_a_declined_stake_is_bound_to_its_key_and_replayed(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = scripted(alice=["declined", "confirmed"])
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


async def test_a_pending_stake_that_is_declined_later_is_never_played(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, scripted(alice=["hang", "declined"])) as s:
        assert await s.ask_seat("alice") == AGAIN
        late = await s.ask_seat("alice")
        assert isinstance(late, m.Seated)
        assert (late.seat.status, late.replayed) == ("declined", True)
        assert (await s.feed(), await s.reader.all("ledger.balances")) == ([], [])
        assert (await s.row(late.seat)).due_at is None


async def test_two_calls_with_one_key_at_once_wait_for_one_answer(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = scripted(alice=[Late(4, "confirmed")])
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


async def test_a_replay_tells_the_seats_status_of_now_whatever_the_tier_has_become(
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


async def test_a_refusal_binds_nothing(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        assert await s.ask_seat("alice", "k", 1) == refuse("stake_below_floor", floorUsdCents=FLOOR)
        assert (await s.seat("bob", "k")).player_id == "bob"


async def test_a_call_that_waits_for_its_stake_when_the_service_stops_is_told_so(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    failures: list[Exception] = []

    async with trio.open_nursery() as nursery, ready_core(tmp_path, scripted(alice=["hang"])) as s:

        async def call() -> None:
            try:
                await s.ask_seat("alice")
            except Crashed as error:
                failures.append(error)

        nursery.start_soon(call)
        await until(1)
    assert len(failures) == 1
    async with ready_core(tmp_path, scripted()) as s:
        seat = await s.seat("alice")
        assert (seat.status, seat.seated_at) == ("waiting", at(0))
        await s.check_money()


# --- payouts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["unpublished", "pending", "hang", "broken"])
async def test_money_is_recorded_once_settlement_has_confirmed_all_of_a_match(
    fault: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_payout = {"bob": [fault, fault, "confirmed"]}  # type: ignore[list-item]  # a port that the test scripts
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


async def test_one_match_whose_payout_hangs_holds_up_no_other(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_payout = {"alice": ["hang"]}
    async with ready_core(tmp_path, port) as s:
        pairs = [
            (await s.seat(a), await s.seat(b)) for a, b in (("alice", "bob"), ("carol", "dave"))
        ]
        await s.decide(pairs[0][1].match_id, "alice")
        await s.decide(pairs[1][1].match_id, "carol")
        await until(1)
        assert [(await s.match_of(pair[1])).money for pair in pairs] == ["due", "recorded"]
        await s.check_money()


async def test_an_open_payout_is_asked_for_at_least_once_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    port.of_payout = {"alice": ["pending"]}
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
        pairs = [
            (await s.seat(a), await s.seat(b)) for a, b in (("alice", "bob"), ("carol", "dave"))
        ]
        await s.decide(pairs[0][1].match_id, "alice")
        await until(1)
        before = await s.feed()
        for match_id in (pairs[0][1].match_id, pairs[1][1].match_id, "mat_x"):
            assert s.partner().seats("test").tell(m.PaidOut(match_id or ""))
        await until(2)
        assert await s.feed() == before
        assert "actor_broke" not in events
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
            s.partner().seats("test").tell(m.SeatDue(waiting.seat_id))  # the other environment's
        s.partner().seats("test").tell(m.MatchDue(bob.match_id or ""))
        await until(1)
        assert await s.row(waiting) == waiting
        assert [row.status for row in await s.feed()] == ["matched", "matched"]
