"""Repeated `kill -9` under load. Clients retry unanswered calls with the same idempotency keys."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.storage.ledger import check_ledger
from pgs.storage.sqlite.database import SqliteDatabase
from tests.torture.client import Connection, Gone
from tests.torture.server import Server

pytestmark = pytest.mark.torture

ROUNDS, PARTNERS, WORKERS, SEATS_A_ROUND = 20, 8, 16, 40


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.end()


class Backend:
    """One partner's backend. It remembers every answer and checks later ones against it."""

    def __init__(self, keys: dict[str, str]) -> None:
        self.key, self.tier = keys["testKey"], keys["tierId"]
        self.sent: set[str] = set()  # idempotency keys of all calls, whether answered or not
        self.seats: dict[str, str] = {}  # idempotency key → seat id, as acknowledged
        self.decided: dict[str, str | None] = {}  # match id → winner, as acknowledged
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        self.cursor = ""

    async def seat(self, connection: Connection, name: str) -> None:
        """Ask for a seat once. All answers to one idempotency key must name the same seat."""
        self.sent.add(name)
        body = {
            "playerId": f"player-{name}",
            "gameId": "tic-tac-toe",
            "tierId": self.tier,
            "stakeUsdCents": 100,
            "idempotencyKey": name,
        }
        status, _, answer = await connection.call("POST", "/partner/matches", self.key, body)
        if status == 200:
            assert self.seats.setdefault(name, answer["seatId"]) == answer["seatId"], (
                "one key, two seats"
            )
        else:
            assert status in (429, 503), answer

    async def poll(self, connection: Connection) -> None:
        """Follow the feed to its end."""
        more = True
        while more:
            suffix = f"&cursor={self.cursor}" if self.cursor else ""
            status, _, page = await connection.call(
                "GET", f"/partner/results?limit=50{suffix}", self.key
            )
            if status != 200:
                return
            for row in page["results"]:
                was = self.rows.get((row["matchId"], row["playerId"]))
                if was is not None:
                    assert row["revision"] >= was["revision"], "a row's revision decreased"
                    assert was["outcome"] != "ended" or row["outcome"] == "ended", (
                        "an ended row changed its outcome"
                    )
                self.rows[row["matchId"], row["playerId"]] = row
            self.cursor, more = page["nextCursor"], page["hasMore"]

    async def decide(self, connection: Connection, rng: random.Random) -> None:
        """Decide one of the matches that are running according to the feed."""
        running = [
            row
            for row in self.rows.values()
            if row["outcome"] == "started" and row["matchId"] not in self.decided
        ]
        if not running:
            return
        row = rng.choice(running)
        body = {"outcome": "ended", "winnerPlayerId": row["playerId"]}
        status, _, answer = await connection.call(
            "POST", f"/partner/test/matches/{row['matchId']}/decide", self.key, body
        )
        if status == 200:
            self.decided[row["matchId"]] = row["playerId"]
        else:
            # Another worker may have decided the match, or a call whose answer was lost in a kill.
            assert status in (409, 429, 500), answer


async def test_twenty_kills_under_load_lose_and_repeat_nothing(server: Server) -> None:
    rng = random.Random(20)
    backends = [Backend(keys) for keys in server.seed(PARTNERS)]
    server.start()
    for round_number in range(ROUNDS):
        async with trio.open_nursery() as nursery:
            for worker in range(WORKERS):
                nursery.start_soon(
                    _work,
                    server,
                    backends[worker % PARTNERS],
                    f"{round_number}-{worker}",
                    random.Random(rng.random()),
                )
            await trio.sleep(rng.uniform(0.2, 1.0))
            await trio.to_thread.run_sync(server.end)
        await trio.to_thread.run_sync(server.start)

    # Ask again for each seat without an answer, with the same key. Then decide and settle all
    # matches.
    for backend in backends:
        connection = Connection(server.base_url)
        for name in sorted(backend.sent - backend.seats.keys()):
            while name not in backend.seats:
                await backend.seat(connection, name)
        await _settle(backend, connection, rng)
        await connection.close()
    code, seconds = await trio.to_thread.run_sync(server.stop)
    assert code == 0
    assert seconds < 15

    assert sum(len(backend.seats) for backend in backends) > ROUNDS * WORKERS, (
        "too few seats were taken for the test to be meaningful"
    )
    for backend in backends:
        _check_rows(backend)
    await _check_money(server, backends)


def _check_rows(backend: Backend) -> None:
    """Check that the feed agrees with every answer that a backend has got, and adds up."""
    assert backend.seats.keys() == backend.sent
    assert len(set(backend.seats.values())) == len(backend.seats), "one seat for two keys"
    by_match: dict[str, list[dict[str, Any]]] = {}
    for row in backend.rows.values():
        by_match.setdefault(row["matchId"], []).append(row)
        assert backend.seats[row["idempotencyKey"]] == row["seatId"]
    for match_id, winner in backend.decided.items():
        won = {row["playerId"] for row in by_match[match_id] if row.get("result") == "won"}
        assert won == {winner}
    for rows in by_match.values():
        assert len(rows) == 2
        money = ("payoutUsdCents", "rakeUsdCents", "refundUsdCents")
        assert sum(row[name] for row in rows for name in money) == 200


async def _check_money(server: Server, backends: Sequence[Backend]) -> None:
    """Check that the ledger is sound, and has the stakes and payouts that the backends know."""
    database = SqliteDatabase(server.folder)
    report = await check_ledger(database.reader)
    database.close()
    assert report.sound, report
    charged = sum(len(backend.seats) for backend in backends) * 100
    paid = sum(row["payoutUsdCents"] for backend in backends for row in backend.rows.values())
    assert sum(totals.stakes_usd_cents for totals in report.totals) == charged
    assert sum(totals.payouts_usd_cents for totals in report.totals) == paid


async def _work(server: Server, backend: Backend, prefix: str, rng: random.Random) -> None:
    """Take seats, read the feed and decide matches until the service is killed."""
    connection = Connection(server.base_url)
    try:
        for number in range(SEATS_A_ROUND * 10):
            await backend.seat(connection, f"{prefix}-{number}")
            if number % 5 == 4:
                await backend.poll(connection)
                await backend.decide(connection, rng)
            await trio.sleep(rng.uniform(0, 0.02))
    except Gone:
        return
    finally:
        await connection.close()


async def _settle(backend: Backend, connection: Connection, rng: random.Random) -> None:
    """Decide all running matches, and read the feed until every match's money is recorded."""
    with trio.fail_after(120):
        while True:
            await backend.poll(connection)
            if all("payoutUsdCents" in row for row in backend.rows.values()):
                return
            for row in list(backend.rows.values()):
                if row["outcome"] == "started":
                    await backend.decide(connection, rng)
            await trio.sleep(0.2)
