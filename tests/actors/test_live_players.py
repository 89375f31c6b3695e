"""Live pairing leaves out players who have left or are playing, and shares out the first move."""

import json
from collections import Counter
from pathlib import Path

import trio
from trio.testing import MockClock

from pgs.actors.waiting_seats import why_held_back
from pgs.domain.environments import Environment
from pgs.domain.seats import Seat
from tests.actors.playing import Player
from tests.actors.ready_core import ReadyCore, ready_core, until

LIVE: Environment = "live"


async def sit(s: ReadyCore, *players: str, key: str = "", game: str = "tic-tac-toe") -> list[Seat]:
    return [
        await s.seat(player, f"{player}-{game}-{key}", environment=LIVE, game=game)
        for player in players
    ]


async def matched(s: ReadyCore, seat: Seat) -> str:
    """Let a wave pass; return the match of a seat."""
    await trio.sleep(1.5)
    match_id = (await s.row(seat)).match_id
    assert match_id is not None
    return match_id


async def status(s: ReadyCore, seat: Seat) -> tuple[str, str | None]:
    row = await s.row(seat)
    return row.status, await why_held_back(s.parts, row)


async def test_a_player_without_a_socket_is_not_paired_until_one_opens(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, all_here=False) as s:
        await Player(s, "ann", LIVE).enter()
        ann, bob = await sit(s, "ann", "bob")
        await until(100)
        assert await status(s, ann) == ("waiting", None)
        assert await status(s, bob) == ("waiting", "player_absent")
        await Player(s, "bob", LIVE).enter()
        await until(102)
        assert await status(s, bob) == ("matched", None)
        assert (await s.row(ann)).opponent_player_id == "bob"


async def test_a_player_who_closed_the_socket_counts_as_there_for_15_s(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, all_here=False) as s:
        ann, bob, cleo = [await Player(s, name, LIVE).enter() for name in ("ann", "bob", "cleo")]
        early, late = await sit(s, "ann", "cleo")
        for player in (ann, cleo):
            player.leave()
        await s.decide(await matched(s, early), "ann", LIVE)
        (again,) = await sit(s, "ann", key="again")
        await until(14.9)
        assert await status(s, again) == ("waiting", None)
        await sit(s, "bob")
        await until(60)
        assert await status(s, again) == ("waiting", "player_absent")
        bob.leave()
        await until(80)
        assert [s.parts.presence.is_here(player.key) for player in (ann, bob, cleo)] == [False] * 3
        assert (await s.row(late)).status == "ended"


async def test_a_player_in_a_live_match_gets_no_second_one_until_it_has_ended(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        (first, *_) = await sit(s, "ann", "bob")
        await until(2)
        again, cleo = await sit(s, "ann", "cleo", key="again")
        elsewhere, dan = await sit(s, "ann", "dan", game="reversi")
        await until(20)
        for seat in (again, elsewhere):
            assert await status(s, seat) == ("waiting", "player_busy")
        await s.decide((await s.row(first)).match_id, "ann", LIVE)
        await until(22)
        matched = [(await status(s, seat))[0] for seat in (again, elsewhere)]
        assert sorted(matched) == ["matched", "waiting"], "one match at a time, in any game"
        assert sorted([(await s.row(seat)).status for seat in (cleo, dan)]) == [
            "matched",
            "waiting",
        ]


async def test_a_player_in_a_live_match_is_known_as_busy_after_a_restart_too(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await sit(s, "ann", "bob")
        await until(2)
        (again, _) = await sit(s, "ann", "cleo", key="again")
    async with ready_core(tmp_path, seed=1) as s:
        await until(trio.current_time() + 20)
        assert await status(s, again) == ("waiting", "player_busy")


async def test_the_first_move_is_shared_out_between_two_players(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    begins: Counter[str] = Counter()
    async with ready_core(tmp_path) as s:
        for number in range(8):
            seats = await sit(s, "ann", "bob", key=str(number))
            await until(30 * (number + 1))
            match = await s.match_of(seats[0])
            beginner = json.loads(match.pairing or "{}")["begins"]
            begins[beginner] += 1
            (side_0,) = [row for row in [await s.row(seat) for seat in seats] if row.side == 0]
            assert side_0.player_id == beginner
            await s.decide(match.match_id, ("ann", "bob")[number % 2], LIVE)
    assert begins == {"ann": 4, "bob": 4}
