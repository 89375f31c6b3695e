"""Who is present at a table: sockets that come, go, replace each other, or are closed."""

from pathlib import Path
from unittest import mock

import trio
import trio.testing
from trio.testing import MockClock

from pgs.actors.messages.account.lifecycle import EmergencyStop
from pgs.domain import socket_frames as frames
from pgs.domain.socket_frames import NoSeat, Snapshot
from tests.actors.playing import Player, alone_at_table, at_table, match_row, play, seated
from tests.actors.ready_core import at, ready_core, settle, until


async def test_a_match_is_announced_to_every_open_socket_of_its_players(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.seat("ann", "first")
        ann, idle = await Player(s, "ann").enter(), await Player(s, "bob").enter()
        await s.seat("bob")
        await settle()
        (snapshot,) = ann.take()
        assert (snapshot["type"], snapshot["you"], snapshot["turn"], snapshot["ply"]) == (
            "snapshot",
            0,
            0,
            0,
        )
        assert snapshot["opponent"] == {"playerId": "bob", "connected": True}
        assert snapshot["deadlineAtMs"] == at(30) * 1000, "both are here, so the clock runs"
        assert [frame["matchId"] for frame in idle.take()] == [snapshot["matchId"]]
        other = await seated(s, "ann", "cleo")
        await settle()
        (also,) = ann.take()
        assert (also["type"], also["matchId"]) == ("snapshot", other), "she plays bob meanwhile"
        assert await ann.move(other, 0, "a1") is None
        assert ann.kinds() == ["moved"], "the snapshot counts as joining"


async def test_a_player_is_told_when_the_other_comes_and_goes(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann = await alone_at_table(s, "ann")
        (snapshot,) = ann.take()
        assert snapshot["opponent"] == {"playerId": "bob", "connected": False}
        assert "deadlineAtMs" not in snapshot
        bob = await Player(s, "bob", name="Bob").enter()
        await settle()
        assert ann.take() == [], "an open socket is no presence at this table"
        await bob.join(match_id)
        bob.leave()
        await settle()
        came, went = ann.take()
        opponent = {"playerId": "bob", "displayName": "Bob"}
        assert (came["type"], came["seq"], came["opponent"]) == (
            "presence",
            snapshot["seq"] + 1,
            {**opponent, "connected": True},
        )
        assert came["deadlineAtMs"] == at(30) * 1000
        assert (went["type"], went["seq"], went["opponent"]) == (
            "presence",
            snapshot["seq"] + 2,
            {**opponent, "connected": False},
        )


async def test_a_player_at_another_table_is_not_present_at_this_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.seat("ann", "first")
        here = (await s.seat("bob")).match_id
        assert here is not None
        there = await seated(s, "ann", "cleo")
        ann, bob = [await Player(s, player).enter() for player in ("ann", "bob")]
        await ann.join(there)
        await bob.join(here)
        (snapshot,) = bob.take()
        assert snapshot["opponent"] == {"playerId": "ann", "connected": False}
        await until(59)
        assert bob.take() == [], "the clocks wait for a minute"
        await ann.join(here)
        (presence,) = bob.take()
        assert presence["opponent"]["connected"] is True
        assert presence["deadlineAtMs"] == at(89) * 1000


async def test_the_first_join_and_each_later_one_is_answered_with_one_snapshot(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann = await alone_at_table(s, "ann")
        assert ann.kinds() == ["snapshot"]
        await ann.join(match_id)
        assert ann.kinds() == ["snapshot"]
        bob = await Player(s, "bob").enter()
        bob.player_socket.told = NoSeat()
        await bob.join(match_id)
        assert bob.kinds() == ["snapshot"], "he was told to wait, so the table greets him too"


async def test_a_newer_socket_takes_the_place_of_the_older(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        newer = await Player(s, "bob").enter()
        assert bob.socket.code == 4409
        bob.leave()
        await settle()
        assert ann.take() == [], "the player has been here all the time"
        assert newer.take() == []
        await newer.join(match_id)
        await play(match_id, (ann, newer), "a1", "b1")
        assert newer.kinds() == ["snapshot", "moved", "moved"]
        assert bob.take() == []


async def test_a_lost_connection_resumes_with_a_snapshot(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), "a1", "b1")
        seq = bob.take()[-1]["seq"]
        bob.leave()
        await play(match_id, (ann, bob), "a2", ply=2)
        again = await Player(s, "bob").enter()
        snapshot = await again.join(match_id)
        assert isinstance(snapshot, Snapshot)
        assert (snapshot.ply, snapshot.turn, snapshot.you) == (3, 1, 1)
        assert snapshot.seq == seq + 3, "one message each for leaving, moving and coming back"
        assert await again.move(match_id, 3, "b2") is None


async def test_an_account_that_is_switched_off_closes_its_sockets_at_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        idle = await Player(s, "idle").enter()
        await s.switch(False)
        assert [player.socket.code for player in (ann, bob, idle)] == [4403] * 3
        await settle()
        assert (await match_row(s, match_id)).end_reason == "account_inactive"
        assert await ann.move(match_id, 0, "a1") == "match_over"


async def test_an_emergency_stop_closes_the_sockets_of_its_environment(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        here = [await Player(s, "ann").enter(), await Player(s, "ann", "live").enter()]
        await s.partner().account().ask(EmergencyStop("ops", "test"))
        assert [player.socket.code for player in here] == [4403, None]


async def test_sockets_close_once_the_registry_has_been_unreadable_too_long(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        ann = await Player(s, "ann").enter()
        with mock.patch.object(s.parts.registry, "refresh", trio.sleep_forever):
            await until(599)
            assert ann.socket.code is None
            await until(602)
            assert ann.socket.code == 4503


async def test_a_snapshot_has_the_moves_that_were_played_and_of_many_the_newest(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await play(match_id, (ann, bob), "a1", "b1", "a2")
        bob.leave()
        again = await Player(s, "bob").enter()
        with mock.patch.object(frames, "MOVES_SENT_MAX", 2):
            await again.join(match_id)
        await again.join(match_id)
        newest, every = again.take()
        assert (newest["moves"], newest["ply"]) == (["b1", "a2"], 3)
        assert every["moves"] == ["a1", "b1", "a2"]
