"""The life of a seat, with the embedded settlement and with a remote one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.actors.messages.seats import Closed, CloseSeats, DecideMatch
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.matches import MatchWithSeats
from tests.actors.ready_core import FLOOR, PRIZE, at, money, ready_core, until
from tests.actors.scripted_settlement import ScriptedSettlement

Make = Callable[[], ScriptedSettlement | None]

PORTS = pytest.mark.parametrize(
    "make", [lambda: None, ScriptedSettlement], ids=["embedded", "remote"]
)

WAITS: list[tuple[Environment, int]] = [("live", 300), ("test", 3600)]

ABSENCES: list[tuple[Environment, int]] = [("live", 60), ("test", 3600)]

NOTHING = (None, None, None)


@PORTS
async def test_a_stake_confirmed_in_time_waits_and_is_charged(
    make: Make, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, make()) as s:
        seat = await s.seat("alice", ref="order 7")
        assert (seat.status, seat.stake_status, seat.match_id) == ("waiting", "confirmed", None)
        assert (seat.stake_usd_cents, seat.prize_usd_cents, seat.partner_ref) == (
            FLOOR,
            PRIZE,
            "order 7",
        )
        assert (seat.seated_at, seat.confirmed_at, seat.expires_at) == (at(0), at(0), at(3600))
        assert await s.row(seat) == seat
        assert await s.reader.all("ledger.sums") == [("test", 1, FLOOR, 0, 0, 0, FLOOR)]
        assert await s.feed() == []
        await s.check_money()


@PORTS
async def test_the_second_stake_is_matched_at_once_and_both_rows_start(
    make: Make, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, make()) as s:
        alice = await s.seat("alice")
        await until(7)
        bob = await s.seat("bob")
        assert (bob.status, bob.opponent_player_id) == ("matched", "alice")
        first, second = await s.feed()
        assert (first.seat_id, first.status, first.opponent_player_id, first.match_id) == (
            alice.seat_id,
            "matched",
            "bob",
            bob.match_id,
        )
        assert second == bob
        assert [
            (row.position, row.revision, row.started_at, row.updated_at) for row in (first, second)
        ] == [
            (1, 1, at(7), at(7)),
            (2, 1, at(7), at(7)),
        ]
        assert money(first) == money(second) == NOTHING
        match = await s.match_of(bob)
        assert (match.status, match.started_at, match.prize_usd_cents, match.money) == (
            "started",
            at(7),
            PRIZE,
            "none",
        )
        assert match.pairing == '{"rule":"test.v1","waitedSeconds":7,"begins":"alice"}'
        await s.check_money()


@PORTS
async def test_a_decided_match_ends_both_rows_and_its_money_comes_in_one_transition(
    make: Make, tmp_path: Path, autojump_clock: MockClock
) -> None:
    fake = make()
    async with ready_core(tmp_path, fake) as s:
        alice, bob = await s.seat("alice"), await s.seat("bob")
        await until(9)
        await s.decide(bob.match_id, "alice")
        ended = await s.feed()
        assert [
            (row.player_id, row.status, row.result, row.end_reason, row.ended_at) for row in ended
        ] == [
            ("alice", "ended", "won", "decided_by_test_key", at(9)),
            ("bob", "ended", "lost", "decided_by_test_key", at(9)),
        ]
        assert [(row.position, row.revision, money(row)) for row in ended] == [
            (3, 2, NOTHING),
            (4, 2, NOTHING),
        ]
        assert (await s.match_of(bob)).money == "due"
        await until(10)
        paid = await s.feed()
        assert [(row.position, row.revision, money(row)) for row in paid] == [
            (5, 3, (PRIZE, 0, 0)),
            (6, 3, (0, 0, 2 * FLOOR - PRIZE)),
        ]
        assert {row.stake_status for row in paid} == {"confirmed"}
        assert ((await s.match_of(bob)).money, (await s.match_of(bob)).due_at) == ("recorded", None)
        if fake is not None:
            assert fake.paid == {(bob.match_id, alice.seat_id, "prize"): PRIZE}
        await s.check_money()


@PORTS
async def test_a_drawn_match_gives_both_stakes_back(
    make: Make, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, make()) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        await s.decide(bob.match_id, None)
        await until(1)
        assert [
            (row.status, row.result, row.stake_status, money(row)) for row in await s.feed()
        ] == [
            ("ended", "drawn", "refunded", (0, FLOOR, 0)),
            ("ended", "drawn", "refunded", (0, FLOOR, 0)),
        ]
        await s.check_money()


@PORTS
async def test_a_match_decided_as_no_contest_gives_both_stakes_back(
    make: Make, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, make()) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        command = DecideMatch(bob.match_id or "", "no_contest", None, "decided_by_test_key")
        assert isinstance(await s.partner().seats("test").ask(command), MatchWithSeats)
        await until(1)
        assert [
            (row.status, row.result, row.end_reason, row.stake_status, money(row), row.revision)
            for row in await s.feed()
        ] == [("no_contest", None, "decided_by_test_key", "refunded", (0, FLOOR, 0), 3)] * 2
        await s.check_money()


@PORTS
@pytest.mark.parametrize(("environment", "wait_s"), WAITS)
@pytest.mark.usefixtures("rare_chores")
async def test_an_expired_seat_ends_to_the_second_in_a_match_of_its_own_and_returns_its_stake(
    make: Make, environment: Environment, wait_s: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    fake = make()
    async with ready_core(tmp_path, fake) as s:
        await until(2.4)
        seat = await s.seat("alice", environment=environment)
        assert seat.expires_at == at(2 + wait_s)
        await until(2 + wait_s - 0.001)
        assert await s.row(seat) == seat
        await until(2 + wait_s)
        row = await s.row(seat)
        assert (row.status, row.end_reason, row.ended_at, row.started_at) == (
            "no_contest",
            "no_opponent",
            at(2 + wait_s),
            None,
        )
        assert (row.opponent_player_id, row.result) == (None, None)
        assert (row.stake_status, money(row)) == ("refunded", (0, FLOOR, 0))
        assert (row.position, row.revision) == (2, 2)
        match = await s.match_of(seat)
        assert (match.status, match.end_reason, match.started_at, match.ended_at) == (
            "no_contest",
            "no_opponent",
            None,
            at(2 + wait_s),
        )
        assert await s.feed(environment) == [row]
        if fake is not None:
            assert fake.paid == {(row.match_id, seat.seat_id, "refund"): FLOOR}
        await s.check_money()


@PORTS
@pytest.mark.parametrize(("environment", "absence_s"), ABSENCES)
@pytest.mark.usefixtures("rare_chores")
async def test_a_match_that_nobody_joins_ends_to_the_second_as_both_absent(
    make: Make, environment: Environment, absence_s: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, make()) as s:
        alice = await s.seat("alice", environment=environment)
        await until(5)
        bob = await s.seat("bob", environment=environment)
        begun = 5 if environment == "test" else 6  # live seats meet in the next wave
        await until(begun)
        assert (await s.row(bob)).status == "matched"
        await until(begun + absence_s - 0.001)
        assert (await s.row(bob)).status == "matched"
        await until(begun + absence_s)
        for seat in (alice, bob):
            row = await s.row(seat)
            assert (row.status, row.end_reason, row.ended_at) == (
                "no_contest",
                "both_absent",
                at(begun + absence_s),
            )
            assert (row.stake_status, money(row), row.revision) == ("refunded", (0, FLOOR, 0), 3)
        await s.check_money()


async def test_a_decision_can_be_repeated_but_not_changed(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        ended = await s.decide(bob.match_id, "alice")
        await until(1)
        feed = await s.feed()
        again = await s.decide(bob.match_id, "alice")
        assert (again.status, again.winner_player_id, again.ended_at) == (
            "ended",
            "alice",
            ended.ended_at,
        )
        seats = s.partner().seats("test")
        for command in (
            DecideMatch(ended.match_id, "ended", "bob", "decided_by_test_key"),
            DecideMatch(ended.match_id, "ended", None, "decided_by_test_key"),
            DecideMatch(ended.match_id, "no_contest", None, "decided_by_test_key"),
        ):
            assert await seats.ask(command) == refuse("match_already_decided")
        assert await s.feed() == feed


async def test_a_decision_names_a_match_of_this_environment_and_one_of_its_players(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        await s.seat("alice", environment="live")
        live = await s.seat("bob", environment="live")
        await until(1)
        live = await s.row(live)
        assert live.match_id is not None
        await s.seat("alice")
        bob = await s.seat("bob")
        unknown = DecideMatch(live.match_id or "", "ended", "bob", "decided_by_test_key")
        assert await s.partner().seats("test").ask(unknown) == refuse("match_not_found")
        foreign = DecideMatch(bob.match_id or "", "ended", "bob", "decided_by_test_key")
        assert await s.partner("other").seats("test").ask(foreign) == refuse("match_not_found")
        stranger = DecideMatch(bob.match_id or "", "ended", "carol", "decided_by_test_key")
        assert isinstance(await s.partner().seats("test").ask(stranger), BadRequest)
        assert (await s.row(bob)).status == "matched"


async def test_closing_seats_skips_those_that_are_matched_or_ended(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        alice, bob = await s.seat("alice"), await s.seat("bob")
        ended = [await s.seat(player) for player in ("carol", "dave")]
        await s.decide(ended[1].match_id, "dave")
        await until(1)
        seats = [await s.row(seat) for seat in (alice, bob, *ended)]
        ids = tuple(seat.seat_id for seat in seats)
        assert await s.partner().seats("test").ask(
            CloseSeats((*ids, "sea_unknown"), "account_inactive")
        ) == Closed(0)
        assert [await s.row(seat) for seat in seats] == seats
        assert (await s.match_of(alice)).status == "started"


async def test_a_command_about_a_seat_of_the_other_environment_changes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        live = await s.seat("alice", environment="live")
        ref = s.partner().seats("test")
        assert await ref.ask(CloseSeats((live.seat_id,), "account_inactive")) == Closed(0)
        assert await s.row(live) == live
        assert (await s.feed("test"), (await s.head("test")).feed_position) == ([], 0)
        await s.check_money()
