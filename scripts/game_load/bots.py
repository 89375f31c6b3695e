"""Bots over real sockets: each plays one side of one match to its end and records what it saw."""

import math
import time
from collections.abc import Callable, Sequence
from random import Random
from urllib.parse import urlsplit

import httpcore
import msgspec
import trio
from game_load.bot_socket import BotSocket, SocketClosed, connect
from load.story import LoadFailed
from load.times import Times

from pgs.demo.pool import ConnectionPool
from pgs.domain import socket_frames as frames

LAUNCHES_AT_ONCE = 32
CONNECTS_AT_ONCE = 100  # handshakes at the same time; the listener's queue holds 512
# Seconds between two moves of a bot. The service closes a socket that sends more than 20 messages
# a second.
APART_S = 0.06
PROTOCOL = "pgs.game.v1"


class Partner(msgspec.Struct, frozen=True, rename="camel"):
    """A partner, with the key and the tier with which its backend takes seats."""

    partner_id: str
    test_key: str
    tier_id: str


class Pair(msgspec.Struct, frozen=True):
    """A match to launch: its partner, its game and its two players, in the order of their seats."""

    partner: Partner
    game_id: str
    players: tuple[str, str]


class Side(msgspec.Struct):
    """A match as one of its players saw it.

    `moves`: the moves of both sides by number, from 0; a player who comes late misses the first
    moves. `fault`: why the bot stopped early, else empty.
    """

    match_id: str = ""
    you: int = -1
    moves: dict[int, str] = {}
    result: str | None = None
    outcome: str = ""
    end_reason: str = ""
    fault: str = ""


class _Message(msgspec.Struct, rename="camel"):
    type: str
    match_id: str = ""
    you: int = -1
    ply: int = -1
    by: int = -1
    move: str = ""
    turn: int = -1
    legal_moves: list[str] = []
    outcome: str = ""
    result: str | None = None
    end_reason: str = ""
    reason: str = ""


