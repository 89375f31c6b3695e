"""The calls of a launch: a seat, and the feed that tells its result."""

from tests.journeys.client import Client, Reply
from tests.journeys.partners import seat_body
from tests.journeys.service import Service


async def read_feed(client: Client, key: str, cursor: str | None = None, wait_s: int = 0) -> Reply:
    query = [f"waitSeconds={wait_s}"] + ([f"cursor={cursor}"] if cursor is not None else [])
    return await client.call("GET", "/partner/results?" + "&".join(query), key)


async def seat_player(
    service: Service, key: str, player_id: str, idempotency_key: str, **fields: object
) -> Reply:
    return await service.public.call(
        "POST", "/partner/matches", key, seat_body(player_id, idempotency_key, **fields)
    )
