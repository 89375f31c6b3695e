"""A game that is taken out of the installation: the next start ends its matches."""

from contextlib import AbstractContextManager
from pathlib import Path
from unittest import mock

import pytest
import trio
import trio.testing
from trio.testing import MockClock

import pgs.app
from pgs.actors.seating import switching_off
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.matches import Match
from pgs.domain.seats import Seat
from pgs.games.installed import load_games
from tests.actors.playing import at_table
from tests.actors.ready_core import GAME, ReadyCore, money, ready_core, settle, until
from tests.virtual import Faults


def without_the_game() -> AbstractContextManager[object]:
    games = load_games()
    del games[GAME]
    return mock.patch.object(pgs.app, "load_games", return_value=games)


async def pair(s: ReadyCore, name: str, game: str = GAME, partner: str = "acme") -> Seat:
    """Start a match in test and return its older seat."""
    older = await s.seat(f"{name}-1", game=game, partner=partner)
    assert (await s.seat(f"{name}-2", game=game, partner=partner)).status == "matched"
    return older


def ended_as(match: Match) -> tuple[str, str | None, str]:
    return match.status, match.end_reason, match.money


VOID = ("no_contest", "platform_void", "recorded")


@pytest.mark.parametrize("many", [3, 2 * switching_off.PAGE + 1])
async def test_a_start_ends_the_matches_of_a_game_that_is_not_installed(
    many: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("beta")
        removed = [await pair(s, f"acme{number}") for number in range(many)] + [
            await pair(s, "beta", partner="beta")
        ]
        kept = await pair(s, "reversi", game="reversi")
    with without_the_game():
        async with ready_core(tmp_path) as s:
            assert {(await s.match_of(seat)).status for seat in removed} == {"started"}, (
                "the start waits for no match to end"
            )
            await settle()
            assert {ended_as(await s.match_of(seat)) for seat in removed} == {VOID}
            assert {money(await s.row(seat)) for seat in removed} == {(0, 100, 0)}
            assert (await s.match_of(kept)).status == "started"
            await s.check_money()


async def test_a_match_that_has_moves_is_ended_too(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, _ = await at_table(s)
        assert await ann.move(match_id, 0, "a1") is None
    with without_the_game():
        async with ready_core(tmp_path) as s:
            await settle()
            assert ended_as(await s.match_of(await s.by_key("ann"))) == VOID


async def test_matches_that_one_start_leaves_open_are_ended_by_the_next(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        seats = [await pair(s, str(number)) for number in range(switching_off.PAGE + 1)]
    faults = Faults()
    with without_the_game():
        faults.fail("update match set", skip=switching_off.PAGE)  # the first page's ends pass
        async with ready_core(tmp_path, faults=faults) as s:
            await settle()
            assert [(await s.match_of(seat)).status for seat in seats].count("started") == 1
        async with ready_core(tmp_path) as s:
            await settle()
            assert {ended_as(await s.match_of(seat))[:2] for seat in seats} == {VOID[:2]}
            await until(70)
            assert {ended_as(await s.match_of(seat)) for seat in seats} == {VOID}
            await s.check_money()


async def test_a_partner_whose_matches_cannot_be_ended_now_delays_no_other(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("beta")
        acme = [await pair(s, f"acme{number}") for number in range(2 * switching_off.PAGE + 1)]
        beta = await pair(s, "beta", partner="beta")
    events: list[str] = []
    with without_the_game():
        async with ready_core(tmp_path, on_event=events.append) as s:
            now = trio.current_time()
            for _ in range(4):
                s.partner().restarts.crashed(now)
            await settle()
            assert (
                {(await s.match_of(seat)).status for seat in acme},
                ended_as(await s.match_of(beta)),
            ) == (
                {"started"},
                VOID,
            )
            assert events.count("void_put_off") == 1, "not once for each page"
            await until(61)
            assert {ended_as(await s.match_of(seat)) for seat in acme} == {VOID}


async def test_a_match_that_a_closing_under_way_leaves_open_ends_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        acme = await pair(s, "acme")
    with without_the_game():
        async with ready_core(tmp_path) as s:
            with s.parts.closings.begun("acme", ENVIRONMENTS):
                await settle()
                assert (await s.match_of(acme)).status == "started"
            await until(61)
            assert ended_as(await s.match_of(acme)) == VOID


async def test_seats_that_wait_for_a_removed_game_expire(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.seat("ann", environment="live")
    with without_the_game():
        async with ready_core(tmp_path) as s:
            await until(299)
            assert (await s.by_key("ann", "live")).status == "waiting"
            await until(301)
            seat = await s.by_key("ann", "live")
            assert (seat.status, seat.end_reason, money(seat)) == (
                "no_contest",
                "no_opponent",
                (0, 100, 0),
            )


async def test_a_match_of_a_removed_game_that_begins_after_the_start_ends_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    with without_the_game():
        async with ready_core(tmp_path) as s:
            await until(1)
            seat = await pair(
                s, "late"
            )  # the actor checks no licence, so it pairs seats that were taken earlier
            await until(59)
            assert (await s.match_of(seat)).status == "started"
            await until(61)
            assert ended_as(await s.match_of(seat)) == VOID
