"""What a player's socket is told while no match runs: which seat waits, or that none does."""

from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.actors.messages.seats import CancelSeat
from pgs.actors.waiting_seats import find_standing, send_standing, tell_of_seat_soon
from pgs.domain.socket_frames import NoSeat
from tests.actors.playing import Player, at_table, seated
from tests.actors.ready_core import FLOOR, PRIZE, ReadyCore, ready_core, settle


async def following(core: ReadyCore, player_id: str) -> Player:
    """Return a player whose socket was told to wait."""
    player = await Player(core, player_id).enter()
    player.player_socket.follows_seats = True
    send_standing(player.player_socket, (await find_standing(core.parts, player.key)).frame)
    return player


async def test_a_socket_hears_at_once_when_a_seat_is_taken_and_when_it_is_given_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        ann = await following(s, "ann")
        first = await s.seat("ann", "first")
        second = await s.seat("ann", "second")
        await settle()
        unpaid, waiting = ann.take()
        assert unpaid == {"type": "no_seat"}
        assert waiting == {
            "type": "waiting",
            "seatId": first.seat_id,
            "gameId": first.game_id,
            "seatedAt": first.seated_at,
            "expiresAt": first.expires_at,
            "stakeUsdCents": FLOOR,
            "prizeUsdCents": PRIZE,
        }, "the second seat changes nothing: the first one is still the oldest"
        for seat in (first, second):
            await s.partner().seats("test").ask(CancelSeat(seat.seat_id))
            await settle()
        older, none = ann.take()
        assert (older["type"], older["seatId"]) == ("waiting", second.seat_id)
        assert none == {"type": "no_seat"}


async def test_a_socket_that_never_asked_is_told_nothing_of_waiting_seats(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        ann = await Player(s, "ann").enter()
        await s.seat("ann")
        await settle()
        assert ann.take() == []


async def test_while_a_player_plays_nothing_is_said_of_waiting_seats_until_the_end(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        for player in (ann, bob):
            player.player_socket.follows_seats = True
        again = await s.seat("ann", "again")
        await settle()
        assert ann.take() == []
        await bob.resign(match_id)
        await settle()
        ended, waiting = ann.take()
        assert (ended["type"], waiting["type"]) == ("ended", "waiting")
        assert waiting["seatId"] == again.seat_id
        assert bob.kinds() == ["ended"], "the end of the match stays on the screen"


async def test_a_socket_that_was_replaced_is_told_nothing_more(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        older = await following(s, "ann")
        older.take()
        await Player(s, "ann").enter()
        await s.seat("ann")
        tell_of_seat_soon(s.parts, older.player_socket)
        await settle()
        assert older.take() == []


@pytest.mark.parametrize(
    ("winner", "due"),
    [("ann", {"ann": PRIZE, "bob": 0}), (None, {"ann": FLOOR, "bob": FLOOR})],
)
async def test_the_end_tells_each_player_what_they_get(
    winner: str | None, due: dict[str, int], tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await s.decide(match_id, winner)
        await settle()
        ends = {player.player_id: player.take()[-1]["dueUsdCents"] for player in (ann, bob)}
        assert ends == due


async def test_a_match_that_is_void_gives_back_what_each_player_staked(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_prices({"bronze": FLOOR + 50})
        await s.seat("ann", "ann", FLOOR + 50)
        await s.set_prices({})
        ann, bob = [await Player(s, player).enter() for player in ("ann", "bob")]
        await seated(s, "bob")
        await settle()
        stakes = [player.take()[0]["stakeUsdCents"] for player in (ann, bob)]
        assert stakes == [FLOOR + 50, FLOOR]
        await s.close_play("platform_void")
        await settle()
        assert [player.take()[-1]["dueUsdCents"] for player in (ann, bob)] == stakes
        assert (await find_standing(s.parts, ann.key)).frame == NoSeat()
