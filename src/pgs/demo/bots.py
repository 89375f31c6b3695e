"""Players who are programs: they play over the Game API's WebSocket as any player's frame does, with a session token and nothing else.

A bot is a task that waits nearly all of the time, so that thousands of them fit into one process; load scripts play with them too.
"""

import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import trio
from trio_websocket import (
    ConnectionClosed,
    ConnectionRejected,
    HandshakeError,
    WebSocketConnection,
    wrap_client_stream,
)
from wsproto.utilities import LocalProtocolError

from pgs.clock import Rng

APART_S: Final = 0.06
"""Seconds between two messages of a bot. The service closes a socket that sends more than 20
messages a second."""

TRIES_MAX: Final = 8
"""Connections in a row that may fail before a bot gives up. A move that arrives starts the count
again."""

ERRORS_MAX: Final = 8
"""Messages of a bot that may be refused in one match before the bot gives up: more is a fault of
the bot."""

AGAIN_S: Final = 0.25
"""Seconds before a second try to connect. Each further one waits twice as long, up to
AGAIN_MAX_S."""

AGAIN_MAX_S: Final = 5.0
"""Seconds of the longest wait between two tries to connect, so that a bot is back soon after an
outage."""

_CONNECT_S: Final = 20.0
"""Seconds for a bot's connection and handshake. A busy listener takes its time."""

_CLOSE_S: Final = 2.0
"""Seconds that a bot waits for its close frame to be answered. Nothing depends on the answer."""

_PROTOCOL: Final = "pgs.game.v1"
_COME_BACK: Final = (
    1001,
    1006,
    1011,
    4503,
)  # the service stops, the connection broke, the registry cannot be read: none of them for good


class Played(msgspec.Struct, frozen=True):
    """How a match went for one side. `outcome`: `ended` or `no_contest`, which has no `result`. `ply`: the moves of both."""

    match_id: str
    game_id: str
    you: int
    outcome: str
    result: str | None
    end_reason: str | None
    ply: int


class BotStopped(Exception):
    """A bot cannot go on with its match. The message is the status, the close code or the reason that it was told."""


class _Lost(Exception):
    """The connection has ended, and a new one may do better."""


class _Seen(msgspec.Struct):
    """What one bot knows of its match."""

    match_id: str | None
    game_id: str = ""
    you: int = -1
    ply: int = 0
    tries: int = 0
    errors: int = 0
    sent_at: float = float("-inf")
    sent_ply: int = -1


async def play_match(
    url: str,
    token: str,
    rng: Rng,
    pace_s: float,
    *,
    match_id: str | None = None,
    trust: ssl.SSLContext | None = None,
    on_move: Callable[[float], None] | None = None,
) -> Played:
    """Play random legal moves until a match has ended, and return how; come back after a lost connection.

    `url` is a session's `gameSocketUrl`. The match is `match_id`, else the oldest one of the player's that runs, else the next that
    begins. Before a move it thinks for half to one and a half times `pace_s` seconds. `on_move` hears, in seconds, how long each of its
    moves took until it was told back. Raises `BotStopped`.
    """
    seen = _Seen(match_id)
    while True:
        try:
            async with _socket(url, token, trust) as socket:
                return await _play(socket, seen, rng, pace_s, on_move)
            raise _Lost("the connection broke")
        except _Lost as lost:
            seen.tries += 1
            if seen.tries >= TRIES_MAX:
                raise BotStopped(str(lost)) from lost
            await trio.sleep(min(AGAIN_MAX_S, AGAIN_S * 2.0 ** (seen.tries - 1)))


async def _play(
    socket: WebSocketConnection,
    seen: _Seen,
    rng: Rng,
    pace_s: float,
    on_move: Callable[[float], None] | None,
) -> Played:
    await _join(socket, seen)
    while True:
        message = await _hear(socket)
        kind = message["type"]
        if kind == "error":
            await _refused(socket, seen, str(message["reason"]))
        elif kind not in ("snapshot", "moved", "ended") or seen.match_id not in (
            None,
            message["matchId"],
        ):
            continue
        elif kind == "ended" or message.get("status", "started") != "started":
            if seen.match_id is not None or kind == "snapshot":
                return _ending(message, seen)
        else:
            if kind == "snapshot":
                seen.match_id, seen.game_id, seen.you = (
                    message["matchId"],
                    message["gameId"],
                    message["you"],
                )
            elif (
                message["by"] == seen.you
                and message["ply"] == seen.sent_ply + 1
                and on_move is not None
            ):
                on_move(trio.current_time() - seen.sent_at)
            seen.ply, seen.tries = message["ply"], 0
            if message["legalMoves"] and message["turn"] == seen.you:
                await _move(socket, seen, message["legalMoves"], rng, pace_s)


