"""Both clients complete the journey over a bad network, and nothing is charged twice."""

import json
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import trio

from clients.python.tests.journey import travel_with_threads, travel_with_trio
from pgs.operator.command import NoArgs
from pgs.operator.commands.ledger import check_the_ledger
from pgs_client import SqliteStore
from tests.beside import open_beside
from tests.clients.node import JS, node
from tests.clients.proxy import FAULTS, fault_proxy
from tests.conventions.tree import ROOT
from tests.demo.service import demo_service

JOURNEY = ROOT / "clients" / "journey.json"

Travel = Callable[[str, str, Path], Awaitable[None]]


async def _threads(base_url: str, key: str, folder: Path) -> None:
    with closing(SqliteStore(folder / "feed.db")) as store:
        await travel_with_threads(JOURNEY, base_url, key, store)


async def _trio(base_url: str, key: str, folder: Path) -> None:
    with closing(SqliteStore(folder / "feed.db")) as store:
        await travel_with_trio(JOURNEY, base_url, key, store)


async def _javascript(base_url: str, key: str, folder: Path) -> None:
    program = JS / "tests" / "journey.mjs"
    said = await node(
        program, str(JOURNEY), base_url, key, str(folder / "feed.json"), folder=folder
    )
    assert said.splitlines()[-1] == "arrived"


@pytest.mark.slow
@pytest.mark.parametrize("travel", [_threads, _trio, _javascript])
async def test_a_client_completes_its_journey_through_every_fault_and_nobody_is_charged_twice(
    travel: Travel, tmp_path: Path
) -> None:
    journey = json.loads(JOURNEY.read_text(encoding="utf-8"))
    seats = journey["rounds"] * journey["seatsPerRound"]
    with trio.fail_after(120):
        async with (
            demo_service(tmp_path) as (service, demo, _),
            fault_proxy(service.base_url) as proxy,
        ):
            await travel(proxy.base_url, demo.test_key, tmp_path)
            assert (await check_the_ledger(service.core, NoArgs())).sound
            (database,) = (tmp_path / "demo-data").glob("*.db")
            booked = _booked(database)
    assert booked == {
        "charge": (seats, seats * 100),
        "prize": (2 * journey["rounds"], journey["rounds"] * 180),
        "rake": (journey["rounds"], journey["rounds"] * 20),
        "refund": (journey["rounds"], journey["rounds"] * 100),
    }
    met = {fault for name, fault in proxy.met if name == "POST /partner/matches"}
    assert met == set(FAULTS)


def _booked(database: Path) -> dict[str, tuple[int, int]]:
    """Return for each kind of the ledger's rows how many seats they name, and their sum."""
    with closing(open_beside(database, read_only=True)) as reading:
        assert reading.execute("select count(*) from seat").fetchone() == (
            reading.execute("select count(distinct idempotency_key) from seat").fetchone()
        )
        rows: Any = reading.execute(
            "select kind, count(distinct seat_id), sum(amount_usd_cents) from ledger group by kind"
        ).fetchall()
    return {kind: (count, amount) for kind, count, amount in rows}
