"""Bots: programs that play matches over the Game API's WebSocket, as a player's frame does.

A bot needs only a session token. It waits nearly all of the time, so one process can run thousands.
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
"""Connections in a row that may fail before a bot gives up. A snapshot of the running match, or a
move in it, resets the count."""

ERRORS_MAX: Final = 8
"""Messages of a bot that may be refused in one match before the bot gives up. So many refusals are
a fault of the bot."""

AGAIN_S: Final = 0.25
"""Seconds before a second try to connect. Each further try waits twice as long, up to AGAIN_MAX_S.
After a refused message, a bot also waits before it joins again: these seconds times the number of
its refused messages in the match."""

AGAIN_MAX_S: Final = 5.0
"""Seconds of the longest wait between two tries to connect: a bot is back soon after an outage."""

_CONNECT_S: Final = 20.0
"""Seconds for a bot's connection, and as many for its handshake. A busy listener may take several
seconds."""

_CLOSE_S: Final = 2.0
"""Seconds that a bot waits for its close frame to be answered. Nothing depends on the answer."""

_PROTOCOL: Final = "pgs.game.v1"
# After these close codes a new connection may work. They mean that the service stops, that the
# connection broke, that the service had an error, or that the registry cannot be read.
_RECONNECT_CODES: Final = (1001, 1006, 1011, 4503)


class Played(msgspec.Struct, frozen=True):
    """A match that has ended, as one side saw it.

    `outcome`: `ended` or `no_contest`, which has no `result`. `ply`: the number of moves.
    """

    match_id: str
    game_id: str
    you: int
    outcome: str
    result: str | None
    end_reason: str | None
    ply: int


class BotStopped(Exception):
    """A bot cannot continue its match. The message is the HTTP status, close code or reason."""


class _Lost(Exception):
    """The connection has ended, and a new one may work."""


class _MatchView(msgspec.Struct):
    """What one bot knows of its match, and counts of failed connections and refused messages."""

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
    """Play random legal moves until a match has ended, and return its end.

    `url` is a session's `gameSocketUrl`. The bot plays `match_id`; without it, the player's oldest
    running match, or the next that begins. It connects again after a lost connection. Before a
    move it thinks for 0.5 to 1.5 times `pace_s` seconds. For each move of the bot, `on_move` is
    called with the seconds from sending it to receiving `moved`. `trust` replaces the default TLS
    context. Raises `BotStopped`.
    """
    view = _MatchView(match_id)
    while True:
        try:
            async with _socket(url, token, trust) as socket:
                return await _play(socket, view, rng, pace_s, on_move)
            raise _Lost("the connection broke")
        except _Lost as lost:
            view.tries += 1
            if view.tries >= TRIES_MAX:
                raise BotStopped(str(lost)) from lost
            await trio.sleep(min(AGAIN_MAX_S, AGAIN_S * 2.0 ** (view.tries - 1)))


async def _play(
    socket: WebSocketConnection,
    view: _MatchView,
    rng: Rng,
    pace_s: float,
    on_move: Callable[[float], None] | None,
) -> Played:
    await _join(socket, view)
    while True:
        message = await _hear(socket)
        kind = message["type"]
        if kind == "error":
            await _refused(socket, view, str(message["reason"]))
        elif kind not in ("snapshot", "moved", "ended") or view.match_id not in (
            None,
            message["matchId"],
        ):
            continue
        elif kind == "ended" or message.get("status", "started") != "started":
            if view.match_id is not None or kind == "snapshot":
                return _ending(message, view)
        else:
            if kind == "snapshot":
                view.match_id, view.game_id, view.you = (
                    message["matchId"],
                    message["gameId"],
                    message["you"],
                )
            elif (
                message["by"] == view.you
                and message["ply"] == view.sent_ply + 1
                and on_move is not None
            ):
                on_move(trio.current_time() - view.sent_at)
            view.ply, view.tries = message["ply"], 0
            if message["legalMoves"] and message["turn"] == view.you:
                await _move(socket, view, message["legalMoves"], rng, pace_s)


def _ending(message: dict[str, Any], view: _MatchView) -> Played:
    """Return the end of a match from an `ended` message, or from a snapshot after the end."""
    return Played(
        message["matchId"],
        message.get("gameId", view.game_id),
        message.get("you", view.you),
        message.get("outcome") or message["status"],
        message.get("result"),
        message.get("endReason"),
        message.get("ply", view.ply),
    )


async def _join(socket: WebSocketConnection, view: _MatchView) -> None:
    await _send(
        socket,
        {"type": "join"} if view.match_id is None else {"type": "join", "matchId": view.match_id},
    )


async def _move(
    socket: WebSocketConnection, view: _MatchView, legal: Sequence[str], rng: Rng, pace_s: float
) -> None:
    think_s = pace_s * (0.5 + int.from_bytes(rng.bytes(2)) / 0xFFFF)
    await trio.sleep(max(think_s, view.sent_at + APART_S - trio.current_time()))
    view.sent_at, view.sent_ply = trio.current_time(), view.ply
    choice = legal[int.from_bytes(rng.bytes(4)) % len(legal)]
    await _send(socket, {"type": "move", "matchId": view.match_id, "ply": view.ply, "move": choice})


async def _refused(socket: WebSocketConnection, view: _MatchView, reason: str) -> None:
    """Join again after a refusal, for a fresh snapshot.

    The refused message may have crossed with a move of the opponent, or come too soon.
    """
    if reason == "match_over":
        return  # The `ended` message follows.
    view.errors += 1
    if view.errors >= ERRORS_MAX or reason in (
        "match_not_found",
        "cross_environment_join",
        "bad_message",
    ):
        raise BotStopped(reason)
    await trio.sleep(AGAIN_S * view.errors)
    await _join(socket, view)


async def _send(socket: WebSocketConnection, message: dict[str, Any]) -> None:
    # When the socket is closed, the next read raises an error with the reason.
    with suppress(ConnectionClosed, LocalProtocolError):
        await socket.send_message(msgspec.json.encode(message).decode())


async def _hear(socket: WebSocketConnection) -> dict[str, Any]:
    try:
        text = await socket.get_message()
    except ConnectionClosed as closed:
        code = 1006 if closed.reason is None else int(closed.reason.code)
        raise (_Lost if code in _RECONNECT_CODES else BotStopped)(f"closed with {code}") from None
    heard: dict[str, Any] = msgspec.json.decode(text)
    return heard


@asynccontextmanager
async def _socket(
    url: str, token: str, trust: ssl.SSLContext | None
) -> AsyncIterator[WebSocketConnection]:
    """Yield an open socket. If it cannot be opened, raise `_Lost` or `BotStopped`.

    If the connection breaks, the block ends early. Then either one of these errors is raised, or
    the code after the block runs. An exception group is never raised.
    """
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
    # The stream is closed here: trio-websocket leaves it open after a refused handshake.
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
        # 429 and 503 are temporary. The bot stops at any other status, because a new try would
        # most likely be refused as well. A 401 is about the token, a 403 about the account.
        status = min(
            error.status_code for error in group.exceptions if isinstance(error, ConnectionRejected)
        )
        ended = (_Lost if status in (429, 503) else BotStopped)(f"status {status}")
    except* HandshakeError:
        ended = _Lost("the handshake failed")
    except* (LocalProtocolError, trio.BrokenResourceError, trio.ClosedResourceError):
        # trio-websocket's reader raises one of these when it answers a ping on a closing socket.
        # `play_match` connects again, unless the bot has seen the end of the match.
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
    # The error of a refused handshake does not come here: the reader task in `nursery` raises it.
    except (ConnectionClosed, trio.TooSlowError) as error:
        raise _Lost("the handshake failed") from error
