"""The calls whose time is measured, as a partner's backend makes them."""

import time
from itertools import count
from typing import Any, Self
from urllib.parse import urlsplit

import httpcore
import msgspec
from billing_bench.history import FLOOR_USD_CENTS, GAME, TIER

from pgs.domain.days import format_day

PATHS = {
    "usage": "/partner/usage?from={day}&to={day}",
    "seat summary": "/partner/seat-summary?from={day}&to={day}",
    "digest": "/partner/results/digest?from={day}&to={day}",
}


class Caller:
    """Calls one service over a connection that stays open."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._http = httpcore.AsyncConnectionPool()
        self._numbers = count()

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._http.__aexit__(*error)

    async def ask(self, query: str, key: str, day: int) -> float:
        """Return the seconds that a call for one day takes."""
        return await self._timed("GET", PATHS[query].format(day=format_day(day)), key)

    async def launch(self, key: str) -> float:
        """Return the seconds that a session and a seat take together."""
        player = f"launch-{next(self._numbers)}"
        named = {"gameId": GAME, "playerId": player}
        stake = {"tierId": TIER, "stakeUsdCents": FLOOR_USD_CENTS, "idempotencyKey": player}
        return await self._timed("POST", "/partner/sessions", key, named) + await self._timed(
            "POST", "/partner/matches", key, named | stake
        )

    async def _timed(self, method: str, path: str, key: str, body: object = None) -> float:
        headers = [("Host", urlsplit(self._base_url).netloc), ("Authorization", f"Bearer {key}")]
        content = None if body is None else msgspec.json.encode(body)
        began = time.perf_counter()
        response = await self._http.request(
            method, self._base_url + path, headers=headers, content=content
        )
        took = time.perf_counter() - began
        if response.status != 200:
            raise SystemExit(f"{path}: {response.status} {response.content.decode()}")
        return took
