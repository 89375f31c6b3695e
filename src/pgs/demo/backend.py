"""A partner's backend: the calls that it makes with its API key, over real HTTP."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import httpcore
import msgspec
import trio

from pgs.demo.pool import ConnectionPool

# A long poll is held for up to 25 s; everything else answers at once.
_TIMEOUTS = {"timeout": {"connect": 5.0, "read": 40.0, "write": 5.0, "pool": 5.0}}

CALL_FAILED = (
    msgspec.DecodeError,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
)
"""What a call raises when no answer comes, or when the answer cannot be decoded."""


class Exchange(msgspec.Struct, frozen=True):
    """A call and its answer, both as decoded JSON. Header names are in lower case.

    `took_ms`: milliseconds from the request to the end of the answer.
    """

    method: str
    path: str
    sent: Any
    status: int
    headers: Mapping[str, str]
    received: Any
    took_ms: int = 0


class Backend:
    """Calls one service with one key. Every method raises the errors of `CALL_FAILED`.

    `record` is called with each call that was answered.
    """

    def __init__(
        self,
        pool: ConnectionPool,
        base_url: str,
        key: str,
        record: Callable[[Exchange], None] = lambda _: None,
    ) -> None:
        self._pool = pool
        self._base_url = base_url
        self._key = key
        self._record = record

    async def me(self) -> Exchange:
        """Read the key's partner and its webhook."""
        return await self._call("GET", "/partner/me")

    async def tiers(self, game_id: str) -> Exchange:
        """Read the tiers of a game and their prices."""
        return await self._call("GET", "/partner/tiers", {"gameId": game_id})

    async def mint(self, game_id: str, player_id: str, display_name: str | None = None) -> Exchange:
        """Get a session token for a player's frame. `display_name` is what the opponent sees."""
        named = {} if display_name is None else {"displayName": display_name}
        return await self._call(
            "POST", "/partner/sessions", sent={"gameId": game_id, "playerId": player_id, **named}
        )

    async def seat(
        self, game_id: str, player_id: str, tier_id: str, stake_usd_cents: int, idempotency_key: str
    ) -> Exchange:
        """Take a paid seat for a player."""
        sent = {
            "playerId": player_id,
            "gameId": game_id,
            "tierId": tier_id,
            "stakeUsdCents": stake_usd_cents,
            "idempotencyKey": idempotency_key,
        }
        return await self._call("POST", "/partner/matches", sent=sent)

    async def match(self, match_id: str) -> Exchange:
        """Read a match."""
        return await self._call("GET", f"/partner/matches/{match_id}")

    async def results(self, cursor: str | None = None, wait_s: int | None = None) -> Exchange:
        """Read the results feed after a cursor. With `wait_s`, wait that long at most for rows."""
        query = {"cursor": cursor, "waitSeconds": wait_s}
        return await self._call(
            "GET",
            "/partner/results",
            {name: str(value) for name, value in query.items() if value is not None},
        )

    async def decide(self, match_id: str, winner_player_id: str) -> Exchange:
        """End a test match with a winner."""
        sent = {"outcome": "ended", "winnerPlayerId": winner_player_id}
        return await self._call("POST", f"/partner/test/matches/{match_id}/decide", sent=sent)

    async def call_off(self, match_id: str) -> Exchange:
        """End a test match as no contest."""
        return await self._call(
            "POST", f"/partner/test/matches/{match_id}/decide", sent={"outcome": "no_contest"}
        )

    async def _call(
        self, method: str, path: str, query: Mapping[str, str] | None = None, sent: Any = None
    ) -> Exchange:
        if query:
            path = f"{path}?{urlencode(query)}"
        headers: dict[bytes | str, bytes | str] = {"Authorization": f"Bearer {self._key}"}
        if sent is not None:
            headers["Content-Type"] = "application/json"
        content = None if sent is None else msgspec.json.encode(sent)
        began = trio.current_time()
        response = await self._pool.request(
            method, self._base_url + path, headers=headers, content=content, extensions=_TIMEOUTS
        )
        exchange = Exchange(
            method,
            path,
            sent,
            response.status,
            {
                name.decode("latin-1").lower(): value.decode("latin-1")
                for name, value in response.headers
            },
            msgspec.json.decode(response.content),
            round((trio.current_time() - began) * 1000),
        )
        self._record(exchange)
        return exchange