class Crowd:
    """All bots of one round. `tick` is called when a match has ended for its first player.

    `times` has the time of each move from its sending to its `moved`, as calls of one kind, `kind`.
    """

    def __init__(
        self,
        base_url: str,
        pairs: Sequence[Pair],
        think_s: float,
        stake_usd_cents: int,
        tick: Callable[[], None],
    ) -> None:
        self._base_url, self._pairs, self._think_s, self._stake, self._tick = (
            base_url,
            pairs,
            think_s,
            stake_usd_cents,
            tick,
        )
        self.sides: dict[str, Side] = {}  # by player
        self.times, self.kind = Times(), f"thinking {think_s:g} s"
        self.moved_at: list[float] = []
        self.handshakes_s = 0.0
        self.play_s = 0.0
        self.cpu_s = 0.0  # processor time of this process while the bots played
        self._open = trio.Event()  # set when every socket is open
        self._measured = trio.Event()  # set when `connected` has returned
        self._joined = trio.Event()  # set when every bot has seen the beginning of its match
        self._http = ConnectionPool(max_connections=LAUNCHES_AT_ONCE)
        self._launching = trio.CapacityLimiter(LAUNCHES_AT_ONCE)
        self._connecting = trio.CapacityLimiter(CONNECTS_AT_ONCE)
        self._to_connect = self._to_join = 2 * len(pairs)
        self._decoder = msgspec.json.Decoder(_Message)

    async def call(
        self, method: str, key: str, path: str, body: object = None
    ) -> dict[str, object]:
        """Return the answer to a partner's call. Raises `LoadFailed` unless its status is 200."""
        headers: list[tuple[bytes | str, bytes | str]] = [
            ("Host", urlsplit(self._base_url).netloc),
            ("Authorization", f"Bearer {key}"),
        ]
        content = b"" if body is None else msgspec.json.encode(body)
        try:
            response = await self._http.request(
                method, self._base_url + path, headers=headers, content=content
            )
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise LoadFailed(f"{method} {path}: {error!r}") from error
        if response.status != 200:
            raise LoadFailed(f"{method} {path}: {response.status} {response.content.decode()}")
        return msgspec.json.decode(response.content, type=dict[str, object])

    async def play(
        self,
        connected: Callable[[], None] = lambda: None,
        began: Callable[[], None] = lambda: None,
    ) -> None:
        """Launch all matches, connect all bots and let them play; return when all have left.

        `connected` is called when all sockets are open, `began` when all bots have joined their
        matches and are about to make the first moves.
        """
        tokens: dict[str, str] = {}
        async with trio.open_nursery() as nursery:
            for partner in {pair.partner.partner_id: pair.partner for pair in self._pairs}.values():
                nursery.start_soon(
                    self._launch, [pair for pair in self._pairs if pair.partner == partner], tokens
                )
        connecting = trio.current_time()
        async with trio.open_nursery() as nursery:
            for pair in self._pairs:
                for player in pair.players:
                    self.sides[player] = Side()
                    nursery.start_soon(
                        self._bot,
                        player,
                        tokens[player],
                        self._tick if player == pair.players[0] else lambda: None,
                    )
            await self._open.wait()
            self.handshakes_s = trio.current_time() - connecting
            connected()
            self._measured.set()
            await self._joined.wait()
            began()
            begin, cpu = trio.current_time(), time.process_time()
        self.play_s, self.cpu_s = trio.current_time() - begin, time.process_time() - cpu
        self.moved_at = [at - begin for at in self.moved_at]

    async def aclose(self) -> None:
        """Close the connections of the partners' backends."""
        await self._http.aclose()

    async def _launch(self, pairs: Sequence[Pair], tokens: dict[str, str]) -> None:
        """Mint sessions and take seats for a partner's players.

        They are seated one after another, so that the two of each pair are matched.
        """
        for pair in pairs:
            async with self._launching:
                for player in pair.players:
                    key, body = pair.partner.test_key, {"gameId": pair.game_id, "playerId": player}
                    tokens[player] = str(
                        (await self.call("POST", key, "/partner/sessions", body))["sessionToken"]
                    )
                    seat = {
                        "tierId": pair.partner.tier_id,
                        "stakeUsdCents": self._stake,
                        "idempotencyKey": player,
                    }
                    await self.call("POST", key, "/partner/matches", body | seat)

    async def _bot(self, player: str, token: str, tick: Callable[[], None]) -> None:
        async with self._connecting:
            protocols = [PROTOCOL, f"pgs.token.{token}"]
            try:
                socket = await connect(self._base_url, "/game/socket", protocols)
            except (SocketClosed, OSError) as error:
                raise LoadFailed(f"a socket of {player}: {error}") from error
        self._to_connect -= 1
        if self._to_connect == 0:
            self._open.set()
        await self._measured.wait()
        try:
            await self._converse(socket, self.sides[player], Random(player))
        except SocketClosed as closed:
            self.sides[player].fault = str(closed)
        if self.sides[player].you == -1:  # the others must not wait for this bot
            self._count_joined()
        tick()
        await socket.aclose()

    def _count_joined(self) -> None:
        self._to_join -= 1
        if self._to_join == 0:
            self._joined.set()

    async def _converse(self, socket: BotSocket, side: Side, choice: Random) -> None:
        await socket.send('{"type":"join"}')
        sent_at = -math.inf
        while not side.outcome:
            seen = self._decoder.decode(await socket.get())
            if seen.type == "snapshot":
                if side.you == -1:
                    self._count_joined()
                side.match_id, side.you = seen.match_id, seen.you
                await self._joined.wait()
            elif seen.type == "moved":
                side.moves[seen.ply - 1] = seen.move
                if seen.by == side.you:
                    now = trio.current_time()
                    self.times.add(self.kind, now - sent_at)
                    self.moved_at.append(now)
            elif seen.type == "ended":
                side.outcome, side.result, side.end_reason = (
                    seen.outcome,
                    seen.result,
                    seen.end_reason,
                )
            elif seen.type == "error":
                side.fault = seen.reason
                return
            if seen.legal_moves and seen.turn == side.you:
                await trio.sleep(
                    max(
                        choice.uniform(0, 2 * self._think_s),
                        sent_at + APART_S - trio.current_time(),
                    )
                )
                sent_at = trio.current_time()
                await socket.send(
                    frames.encode(
                        frames.MakeMove(seen.match_id, seen.ply, choice.choice(seen.legal_moves))
                    )
                )
