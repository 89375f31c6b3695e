"""Many simultaneous calls with the same idempotency key."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from pgs.storage.ledger import check_ledger
from pgs.storage.sqlite.database import SqliteDatabase
from tests.torture.client import Connection
from tests.torture.server import Server

pytestmark = pytest.mark.torture

PARTNERS, AT_ONCE, CONNECTIONS = 200, 50, 500


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.end()


async def test_fifty_identical_calls_at_once_charge_once_for_each_of_two_hundred_keys(
    server: Server,
) -> None:
    partners = server.seed(PARTNERS)
    server.start()
    seats: dict[str, set[str]] = {}
    statuses: Counter[int] = Counter()
    replays: Counter[str] = Counter()

    async def one_call(partner: dict[str, str], connection: Connection) -> None:
        body = {
            "playerId": "p",
            "gameId": "tic-tac-toe",
            "tierId": partner["tierId"],
            "stakeUsdCents": 100,
            "idempotencyKey": "once",
        }
        status, headers, answer = await connection.call(
            "POST", "/partner/matches", partner["testKey"], body
        )
        statuses[status] += 1
        if status == 200:
            seats.setdefault(partner["partnerId"], set()).add(answer["seatId"])
            replays[partner["partnerId"]] += "idempotent-replayed" in headers

    connections = [Connection(server.base_url) for _ in range(CONNECTIONS)]
    group = CONNECTIONS // AT_ONCE  # keys at a time: the fifty calls of each run simultaneously
    for begin in range(0, PARTNERS, group):
        async with trio.open_nursery() as nursery:
            for index, partner in enumerate(partners[begin : begin + group]):
                for connection in connections[index * AT_ONCE : (index + 1) * AT_ONCE]:
                    nursery.start_soon(one_call, partner, connection)
    for connection in connections:
        await connection.close()
    assert server.stop()[0] == 0

    assert statuses == {200: PARTNERS * AT_ONCE}
    assert {len(ids) for ids in seats.values()} == {1}
    assert len(seats) == PARTNERS
    assert set(replays.values()) == {AT_ONCE - 1}, (
        "all but one answer for each key must be marked as a replay"
    )
    database = SqliteDatabase(server.folder)
    report = await check_ledger(database.reader)
    database.close()
    assert report.sound
    assert sum(totals.open_usd_cents for totals in report.totals) == PARTNERS * 100
