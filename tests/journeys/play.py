"""Bots that play in tests, over real sockets."""

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import trio
from trio_websocket import (
    ConnectionClosed,
    ConnectionRejected,
    WebSocketConnection,
    wrap_client_stream,
)

from tests.journeys.client import Client, SyncClient, ok
from tests.journeys.partners import BOTH, seat_body
from tests.patience import PATIENCE_S

PROTOCOL = "pgs.game.v1"


class Refused(Exception):
    """The handshake was answered with an ordinary response."""

    def __init__(self, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
        super().__init__(status, body)
        self.status, self.body, self.headers = status, body, headers


class Bot:
    """A player with an open socket."""

    def __init__(self, socket: WebSocketConnection) -> None:
        self.socket = socket

    async def send(self, kind: str, **fields: Any) -> None:
        """Send a message."""
        await self.socket.send_message(json.dumps({"type": kind, **fields}))

    async def hear(self) -> dict[str, Any]:
        """Return the next message."""
        with trio.fail_after(PATIENCE_S):
            message: dict[str, Any] = json.loads(await self.socket.get_message())
        return message

    async def hear_until(self, kind: str) -> dict[str, Any]:
        """Return the next message of a kind, and drop those before it."""
        while (message := await self.hear())["type"] != kind:
            pass
        return message

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a message and return the next one that comes."""
        await self.send(kind, **fields)
        return await self.hear()

    async def closed(self) -> int:
        """Wait until the socket is closed; return the code."""
        with trio.fail_after(PATIENCE_S):
            while True:
                try:
                    await self.socket.get_message()
                except ConnectionClosed as closed:
                    return 0 if closed.reason is None else int(closed.reason.code)


@asynccontextmanager
async def socket_of(
    base_url: str,
    token: str,
    *,
    subprotocols: list[str] | None = None,
    headers: list[tuple[bytes, bytes]] | None = None,
    tls: ssl.SSLContext | None = None,
    is_welcomed: bool = True,
) -> AsyncIterator[Bot]:
    """Yield a bot that has received `welcome`. Raises a bare `Refused`, no exception group.

    `tls`: whom the client trusts, for a service behind a proxy. Without `is_welcomed` the bot has
    received nothing yet.
    """
    offered = [PROTOCOL, f"pgs.token.{token}"] if subprotocols is None else subprotocols
    where = urlsplit(base_url)
    refused: Refused | None = None
    # The stream is closed here: trio-websocket leaves it open after a refused handshake.
    host, port = where.hostname or "", where.port or 0
    async with (
        await trio.open_tcp_stream(host, port)
        if tls is None
        else await trio.open_ssl_over_tcp_stream(host, port, ssl_context=tls)
    ) as stream:
        try:
            async with trio.open_nursery() as nursery:
                socket = await wrap_client_stream(
                    nursery,
                    stream,
                    where.netloc,
                    "/game/socket",
                    subprotocols=offered,
                    extra_headers=headers,
                )
                assert socket.subprotocol == (PROTOCOL if offered else None)
                bot = Bot(socket)
                try:
                    assert not is_welcomed or (await bot.hear())["type"] == "welcome"
                    yield bot
                finally:
                    with trio.move_on_after(1, shield=True):
                        await socket.aclose()
                nursery.cancel_scope.cancel()
        except* ConnectionRejected as group:
            rejected = group.exceptions[0]
            assert isinstance(rejected, ConnectionRejected)
            known = {
                name.decode().lower(): value.decode() for name, value in rejected.headers or ()
            }
            refused = Refused(rejected.status_code, json.loads(rejected.body or b"{}"), known)
    if refused is not None:
        raise refused


def session_body(player_id: str, **fields: object) -> dict[str, object]:
    """Return the body of a call for a session token."""
    return {"playerId": player_id, "gameId": BOTH, **fields}


async def mint(client: Client, key: str, player_id: str, **fields: object) -> str:
    """Return a session token."""
    token: str = ok(
        await client.call("POST", "/partner/sessions", key, session_body(player_id, **fields))
    )["sessionToken"]
    return token


async def match(client: Client, key: str, *players: str, round_: str = "") -> str:
    """Seat two players, one after the other; return the id of their match."""
    seats = [
        ok(await client.call("POST", "/partner/matches", key, seat_body(player, player + round_)))
        for player in players
    ]
    match_id: str = seats[-1]["matchId"]
    return match_id


def mint_sync(client: SyncClient, key: str, player_id: str, **fields: object) -> str:
    """Return a session token."""
    token: str = ok(
        client.call("POST", "/partner/sessions", key, session_body(player_id, **fields))
    )["sessionToken"]
    return token


def match_sync(client: SyncClient, key: str, *players: str) -> str:
    """Seat two players, one after the other; return the id of their match."""
    seats = [
        ok(client.call("POST", "/partner/matches", key, seat_body(player, player)))
        for player in players
    ]
    match_id: str = seats[-1]["matchId"]
    return match_id
