"""A live match that is really played: two paid seats, and two players with open sockets."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import trio

from tests.browser.members import by_live_key
from tests.journeys.play import Bot, socket_of
from tests.patience import PATIENCE_S


class LiveMatch:
    """A running match of which the first move has been played."""

    def __init__(self, players: tuple[str, str]) -> None:
        self.players = players
        self.match_id = ""
        self.winner = ""  # who wins once the other player has resigned
        self._runs, self._resigns, self._ended = (threading.Event() for _ in range(3))

    def resign(self) -> None:
        """Have the player resign who has moved; return once the match has ended."""
        self._resigns.set()
        assert self._ended.wait(PATIENCE_S)

    async def play(self, base_url: str, tokens: dict[str, str]) -> None:
        """Play the first move, and later resign."""
        with trio.fail_after(4 * PATIENCE_S):
            async with (
                socket_of(base_url, tokens[self.players[0]]) as one,
                socket_of(base_url, tokens[self.players[1]]) as two,
            ):
                shown = [await bot.hear_until("snapshot") for bot in (one, two)]
                mover = next(number for number in (0, 1) if shown[number]["you"] == 0)
                await self._move((one, two)[mover], shown[mover])
                self.match_id, self.winner = shown[mover]["matchId"], self.players[1 - mover]
                self._runs.set()
                await trio.to_thread.run_sync(self._resigns.wait, abandon_on_cancel=True)
                await (one, two)[mover].send("resign", matchId=self.match_id)
                await (one, two)[mover].hear_until("ended")
                self._ended.set()

    async def _move(self, bot: Bot, shown: dict[str, Any]) -> None:
        move = {"matchId": shown["matchId"], "ply": 0, "move": shown["legalMoves"][0]}
        await bot.send("move", **move)
        await bot.hear_until("moved")

    def wait(self) -> None:
        """Return once the first move has been played."""
        assert self._runs.wait(PATIENCE_S)


@contextmanager
def running_live_match(demo: dict[str, str], *players: str) -> Iterator[LiveMatch]:
    """Have two players of the demo's account play tic-tac-toe in live for a block."""
    first, second = players
    place = {"gameId": "tic-tac-toe"}
    paid = {"tierId": "live-bronze", "stakeUsdCents": 100}
    tokens = {}
    for player in (first, second):
        named = place | {"playerId": player}
        session = by_live_key(demo, "POST", "/partner/sessions", named)
        tokens[player] = session["sessionToken"]
        seat = named | paid | {"idempotencyKey": player}
        assert by_live_key(demo, "POST", "/partner/matches", seat)["_status"] == 200
    match = LiveMatch((first, second))
    # In a thread of its own: the thread of the tests runs the browser's loop.
    thread = threading.Thread(target=trio.run, args=(match.play, demo["baseUrl"], tokens))
    thread.start()
    try:
        match.wait()
        yield match
    finally:
        match.resign()
        thread.join()
