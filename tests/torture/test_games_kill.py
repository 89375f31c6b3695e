"""After a `kill -9` during many matches, bots reconnect and every match ends correctly."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from trio_websocket import (
    ConnectionClosed,
    ConnectionRejected,
    HandshakeError,
    WebSocketConnection,
    wrap_client_stream,
)
from wsproto.utilities import LocalProtocolError

from pgs.storage.ledger import check_ledger
from pgs.storage.sqlite.database import SqliteDatabase
from tests.torture.client import Connection
from tests.torture.server import Server

pytestmark = pytest.mark.torture

MATCHES, KILLS, PATIENCE_S = 30, 3, 300
GAME = "reversi"  # sixty moves, so several kills fall into the middle of a match
THINK_S = 0.15


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.end()


class Player(msgspec.Struct):
    """A player, and the last state of its match that it saw."""

    name: str
    token: str
    match_id: str = ""
    you: int = -1
    state: dict[str, Any] = {}
    result: str | None = None
    over: bool = False
    comebacks: int = -1
    plies: list[int] = []


async def _play(server: Server, player: Player) -> None:
    """Play to the end. Open a new socket whenever one is lost."""
    while not player.over:
        try:
            # Opened here, because trio-websocket does not close the stream of a lost connection.
            async with (
                await trio.open_tcp_stream("127.0.0.1", server.port) as stream,
                trio.open_nursery() as nursery,
            ):
                offer = ["pgs.game.v1", f"pgs.token.{player.token}"]
                socket = await wrap_client_stream(
                    nursery, stream, f"127.0.0.1:{server.port}", "/game/socket", subprotocols=offer
                )
                player.comebacks += 1
                await _converse(socket, player, random.Random(player.name))
                nursery.cancel_scope.cancel()
        except* (
            OSError,
            ConnectionClosed,
            ConnectionRejected,
            HandshakeError,
            LocalProtocolError,
            trio.BrokenResourceError,
        ):
            await trio.sleep(0.1)


async def _converse(socket: WebSocketConnection, player: Player, choice: random.Random) -> None:
    await socket.send_message(
        '{"type":"join"}'
        if not player.match_id
        else json.dumps({"type": "join", "matchId": player.match_id})
    )
    while not player.over:
        seen = json.loads(await socket.get_message())
        assert seen["type"] != "error", seen
        if seen["type"] in ("snapshot", "moved"):
            assert not player.plies or seen["ply"] >= player.plies[-1], (
                "a move that was shown is gone"
            )
            player.plies.append(seen["ply"])
            player.state = seen["state"]
        if seen["type"] == "snapshot":
            player.match_id, player.you = seen["matchId"], seen["you"]
        if seen["type"] == "ended" or seen.get("status", "started") != "started":
            player.result, player.over = seen.get("result"), True
        elif seen.get("legalMoves") and seen["turn"] == player.you:
            await trio.sleep(choice.uniform(0, 2 * THINK_S))
            move = {
                "type": "move",
                "matchId": player.match_id,
                "ply": seen["ply"],
                "move": choice.choice(seen["legalMoves"]),
            }
            await socket.send_message(json.dumps(move))


async def _seat(connection: Connection, keys: dict[str, str], number: int) -> Player:
    """Take a seat for a new player."""
    body = {"gameId": GAME, "playerId": f"player-{number:03}"}
    _, _, session = await connection.call("POST", "/partner/sessions", keys["testKey"], body)
    seat = body | {
        "tierId": keys["tierId"],
        "stakeUsdCents": 100,
        "idempotencyKey": f"key-{number}",
    }
    status, _, answer = await connection.call("POST", "/partner/matches", keys["testKey"], seat)
    assert status == 200, answer
    return Player(body["playerId"], session["sessionToken"])


def _check_match(first: Player, second: Player, rows: dict[str, dict[str, Any]]) -> None:
    """Check that both players saw one end of one match, and that the feed has it with its money."""
    assert (first.match_id, first.state) == (second.match_id, second.state)
    mine, theirs = first.state["scores"]
    if mine == theirs:
        results = ("drawn", "drawn")
    else:
        results = ("won", "lost") if mine > theirs else ("lost", "won")
    assert (first.result, second.result) == results
    money = {"won": (180, 0), "lost": (0, 0), "drawn": (0, 100)}
    for player, result in zip((first, second), results, strict=True):
        row = rows[player.name]
        shown = (row["matchId"], row["outcome"], row["result"], row["endReason"])
        assert shown == (player.match_id, "ended", result, "completed")
        assert (row["payoutUsdCents"], row["refundUsdCents"]) == money[result]


async def test_kills_end_no_match_and_lose_no_move_that_was_shown(server: Server) -> None:
    [keys] = server.seed(1)
    server.start()
    connection = Connection(server.base_url)
    players = [await _seat(connection, keys, number) for number in range(2 * MATCHES)]
    await connection.close()

    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            for player in players:
                nursery.start_soon(_play, server, player)
            for _ in range(KILLS):
                await trio.sleep(1.5)
                assert not any(player.over for player in players), "the match ended before the kill"
                await trio.to_thread.run_sync(server.end)
                await trio.to_thread.run_sync(server.start)

    rows = await _feed(Connection(server.base_url), keys["testKey"])
    assert await trio.to_thread.run_sync(server.stop)
    assert all(player.comebacks >= KILLS for player in players)
    assert len(rows) == 2 * MATCHES
    for first, second in zip(players[::2], players[1::2], strict=True):
        _check_match(first, second, rows)
    database = SqliteDatabase(server.folder)
    report = await check_ledger(database.reader)
    database.close()
    assert report.sound, report
    assert [totals.open_usd_cents for totals in report.totals] == [0]


async def _feed(connection: Connection, key: str) -> dict[str, dict[str, Any]]:
    """Return the feed's rows by player, once the money of all matches is recorded."""
    with trio.fail_after(PATIENCE_S):
        while True:
            _, _, page = await connection.call("GET", "/partner/results?limit=500", key)
            if all("payoutUsdCents" in row for row in page["results"]):
                await connection.close()
                return {row["playerId"]: row for row in page["results"]}
            await trio.sleep(0.1)
