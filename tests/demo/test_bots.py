"""Bots play whole matches over the real Game API."""

import io
from pathlib import Path

import pytest
import trio
from rich.console import Console

from pgs.clock import SystemRng
from pgs.demo.arena import Arena
from pgs.demo.bots import BotStopped, Played, play_match
from pgs.demo.launch import NotLaunched, Player
from pgs.demo.printing import Teller
from pgs.demo.site import PLAYERS
from pgs.games.installed import installed_games
from tests.demo.site import Visit, visit
from tests.journeys.service import until
from tests.patience import PATIENCE_S

FIRST, SECOND = Player("bot-a", "Bot A"), Player("bot-b", "Bot B")
OPPOSITE = {"won": "lost", "lost": "won", "drawn": "drawn"}


async def _session(site: Visit, game_id: str, player: Player) -> tuple[str, str]:
    session = await site.launcher.mint(game_id, player)
    return session.game_socket_url, session.session_token


async def _until_sockets(site: Visit, open_ones: int) -> None:
    """Return once the service has this many open sockets."""
    told = b""
    while f"\npgs_open_sockets {open_ones}".encode() not in told:
        told = (
            await site.pool.request("GET", f"{site.service.internal_url}/internal/metrics")
        ).content


# A random game of chess takes long: it has hundreds of moves, at most 16 a second.
@pytest.mark.parametrize(
    "game_id",
    [
        pytest.param(game_id, marks=[pytest.mark.slow] if game_id == "chess" else [])
        for game_id in sorted(installed_games())
    ],
)
async def test_bots_play_a_match_to_its_end_and_the_feed_says_who_won(
    tmp_path: Path, game_id: str
) -> None:
    ends: dict[str, Played] = {}
    took: list[float] = []
    with trio.fail_after(180):
        async with visit(tmp_path) as site:
            match_id = await site.launcher.launch(game_id, FIRST, SECOND)

            async def play(player: Player) -> None:
                ends[player.player_id] = await play_match(
                    *await _session(site, game_id, player), SystemRng(), 0.0, on_move=took.append
                )

            async with trio.open_nursery() as nursery:
                nursery.start_soon(play, FIRST)
                nursery.start_soon(play, SECOND)
            rows = await site.rows_of(match_id, "ended")
    first, second = ends["bot-a"], ends["bot-b"]
    assert (first.match_id, first.game_id, first.you, first.outcome) == (
        match_id,
        game_id,
        0,
        "ended",
    )
    assert first.end_reason == second.end_reason == "completed"
    assert first.ply == second.ply == len(took)
    assert min(took) > 0
    assert first.result is not None
    assert second.result == OPPOSITE[first.result]
    assert {player: row["result"] for player, row in rows.items()} == {
        "bot-a": first.result,
        "bot-b": second.result,
    }


async def test_a_bot_that_joins_an_ended_match_returns_its_end(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            match_id = await site.launcher.launch("tic-tac-toe", FIRST, SECOND)
            await site.backend.decide(match_id, SECOND.player_id)
            end = await play_match(
                *await _session(site, "tic-tac-toe", FIRST), SystemRng(), 0.0, match_id=match_id
            )
            await site.launcher.call_off(match_id)  # has no effect on an ended match
            assert (await site.backend.match(match_id)).received["status"] == "ended"
    assert (end.game_id, end.outcome, end.result, end.end_reason) == (
        "tic-tac-toe",
        "ended",
        "lost",
        "decided_by_test_key",
    )


async def test_a_bot_waits_for_its_match_and_sees_it_called_off(tmp_path: Path) -> None:
    ends: list[Played] = []
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:

            async def wait() -> None:
                ends.append(
                    await play_match(*await _session(site, "reversi", SECOND), SystemRng(), 0.0)
                )

            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait)
                await trio.sleep(
                    0.2
                )  # the bot is probably connected now, but either order must work
                match_id = await site.launcher.launch("reversi", FIRST, SECOND)
                await trio.sleep(0.2)
                await site.launcher.call_off(match_id)
    assert [(end.outcome, end.result) for end in ends] == [("no_contest", None)]


