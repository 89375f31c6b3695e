"""The calls of the load over HTTP, with every partner's own key."""

from typing import Any

import httpcore
import msgspec
from load.story import PAGE, Ending, LoadFailed

from pgs.demo.pool import ConnectionPool

CONNECTIONS_MAX = 256


class HttpDriver:
    """Calls a service. `keys`: the test key by partner id."""

    def __init__(
        self, base_url: str, keys: dict[str, str], game_id: str, tier_id: str, stake: int
    ) -> None:
        self._base_url, self._keys = base_url, keys
        self._game_id, self._tier_id, self._stake = game_id, tier_id, stake
        self._pool = ConnectionPool(max_connections=CONNECTIONS_MAX)

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def mint(self, partner_id: str, player_id: str) -> None:
        body = {"gameId": self._game_id, "playerId": player_id}
        await self._call(partner_id, "POST", "/partner/sessions", body)

    async def seat(self, partner_id: str, player_id: str, idempotency_key: str) -> dict[str, Any]:
        body = {
            "playerId": player_id,
            "gameId": self._game_id,
            "tierId": self._tier_id,
            "stakeUsdCents": self._stake,
            "idempotencyKey": idempotency_key,
        }
        return await self._call(partner_id, "POST", "/partner/matches", body)

    async def decide(self, partner_id: str, match_id: str, ending: Ending) -> None:
        body = {"outcome": ending.outcome, "winnerPlayerId": ending.winner}
        if ending.outcome == "no_contest":
            del body["winnerPlayerId"]
        await self._call(partner_id, "POST", f"/partner/test/matches/{match_id}/decide", body)

    async def feed(self, partner_id: str, cursor: str | int) -> tuple[list[dict[str, Any]], str]:
        """Return the rows after a cursor, and the next cursor."""
        after = f"&cursor={cursor}" if cursor else ""
        page = await self._call(partner_id, "GET", f"/partner/results?limit={PAGE}{after}")
        return page["results"], page["nextCursor"]

    async def _call(
        self, partner_id: str, method: str, path: str, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        headers = [("Authorization", f"Bearer {self._keys[partner_id]}")]
        content = b"" if body is None else msgspec.json.encode(body)
        try:
            answer = await self._pool.request(
                method, self._base_url + path, headers=headers, content=content
            )
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise LoadFailed(f"{method} {path}: {error!r}") from error
        if answer.status != 200:
            raise LoadFailed(f"{method} {path}: {answer.status} {answer.content.decode()}")
        found: dict[str, Any] = msgspec.json.decode(answer.content)
        return found
