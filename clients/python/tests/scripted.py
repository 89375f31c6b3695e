"""A transport that answers from a script, clients that use it, and samples of answers."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from pgs_client import Client, Retries
from pgs_client.trio_client import TrioClient

BASE = "https://games.example"
KEY = "pgs_test_" + "k" * 46

SEAT = {
    "seatId": "sea_1",
    "matchId": None,
    "status": "waiting",
    "stakeStatus": "confirmed",
    "environment": "test",
    "gameId": "tic-tac-toe",
    "tierId": "bronze",
    "playerId": "p-1",
    "stakeUsdCents": 100,
    "prizeUsdCents": 180,
    "seatedAt": 5,
    "idempotencyKey": "order-1",
}
PURCHASE: dict[str, Any] = {
    "game_id": "tic-tac-toe",
    "player_id": "p-1",
    "tier_id": "bronze",
    "stake_usd_cents": 100,
    "idempotency_key": "order-1",
}

Said = tuple[int, Any] | tuple[int, Any, Mapping[str, str]] | Exception


def row(player_id: str = "p-1", revision: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a row of the feed."""
    return {
        "matchId": "mat_1",
        "playerId": player_id,
        "seatId": "sea_1",
        "idempotencyKey": "order-1",
        "gameId": "tic-tac-toe",
        "tierId": "bronze",
        "outcome": "started",
        "stakeUsdCents": 100,
        "updatedAt": 5,
        "revision": revision,
        **changes,
    }


def page(*rows: dict[str, Any], cursor: str = "c1", more: bool = False) -> dict[str, Any]:
    """Return a page of the feed."""
    return {"environment": "test", "results": rows, "nextCursor": cursor, "hasMore": more}


def refusal(reason: str | None, **fields: Any) -> dict[str, Any]:
    """Return the body of an error."""
    return {"error": "A sentence.", **({} if reason is None else {"reason": reason}), **fields}


class Script:
    """Answers from a list, and keeps the requests. An exception in the list is raised."""

    def __init__(self, *said: Said) -> None:
        self.said = list(said)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Return the next answer."""
        self.requests.append(request)
        said = self.said.pop(0)
        if isinstance(said, Exception):
            raise said
        status, body = said[:2]
        headers = said[2] if len(said) == 3 else {}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx.Response(status, headers=headers, content=content)

    def client(self, retries: Retries | None = None) -> Client:
        """Return a client whose network is this script, and whose pauses are only noted."""
        transport = httpx.MockTransport(self)
        return Client(BASE, KEY, transport=transport, retries=retries, sleep=self.pauses.append)

    def trio_client(self, retries: Retries | None = None) -> TrioClient:
        """Return the same for trio, but its pauses are not noted: they wait by trio's clock."""
        return TrioClient(BASE, KEY, transport=httpx.MockTransport(self), retries=retries)

    def sent(self, number: int = 0) -> Any:
        """Return the body of a request."""
        return json.loads(self.requests[number].content)


Answering = Callable[[httpx.Request], httpx.Response]
