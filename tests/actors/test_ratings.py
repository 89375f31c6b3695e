"""A live match that ended with a result changes its players' ratings once."""

from pathlib import Path
from typing import cast

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages import seats as m
from pgs.domain.environments import Environment
from pgs.domain.ratings import UNRATED, Rating, after_match
from pgs.domain.seats import Result, Seat
from pgs.storage.ratings import find_rating
from tests.actors.ready_core import GAME, ReadyCore, ready_core, until
from tests.virtual import Faults

LIVE: Environment = "live"


async def rating(
    s: ReadyCore,
    player: str,
    game: str = GAME,
    environment: Environment = LIVE,
    partner: str = "acme",
) -> Rating:
    return await find_rating(s.reader, partner, environment, game, player)


async def running(s: ReadyCore, game: str = GAME) -> Seat:
    """Seat alice and bob, and return alice's seat once they have met."""
    number = len(await s.feed(LIVE))
    seats = [
        await s.seat(player, f"{player}{number}", environment=LIVE, game=game)
        for player in ("alice", "bob")
    ]
    for _ in range(200):
        if (await s.row(seats[0])).match_id is not None:
            break
        await trio.sleep(1)
    return await s.row(seats[0])


@pytest.mark.parametrize(("winner", "result"), [("alice", "won"), ("bob", "lost"), (None, "drawn")])
async def test_a_result_moves_both_ratings_as_the_model_says(
    winner: str | None, result: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        seat = await running(s)
        await s.decide(seat.match_id, winner, LIVE)
        outcome = cast("Result", result)
        expected = after_match(("alice", "bob"), (UNRATED, UNRATED), outcome)
        assert (await rating(s, "alice"), await rating(s, "bob")) == expected
        again = await running(s)
        await s.decide(again.match_id, winner, LIVE)
        assert (await rating(s, "alice"), await rating(s, "bob")) == after_match(
            ("alice", "bob"), expected, outcome
        )


async def test_each_game_environment_and_partner_has_ratings_of_its_own(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.decide((await running(s)).match_id, "alice", LIVE)
        assert (
            await rating(s, "alice", "reversi")
            == await rating(s, "alice", environment="test")
            == await rating(s, "alice", partner="other")
            == UNRATED
        )
        await s.seat("alice", "t1")
        bob = await s.seat("bob", "t2")
        await s.decide(bob.match_id, "bob")
        assert await rating(s, "bob", environment="test") == UNRATED  # test play is not rated


async def test_the_same_decision_again_moves_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        seat = await running(s)
        await s.decide(seat.match_id, "alice", LIVE)
        once = await rating(s, "alice")
        await s.decide(seat.match_id, "alice", LIVE)
        await until(100)  # recording its money changes nothing either
        assert await rating(s, "alice") == once
        assert once.matches == 1


async def test_a_match_without_a_result_moves_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        absent = await running(s)
        await until(100)
        assert (await s.row(absent)).end_reason == "both_absent"
        voided = await running(s)
        await s.partner().seats(LIVE).ask(m.CloseMatches((voided.match_id or "",), "platform_void"))
        contest = await running(s)
        await (
            s.partner()
            .seats(LIVE)
            .ask(m.DecideMatch(contest.match_id or "", "no_contest", None, "platform_void"))
        )
        assert await rating(s, "alice") == await rating(s, "bob") == UNRATED


@pytest.mark.parametrize("after", [False, True], ids=["not on disk", "on disk"])
@pytest.mark.parametrize("text", ["insert into rating", "update match", "commit"])
async def test_an_end_that_breaks_and_is_repeated_moves_ratings_once(
    text: str, after: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        seat = await running(s)
        faults.fail(text, after=after)
        with pytest.raises(Crashed):
            await s.decide(seat.match_id, "alice", LIVE)
        faults.heal()
        await s.decide(seat.match_id, "alice", LIVE)
        assert (await rating(s, "alice"), await rating(s, "bob")) == after_match(
            ("alice", "bob"), (UNRATED, UNRATED), "won"
        )
        assert (await s.row(seat)).result == "won"


async def test_the_next_wave_uses_the_new_rating_of_a_player_who_waits_already(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Alice's next seat has already been through waves when her match is decided."""
    async with ready_core(tmp_path) as s:
        seat = await running(s)
        for key in ("next", "one more"):
            await s.seat("alice", key, environment=LIVE)
        await until(10)
        await s.decide(seat.match_id, "alice", LIVE)
        carol = await s.seat("carol", environment=LIVE)
        await until(12)
        gap = ((await rating(s, "alice")).mu - UNRATED.mu) / 1_000_000
        assert f'"ratingGap":{round(gap, 2)}' in ((await s.match_of(carol)).pairing or "")
        assert gap > 2
