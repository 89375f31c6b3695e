"""Which seats are paired with each other."""

from pathlib import Path

import msgspec
import pytest
from trio.testing import MockClock

from pgs.domain.environments import Environment
from tests.actors.ready_core import GAME, at, keys_of, ready_core, until
from tests.actors.scripted_settlement import Late, ScriptedSettlement


async def test_a_stake_joins_the_oldest_waiting_seat(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        for key in ("a1", "a2", "a3"):
            await s.seat("alice", key)
        bob = await s.seat("bob", "b1")
        assert (await s.by_key("a1")).match_id == bob.match_id
        assert (await s.by_key("a2")).status == (await s.by_key("a3")).status == "waiting"
        carol = await s.seat("carol", "c1")
        assert (await s.by_key("a2")).match_id == carol.match_id


async def test_nobody_is_paired_with_themself(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        for key in ("a1", "a2"):
            assert (await s.seat("alice", key)).status == "waiting"
        await s.seat("bob", "b1")
        assert (await s.seat("bob", "b2")).match_id == (await s.by_key("a2")).match_id
        assert (await s.seat("bob", "b3")).status == "waiting"
        assert (await s.seat("bob", "b4")).status == "waiting"
        # Carol joins the oldest of bob's waiting seats.
        assert (await s.seat("carol", "c1")).match_id == (await s.by_key("b3")).match_id


async def test_the_oldest_seat_has_the_lowest_sequence_even_if_its_stake_was_confirmed_late(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"a1": ["pending", Late(3, "confirmed")]})
    async with ready_core(tmp_path, port) as s:
        assert (await s.seat("alice", "a1")).status == "pending"
        await s.seat("alice", "a2")
        await s.seat("alice", "a3")
        await until(20)
        assert [(await s.by_key(key)).status for key in ("a1", "a2", "a3")] == ["waiting"] * 3
        late, early = [(await s.by_key(key)).confirmed_at for key in ("a1", "a2")]
        assert late is not None
        assert early is not None
        assert late > early
        for player, key in (("bob", "a1"), ("carol", "a2"), ("dave", "a3")):
            assert (await s.seat(player)).match_id == (await s.by_key(key)).match_id
        await s.check_money()


async def test_a_seat_whose_stake_is_not_confirmed_is_no_opponent(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"a1": ["pending"], "a2": ["declined"]})
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice", "a1")
        await s.seat("alice", "a2")
        assert (await s.seat("bob")).status == "waiting"


async def test_an_expired_seat_that_is_not_closed_yet_is_not_taken_as_an_opponent(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock jumps after a suspension, and a stake comes before expired seats are closed."""
    async with ready_core(tmp_path) as s:
        alice = await s.seat("alice")
        monkeypatch.setattr(s.parts.clock, "now_ms", lambda: at(3600) * 1000)
        assert (await s.seat("bob")).status == "waiting"
        assert (await s.row(alice)).match_id is None


async def test_a_stake_confirmed_late_joins_a_waiting_seat(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"a1": ["pending", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        alice = await s.seat("alice", "a1")
        await s.seat("bob")
        await until(5)
        assert (await s.row(alice)).match_id == (await s.by_key("bob")).match_id is not None
        assert keys_of(await s.feed()) == ["bob", "a1"]
        await s.check_money()


async def test_the_wait_in_a_pairing_is_counted_from_the_confirmation(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"a1": ["pending", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        alice = await s.seat("alice", "a1")
        await until(20)
        assert (await s.row(alice)).confirmed_at == at(5)
        await s.seat("bob")
        pairing = (await s.match_of(alice)).pairing
        assert pairing is not None
        assert msgspec.json.decode(pairing) == {
            "rule": "test.v1",
            "waitedSeconds": 15,
            "begins": "alice",
        }


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"tier": "gold"}, "another tier"),
        ({"game": "reversi"}, "another game"),
        ({"environment": "live"}, "the other environment"),
        ({"partner": "other"}, "another partner"),
    ],
)
async def test_only_stakes_of_one_partner_environment_game_and_tier_are_paired(
    other: dict[str, str], why: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        await s.set_tier("gold", 100, 180)
        alice = await s.seat("alice")
        assert (await s.seat("bob", **other)).status == "waiting", why
        assert (await s.row(alice)).status == "waiting"
        assert (await s.seat("bob", "b2")).match_id == (await s.row(alice)).match_id


@pytest.mark.parametrize("environment", ["test", "live"])
async def test_seats_of_two_revisions_of_a_tier_never_meet(
    environment: Environment, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        old = await s.seat("alice", environment=environment)
        await s.set_tier("bronze", 100, 190)
        new = await s.seat("bob", environment=environment)
        assert (new.status, new.prize_usd_cents) == ("waiting", 190)
        await s.set_tier("bronze", 100, 180)  # the old numbers again, but a new revision
        assert (await s.seat("carol", environment=environment)).status == "waiting"
        assert (await s.row(old)).status == (await s.row(new)).status == "waiting"
        dave = await s.seat("dave", environment=environment)
        await until(2)
        assert (
            (await s.row(dave)).match_id
            == (await s.by_key("carol", environment)).match_id
            is not None
        )
        assert (await s.row(old)).status == (await s.row(new)).status == "waiting"


async def test_setting_a_tier_to_the_same_numbers_makes_no_revision(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        alice = await s.seat("alice")
        await s.set_tier("bronze", 100, 180)
        assert (await s.seat("bob")).match_id == (await s.row(alice)).match_id is not None


async def test_the_queue_is_the_same_after_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        for key in ("a1", "a2"):
            await s.seat("alice", key, game=GAME)
    async with ready_core(tmp_path, seed=1) as s:
        bob = await s.seat("bob")
        assert (await s.by_key("a1")).match_id == bob.match_id
        assert (bob.seq, (await s.head()).seat_seq) == (3, 3)
