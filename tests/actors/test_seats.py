"""The life of a seat, with the embedded settlement and with one that has to be asked."""

from collections.abc import Callable
from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.catalogue import (
    LockTier,
    SetTier,
)
from pgs.actors.messages.seats import (
    Closed,
    CloseSeats,
    DecideMatch,
)
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.matches import MatchWithSeats
from tests.actors.ready_core import FLOOR, GAME, PRIZE, ReadyCore, at, money, ready_core, until
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
        assert await s.reader.all("ledger.balances") == [
            ("test", "escrow", FLOOR, 1),
            ("test", "player", -FLOOR, 1),
        ]
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
        assert match.pairing == '{"rule":"test.v1","waitedSeconds":7}'
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
        for outcome, winner in (("ended", "bob"), ("ended", None), ("no_contest", None)):
            command = DecideMatch(ended.match_id, outcome, winner, "decided_by_test_key")  # type: ignore[arg-type]  # the cases are plain text
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


# --- what a stake must be -------------------------------------------------------------------------


async def test_closing_seats_passes_over_those_that_have_found_an_opponent_or_ended(
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


async def test_what_an_environment_is_told_of_a_seat_of_the_other_changes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        live = await s.seat("alice", environment="live")
        ref = s.partner().seats("test")
        assert await ref.ask(CloseSeats((live.seat_id,), "account_inactive")) == Closed(0)
        assert await s.row(live) == live
        assert (await s.feed("test"), (await s.head("test")).feed_position) == ([], 0)
        await s.check_money()


async def refusal(
    s: ReadyCore, cents: int = FLOOR, tier: str = "bronze", environment: Environment = "test"
) -> object:
    """Return why a stake is refused, and check that it left nothing behind."""
    before = await s.head(environment)
    reply = await s.ask_seat("alice", "refused", cents, tier=tier, environment=environment)
    assert isinstance(reply, Refusal)
    assert await s.head(environment) == before
    return reply


async def test_an_unpriced_tier_charges_its_floor_whatever_stake_passes(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        assert await refusal(s, FLOOR - 1) == refuse("stake_below_floor", floorUsdCents=FLOOR)
        assert await refusal(s, PRIZE + 1) == refuse("stake_above_prize", ceilingUsdCents=PRIZE)
        for cents in (FLOOR, FLOOR + 33, PRIZE):
            seat = await s.seat("alice", f"k{cents}", cents)
            assert (seat.stake_usd_cents, seat.sent_usd_cents) == (FLOOR, cents)
        await s.check_money()


async def test_a_priced_tier_takes_its_price_alone(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_prices({"bronze": 150})
        assert await refusal(s, FLOOR) == refuse("stake_does_not_match_price", expectedUsdCents=150)
        assert await refusal(s, FLOOR - 1) == refuse("stake_below_floor", floorUsdCents=FLOOR)
        assert await refusal(s, PRIZE + 1) == refuse("stake_above_prize", ceilingUsdCents=PRIZE)
        assert (await s.seat("alice", cents=150)).stake_usd_cents == 150
        assert (
            await s.seat("alice", environment="live")
        ).stake_usd_cents == FLOOR  # the other environment has no price
        await s.check_money()


async def test_a_price_that_fell_outside_its_tier_stays_unpriced_until_it_is_set_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_prices({"bronze": 150})
        await s.set_tier("bronze", 160, 300)
        assert (await s.seat("alice", "above", 170)).stake_usd_cents == 160
        await s.set_tier("bronze", FLOOR, PRIZE)  # the old price would be valid again
        assert (await s.seat("alice", "back", FLOOR)).stake_usd_cents == FLOOR
        await s.set_prices({"bronze": 150})
        assert await refusal(s, FLOOR) == refuse("stake_does_not_match_price", expectedUsdCents=150)
        assert (await s.seat("alice", "again", 150)).stake_usd_cents == 150


async def test_the_checks_of_a_stake_come_in_their_order(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.partner("fresh").account().ask(CreatePartner("Fresh", "ops@fresh.example"))
        await s.core.directory.catalogue().ask(SetTier("test", "only-test", None, FLOOR, PRIZE))
        await s.core.directory.catalogue().ask(LockTier("test", "bronze", "reversi", True))
        wrong = 1
        assert await refusal(s, wrong, "none") == refuse("unknown_tier")
        assert await refusal(s, wrong, "only-test", "live") == refuse("unknown_tier")
        assert await s.ask_seat("alice", cents=wrong, game="reversi", partner="fresh") == refuse(
            "tier_locked"
        )
        assert await s.ask_seat("alice", cents=wrong, game=GAME, partner="fresh") == refuse(
            "rake_terms_not_agreed"
        )
        assert (
            await s.seat("alice", game="reversi", environment="live")
        ).status == "waiting"  # locked in test alone


async def test_a_tier_whose_prize_is_over_twice_its_floor_is_locked_everywhere(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_tier("rich", 100, 201)
        assert await refusal(s, 100, "rich") == refuse("tier_locked")
        await s.set_tier("rich", 100, 200)
        assert (await s.seat("alice", cents=100, tier="rich")).prize_usd_cents == 200
        await s.seat("bob", cents=100, tier="rich")
        await s.decide((await s.row(await s.by_key("bob"))).match_id, "bob")
        await until(1)
        assert [(row.player_id, money(row)) for row in await s.feed()] == [
            ("alice", (0, 0, 0)),
            ("bob", (200, 0, 0)),
        ]
        await s.check_money()


async def test_unlocking_a_tier_offers_it_again(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        await s.core.directory.catalogue().ask(LockTier("test", "bronze", GAME, True))
        assert await refusal(s) == refuse("tier_locked")
        await s.core.directory.catalogue().ask(LockTier("test", "bronze", GAME, False))
        assert (await s.seat("alice")).status == "waiting"


async def test_rake_is_what_both_stakes_leave_over_the_prize_and_the_loser_pays_it_first(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_tier("gold", 100, 110)
        await s.set_prices({"gold": 105})
        cheap = await s.seat("alice", "a1", 105, tier="gold")
        await s.set_prices({"gold": 110})
        dear = await s.seat("bob", "b1", 110, tier="gold")
        assert (cheap.stake_usd_cents, dear.stake_usd_cents) == (105, 110)
        assert (await s.row(cheap)).match_id == dear.match_id  # a price makes no revision
        await s.decide(
            dear.match_id, "alice"
        )  # 215 staked, 110 won: 105 kept, less than the loser's 110
        await s.set_prices({"gold": 110})
        left = await s.seat("alice", "a2", 110, tier="gold")
        await s.set_prices({"gold": 105})
        right = await s.seat("bob", "b2", 105, tier="gold")
        await s.decide(right.match_id, "alice")  # again 105 kept: all of the loser's stake
        await s.set_prices({"gold": 110})
        both = [await s.seat(player, f"{player}3", 110, tier="gold") for player in ("alice", "bob")]
        await s.set_tier("gold", 60, 62)
        await s.decide(both[1].match_id, "bob")  # 220 staked under the old prize of 110: 110 kept
        await s.set_prices({"gold": 62})
        last = [await s.seat(player, f"{player}4", 62, tier="gold") for player in ("alice", "bob")]
        await s.decide(last[1].match_id, "bob")  # 124 staked, 62 won: 62 kept
        await until(1)
        assert [money(await s.row(seat)) for seat in (cheap, dear)] == [(110, 0, 0), (0, 0, 105)]
        assert [money(await s.row(seat)) for seat in (left, right)] == [(110, 0, 0), (0, 0, 105)]
        assert [money(await s.row(seat)) for seat in both] == [(0, 0, 110), (110, 0, 0)]
        assert [money(await s.row(seat)) for seat in last] == [(0, 0, 62), (62, 0, 0)]
        await s.check_money()