def _ending(message: dict[str, Any], seen: _Seen) -> Played:
    """Return what an `ended`, or a snapshot after the end, says."""
    return Played(
        message["matchId"],
        message.get("gameId", seen.game_id),
        message.get("you", seen.you),
        message.get("outcome") or message["status"],
        message.get("result"),
        message.get("endReason"),
        message.get("ply", seen.ply),
    )


async def _join(socket: WebSocketConnection, seen: _Seen) -> None:
    await _send(
        socket,
        {"type": "join"} if seen.match_id is None else {"type": "join", "matchId": seen.match_id},
    )


async def _move(
    socket: WebSocketConnection, seen: _Seen, legal: Sequence[str], rng: Rng, pace_s: float
) -> None:
    think_s = pace_s * (0.5 + int.from_bytes(rng.bytes(2)) / 0xFFFF)
    await trio.sleep(max(think_s, seen.sent_at + APART_S - trio.current_time()))
    seen.sent_at, seen.sent_ply = trio.current_time(), seen.ply
    choice = legal[int.from_bytes(rng.bytes(4)) % len(legal)]
    await _send(socket, {"type": "move", "matchId": seen.match_id, "ply": seen.ply, "move": choice})


async def _refused(socket: WebSocketConnection, seen: _Seen, reason: str) -> None:
    """Look at the match again after a refusal: what was refused may have crossed with what happened, or been too much at once."""
    if reason == "match_over":
        return  # its end is on the way
    seen.errors += 1
    if seen.errors >= ERRORS_MAX or reason in (
        "match_not_found",
        "cross_environment_join",
        "bad_message",
    ):
        raise BotStopped(reason)
    await trio.sleep(AGAIN_S * seen.errors)
    await _join(socket, seen)


async def _send(socket: WebSocketConnection, message: dict[str, Any]) -> None:
    with suppress(ConnectionClosed, LocalProtocolError):  # why it was closed is heard on reading
        await socket.send_message(msgspec.json.encode(message).decode())


async def _hear(socket: WebSocketConnection) -> dict[str, Any]:
    try:
        text = await socket.get_message()
    except ConnectionClosed as closed:
        code = 1006 if closed.reason is None else int(closed.reason.code)
        raise (_Lost if code in _COME_BACK else BotStopped)(f"closed with {code}") from None
    heard: dict[str, Any] = msgspec.json.decode(text)
    return heard


@asynccontextmanager
async def _socket(
    url: str, token: str, trust: ssl.SSLContext | None
) -> AsyncIterator[WebSocketConnection]:
    """Give an open socket. Raises `_Lost` and `BotStopped`, alone and never in a group, for whatever ends it."""
    where = urlsplit(url)
    host, port = where.hostname or "", where.port or (443 if where.scheme == "wss" else 80)
    ended: Exception | None = None
    stream: trio.SocketStream | trio.SSLStream[trio.SocketStream]
    try:
        with trio.fail_after(_CONNECT_S):
            if where.scheme == "wss":
                stream = await trio.open_ssl_over_tcp_stream(
                    host, port, https_compatible=True, ssl_context=trust
                )
            else:
                stream = await trio.open_tcp_stream(host, port)
    except (OSError, trio.TooSlowError, trio.BrokenResourceError) as error:
        raise _Lost(f"no connection: {str(error) or 'it took too long'}") from error
    # The stream is closed here, since trio-websocket leaves that of a refused handshake open.
    try:
        async with trio.open_nursery() as nursery:
            try:
                socket = await _shake_hands(nursery, stream, where.netloc, where.path, token)
                try:
                    yield socket
                finally:
                    with trio.move_on_after(_CLOSE_S):
                        await socket.aclose()
            except (_Lost, BotStopped) as error:
                ended = error
            nursery.cancel_scope.cancel()
    except* ConnectionRejected as group:
        # 429 and 503 are moods of the service; the rest is about the token.
        status = min(
            error.status_code for error in group.exceptions if isinstance(error, ConnectionRejected)
        )
        ended = (_Lost if status in (429, 503) else BotStopped)(f"status {status}")
    except* HandshakeError:
        ended = _Lost("the handshake failed")
    except* (LocalProtocolError, trio.BrokenResourceError, trio.ClosedResourceError):
        # trio-websocket's reader answers a ping while the socket closes, and trips over it; what was to be had was had by then.
        pass
    finally:
        await trio.aclose_forcefully(stream)
    if ended is not None:
        raise ended


async def _shake_hands(
    nursery: trio.Nursery,
    stream: trio.SocketStream | trio.SSLStream[trio.SocketStream],
    host: str,
    path: str,
    token: str,
) -> WebSocketConnection:
    try:
        with trio.fail_after(_CONNECT_S):
            return await wrap_client_stream(
                nursery, stream, host, path, subprotocols=[_PROTOCOL, f"pgs.token.{token}"]
            )
    except (
        ConnectionClosed,
        trio.TooSlowError,
    ) as error:  # a refusal is raised by the reader, in the nursery
        raise _Lost("the handshake failed") from error
