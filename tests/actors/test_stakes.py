"""What a stake must be: its tier, its price, its bounds, and the rake that it leaves."""

from pathlib import Path

from trio.testing import MockClock

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.catalogue import LockTier, SetTier
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from tests.actors.ready_core import FLOOR, GAME, PRIZE, ReadyCore, money, ready_core, until


async def refusal(
    s: ReadyCore, cents: int = FLOOR, tier: str = "bronze", environment: Environment = "test"
) -> object:
    """Return why a stake is refused, and check that it left nothing behind."""
    before = await s.head(environment)
    reply = await s.ask_seat("alice", "refused", cents, tier=tier, environment=environment)
    assert isinstance(reply, Refusal)
    assert await s.head(environment) == before
    return reply


async def test_an_unpriced_tier_charges_its_floor_for_every_accepted_stake(
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


async def test_a_price_that_fell_outside_its_tier_is_not_charged_until_it_is_set_again(
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
        none = await refusal(s, wrong, "none")
        assert isinstance(none, Refusal)
        assert none.reason == "unknown_tier"
        assert "only-test" in str(none.message)
        other = await refusal(s, wrong, "only-test", "live")
        assert isinstance(other, Refusal)
        assert other.reason == "unknown_tier"
        assert "a tier of test, and the key is one of live" in str(other.message)
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


async def test_rake_is_both_stakes_minus_the_prize_and_comes_first_from_the_losers_stake(
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
        await s.decide(right.match_id, "alice")  # 105 kept again, the loser's whole stake
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
