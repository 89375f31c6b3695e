"""Players under faults: they play matches over sockets through the proxy, and remember."""

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, Final

import msgspec
import trio
from cluster_parts.cluster import call
from cluster_torture.seen import Side, wrong_in
from cluster_torture.sockets import Player
from cluster_torture.threads import Threads

from pgs.games.installed import load_games
from pgs.operator.ready_partners import ReadyPartner

CALL_S: Final = 1.0
AGAIN_S: Final = 0.2
"""Seconds before a call that failed is made again."""

PAID_S: Final = 60.0
"""Seconds that the feed may take to show the money of the last match."""

GAMES: Final = ("connect-four", "reversi")
"""Games of these players. The backends' players have tic-tac-toe, so the two never meet."""

_OUTAGES: Final = (0, 429, 500, 502, 503, 504)


class Match(msgspec.Struct):
    """A match: its partner's number, its game, and what its two players have seen of it."""

    partner: int
    game_id: str
    sides: tuple[Side, Side]


class Players(Threads):
    """Two players of each partner, who play one match after the other."""

    def __init__(self, partners: Sequence[ReadyPartner], proxy: str, seed: float) -> None:
        super().__init__(self._work)
        self._partners = partners
        self._proxy = proxy
        self._seed = seed
        self._games = load_games()
        self.matches: list[Match] = []
        self.found: list[str] = []

    @property
    def moves(self) -> int:
        """How many moves were played in all matches."""
        return sum(len(match.sides[0].moves | match.sides[1].moves) for match in self.matches)

    @property
    def drops(self) -> int:
        """How many open sockets were lost."""
        return sum(side.drops for match in self.matches for side in match.sides)

    @property
    def replaced(self) -> int:
        """How many open sockets the service closed because it read an older handshake late.

        The player had given the older handshake up before opening the socket. The service read that
        handshake afterwards, took it for the player's newest socket, and closed the open one.
        """
        return sum(side.replaced for match in self.matches for side in match.sides)

    def _work(self) -> None:
        try:
            trio.run(self._play_all)
        except Exception as error:  # a fault of this script must not pass for a clean run
            self.found.append(f"the players broke: {error!r}")

    async def _play_all(self) -> None:
        async with trio.open_nursery() as nursery:
            for number in range(len(self._partners)):
                nursery.start_soon(self._play_on, number, Random(self._seed + number))

    async def _play_on(self, number: int, choice: Random) -> None:
        partner, played = self._partners[number], 0
        while not self._ended.is_set():
            played += 1
            game_id = GAMES[(number + played) % len(GAMES)]
            name = f"{partner.partner_id}-player-{played}"
            sides = Side(f"{name}-a"), Side(f"{name}-b")
            players = [Player(side, self._proxy, choice, self.found.append) for side in sides]
            for player in players:
                player.token = await self._token(partner, game_id, player.side)
                await self._seat(partner, game_id, player.side)
            sides[0].match_id = sides[1].match_id = await self._seat(partner, game_id, sides[1])
            if not sides[0].match_id:
                return  # the end came first
            self.matches.append(Match(number, game_id, sides))
            async with trio.open_nursery() as nursery:
                for player in players:
                    nursery.start_soon(player.play)

    async def _token(self, partner: ReadyPartner, game_id: str, side: Side) -> str:
        body = {"gameId": game_id, "playerId": side.player_id}
        told = await self._surely(partner, "/partner/sessions", body)
        return str(told["sessionToken"]) if told else ""

    async def _seat(self, partner: ReadyPartner, game_id: str, side: Side) -> str:
        """Return the match of a paid seat; empty without one."""
        body = {
            "playerId": side.player_id,
            "gameId": game_id,
            "tierId": "test-bronze",
            "stakeUsdCents": 100,
            "idempotencyKey": side.player_id,
        }
        told = await self._surely(partner, "/partner/matches", body)
        side.seat_id = told.get("seatId", "")
        return str(told.get("matchId") or "")

    async def _surely(self, partner: ReadyPartner, path: str, body: Any) -> dict[str, Any]:
        """Return the answer to a call, made again until it succeeds; empty if the end comes."""
        while not self._ended.is_set():
            status, told = await self._call("POST", path, partner.test_key, body)
            if status == 200:
                return dict(told)
            if status not in _OUTAGES:
                self.found.append(f"{path} of {partner.partner_id} was answered {status} {told}")
            await trio.sleep(AGAIN_S)
        return {}

    async def _call(self, method: str, path: str, key: str, body: Any = None) -> tuple[int, Any]:
        make: Callable[[], tuple[int, Any]] = partial(
            call, self._proxy, method, path, key, body, timeout=CALL_S
        )
        try:
            return await trio.to_thread.run_sync(make)
        except OSError:
            return 0, None

    # After the faults

    def look(self) -> None:
        """Compare each match with what its players saw. Everything that is wrong goes to `found`.

        The feeds are read here from their beginnings. Backends read theirs in pieces during the
        run, so both ways of reading are checked.
        """
        try:
            trio.run(self._look)
        except Exception as error:
            self.found.append(f"comparing the matches broke: {error!r}")

    async def _look(self) -> None:
        async with trio.open_nursery() as nursery:
            for number in range(len(self._partners)):
                nursery.start_soon(self._compare, number)

    async def _compare(self, number: int) -> None:
        mine = [match for match in self.matches if match.partner == number]
        give_up_at = trio.current_time() + PAID_S
        while True:
            rows = await self._feed(self._partners[number].test_key)
            wrong = [
                found
                for match in mine
                for found in wrong_in(match.sides, rows, self._games[match.game_id])
            ]
            if not wrong or trio.current_time() > give_up_at:
                break
            await trio.sleep(1)
        self.found += wrong[:5]

    async def _feed(self, key: str) -> dict[str, dict[str, Any]]:
        """Return the newest row of each seat."""
        rows: dict[str, dict[str, Any]] = {}
        cursor, more = "", True
        while more:
            path = "/partner/results?limit=500" + (cursor and f"&cursor={cursor}")
            status, page = await self._call("GET", path, key)
            if status != 200:
                await trio.sleep(AGAIN_S)
                continue
            rows |= {row["seatId"]: row for row in page["results"]}
            cursor, more = page["nextCursor"], page["hasMore"]
        return rows