async def test_a_bad_token_or_a_newer_socket_stops_a_bot(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            url, token = await _session(site, "tic-tac-toe", FIRST)
            with pytest.raises(BotStopped, match="status 401"):
                await play_match(url, token[:-4] + "AAAA", SystemRng(), 0.0)
            with pytest.raises(BotStopped, match="match_not_found"):
                await play_match(url, token, SystemRng(), 0.0, match_id="mat_" + "A" * 22)
            await _until_sockets(site, 0)
            async with trio.open_nursery() as nursery:

                async def replaced() -> None:
                    with pytest.raises(BotStopped, match="4409"):
                        await play_match(url, token, SystemRng(), 0.0)
                    nursery.cancel_scope.cancel()

                nursery.start_soon(replaced)
                await _until_sockets(site, 1)
                nursery.start_soon(play_match, url, token, SystemRng(), 0.0)


async def test_a_bot_reconnects_after_its_connection_has_broken(tmp_path: Path) -> None:
    """A proxy in front of the service cuts the first connection in the middle of a match."""
    ends: list[Played] = []
    connections = 0
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site, trio.open_nursery() as nursery:
            port = int(site.service.base_url.rpartition(":")[2])

            async def door(near: trio.SocketStream) -> None:
                nonlocal connections
                connections += 1
                first = connections == 1

                async def pass_on(source: trio.SocketStream, sink: trio.SocketStream) -> None:
                    count = 0
                    async for part in source:
                        count += 1
                        await sink.send_all(part)
                        # The four parts: the handshake's answer, the welcome, the snapshot, a move.
                        if first and sink is near and count == 4:
                            break
                    both.cancel_scope.cancel()

                async with (
                    await trio.open_tcp_stream("127.0.0.1", port) as far,
                    near,
                    trio.open_nursery() as both,
                ):
                    both.start_soon(pass_on, near, far)
                    both.start_soon(pass_on, far, near)

            (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
            nursery.start_soon(trio.serve_listeners, door, [listener])
            await site.launcher.launch("connect-four", FIRST, SECOND)

            async def play(player: Player, at: int) -> None:
                url, token = await _session(site, "connect-four", player)
                ends.append(
                    await play_match(url.replace(str(port), str(at)), token, SystemRng(), 0.0)
                )

            async with trio.open_nursery() as players:
                players.start_soon(play, FIRST, listener.socket.getsockname()[1])
                players.start_soon(play, SECOND, port)
            nursery.cancel_scope.cancel()
    assert connections == 2
    assert [end.end_reason for end in ends] == ["completed", "completed"]


async def test_the_arena_prints_the_result_of_every_match(tmp_path: Path) -> None:
    shown = io.StringIO()
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            arena = Arena(
                site.launcher,
                Teller(Console(file=shown, width=120)),
                SystemRng(),
                pace_s=0.0,
                pause_s=0.0,
            )
            async with trio.open_nursery() as nursery:
                nursery.start_soon(arena.play_on, 0)
                await until(lambda: "■    2" in shown.getvalue())
                nursery.cancel_scope.cancel()
    lines = [line.strip() for line in shown.getvalue().splitlines() if "■" in line]
    assert "Tic-tac-toe" in lines[0]
    assert "Connect Four" in lines[1]
    assert all("Bot 1" in line and "Bot 2" in line and "completed" in line for line in lines)


async def test_a_bot_plays_the_second_side_against_the_player_of_the_page(tmp_path: Path) -> None:
    shown = io.StringIO()
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            arena = Arena(
                site.launcher, Teller(Console(file=shown, width=120)), SystemRng(), pace_s=0.0
            )
            match_id = await site.launcher.launch("tic-tac-toe", *PLAYERS)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(arena.oppose, PLAYERS[1], PLAYERS[0], "tic-tac-toe", match_id)
                end = await play_match(
                    *await _session(site, "tic-tac-toe", PLAYERS[0]), SystemRng(), 0.0
                )
    assert end.end_reason == "completed"
    assert "Player two" in shown.getvalue()


async def test_a_refused_launch_says_which_call_and_why(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            with pytest.raises(NotLaunched, match="POST /partner/matches: 403 game_not_licensed"):
                await site.launcher.launch("go", FIRST, SECOND)
            with pytest.raises(NotLaunched, match="404 match_not_found"):
                await site.launcher.call_off("mat_" + "A" * 22)
