"""A player's socket: it is opened again when it is lost, until the player knows the result."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

import msgspec
import trio
from cluster_torture.seen import Side, Told
from trio_websocket import (
    CloseReason,
    ConnectionClosed,
    ConnectionRejected,
    HandshakeError,
    WebSocketConnection,
    connect_websocket_url,
)
from wsproto.utilities import LocalProtocolError

THINK_S: Final = 0.6
"""Seconds that a player thinks about a move, at most: matches last about as long as a fault."""

CONNECT_S: Final = 2.0
SILENT_S: Final = 2.0
"""Seconds without a message after which a player sends a ping. After as many more seconds without a
message, the player opens another socket."""

AGAIN_S: Final = 0.2
MATCH_S: Final = 180.0
"""Seconds in which each match must end, whatever happens: four times the longest without faults."""

RESIGNED: Final = 0.005
"""Share of moves at which a player resigns instead."""

TOLD_AGAIN: Final = 0.3
"""Share of players who ask once more how their match has ended."""

_OUTAGES: Final = (429, 500, 502, 503, 504)
_LATER: Final = ("rate_limited", "registry_unavailable", "match_over", "stale_ply", "not_your_turn")
"""Refusals after which a player joins again: it knew an old position of the match, or the service
refused before it did anything."""

_REPLACED: Final = 4409
_GOING: Final = (1000, 1001, 1006, 1011, 1012, 1013)


class Player:
    """Plays one side of a match. `say` is told what went wrong."""

    def __init__(self, side: Side, proxy: str, choice: Random, say: Callable[[str], None]) -> None:
        self.side = side
        self.token = ""
        self._url = f"ws://{proxy}/game/socket"
        self._choice = choice
        self._say = say

    async def play(self) -> None:
        """Play until the end is known; note a match that does not end."""
        with trio.move_on_after(MATCH_S) as limit:
            while self.side.told is None:
                await self._once()
            if self._choice.random() < TOLD_AGAIN:
                while not await self._once():
                    pass
        if limit.cancelled_caught:
            self._say(f"{self.side.match_id} has not ended for {self.side.player_id}")

    async def _once(self) -> bool:
        """Open a socket and play; return whether it told how the match ended."""
        opened = False
        try:
            async with trio.open_nursery() as nursery:
                protocols = ["pgs.game.v1", f"pgs.token.{self.token}"]
                with trio.fail_after(CONNECT_S):
                    socket = await connect_websocket_url(nursery, self._url, subprotocols=protocols)
                opened = True
                try:
                    await self._converse(socket)
                finally:
                    nursery.cancel_scope.cancel()
        except* ConnectionRejected as refused:
            for error in _leaves(refused):
                if error.status_code not in _OUTAGES:
                    self._say(f"a socket of {self.side.player_id} was refused {error.status_code}")
        except* ConnectionClosed as closed:
            for error in _leaves(closed):
                if error.reason is not None and error.reason.code not in _GOING:
                    self._closed(error.reason)
        except* (HandshakeError, OSError, trio.TooSlowError, LocalProtocolError):
            pass
        else:
            return True
        self.side.drops += opened
        self.side.given_up += not opened
        await trio.sleep(AGAIN_S)
        return False

    def _closed(self, reason: CloseReason) -> None:
        """Count a socket that a given-up handshake replaced; report any other close as a fault."""
        if reason.code == _REPLACED and self.side.given_up:
            self.side.replaced += 1
        else:
            self._say(f"a socket of {self.side.player_id} was closed: {reason}")

    async def _converse(self, socket: WebSocketConnection) -> None:
        """Play on one socket until it tells how the match ended."""
        await self._send(socket, type="join", matchId=self.side.match_id)
        while True:
            seen = await self._hear(socket)
            kind = seen["type"]
            if kind == "ended":
                told = Told(
                    seen["outcome"], seen.get("result"), seen.get("endReason"), seen["dueUsdCents"]
                )
                self._note(self.side.hear(told))
                return
            if kind == "snapshot":
                self.side.you = seen["you"]
                for wrong in self.side.see_all(seen["ply"], seen["moves"]):
                    self._note(wrong)
            elif kind == "moved":
                self._note(self.side.see(seen["ply"] - 1, seen["move"]))
            elif kind == "error":
                if seen["reason"] not in _LATER:
                    self._say(f"{self.side.player_id} was refused: {seen}")
                await trio.sleep(AGAIN_S)
                await self._send(socket, type="join", matchId=self.side.match_id)
            if seen.get("legalMoves") and seen["turn"] == self.side.you:
                await self._move(socket, seen)

    async def _move(self, socket: WebSocketConnection, seen: dict[str, Any]) -> None:
        await trio.sleep(self._choice.uniform(0.05, THINK_S))
        match_id = self.side.match_id
        if self._choice.random() < RESIGNED:
            await self._send(socket, type="resign", matchId=match_id)
            return
        move = self._choice.choice(seen["legalMoves"])
        await self._send(socket, type="move", matchId=match_id, ply=seen["ply"], move=move)

    async def _hear(self, socket: WebSocketConnection) -> dict[str, Any]:
        """Return the next message about this match. TooSlowError if the socket is silent."""
        pinged = False
        while True:
            text: Any = None
            with trio.move_on_after(SILENT_S):
                text = await socket.get_message()
            if text is None:
                if pinged:
                    raise trio.TooSlowError
                pinged = True
                await self._send(socket, type="ping", id=1)
                continue
            seen: dict[str, Any] = msgspec.json.decode(text)
            about = seen.get("matchId", seen.get("ref", self.side.match_id))
            if seen["type"] == "pong":
                pinged = False
            elif about == self.side.match_id:
                return seen

    async def _send(self, socket: WebSocketConnection, **message: object) -> None:
        with trio.fail_after(SILENT_S):
            await socket.send_message(msgspec.json.encode(message).decode())

    def _note(self, wrong: str) -> None:
        if wrong:
            self._say(wrong)


def _leaves(group: BaseExceptionGroup[Any]) -> list[Any]:
    """Return the exceptions of nested groups."""
    found = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
