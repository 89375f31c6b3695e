"""A running service notices that its data is gone, damaged or older than what was read."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

from pgs.actors.kernel.mail import Overloaded
from pgs.actors.maintenance.database_watch import check_database
from pgs.domain.cursors import make_cursor
from pgs.storage.seats import find_by_idempotency_key
from pgs.storage.transactions import ReadFailed
from tests.beside import open_beside
from tests.journeys.client import ok
from tests.journeys.partners import seat_body
from tests.journeys.service import Service, in_process, until
from tests.virtual import on_file

INDEX = "seat_idempotency"


def page_of(path: Path, name: str) -> int:
    """Return the number of the page at which a table or an index begins."""
    with closing(open_beside(path)) as other:
        found: int = other.execute("select rootpage from sqlite_master where name = ?", (name,)).get
    return found


def begin_at(path: Path, page: int) -> None:
    """Let `INDEX` begin at a page. If that is a page of a table, every use of the index fails."""
    with closing(open_beside(path)) as other:
        other.execute("pragma writable_schema=on")
        other.execute("update sqlite_master set rootpage = ? where name = ?", (page, INDEX))
        version = other.execute("pragma schema_version").get
        other.execute(f"pragma schema_version={version + 1}")


async def _ready(service: Service) -> tuple[int, dict[str, str]]:
    status, content = await service.internal.get("/internal/readyz")
    return status, json.loads(content)


async def _metrics(service: Service) -> dict[str, float]:
    _, text = await service.internal.get("/internal/metrics")
    return {
        name: float(value)
        for name, value in re.findall(r"^(pgs_\S+) (\S+)$", text.decode(), re.MULTILINE)
    }


async def test_a_reader_ahead_of_the_feed_is_refused_and_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        parts = service.core.parts

        def path(position: int) -> str:
            cursor = make_cursor(parts.ring, "results", partner.partner_id, "test", position)
            return f"/partner/results?cursor={cursor}"

        ok(await service.public.call("GET", path(0), partner.test))
        account = service.core.directory.partner(partner.partner_id).account()

        async def busy(*_: object) -> None:
            raise Overloaded("a test said so")

        with monkeypatch.context() as patch:
            patch.setattr(type(account), "ask", busy)
            refused = await service.public.call("GET", path(7), partner.test)
            assert refused.json["reason"] == "invalid_cursor"
        for _ in range(3):
            refused = await service.public.call("GET", path(7), partner.test)
            assert (refused.status, refused.json["reason"]) == (400, "invalid_cursor")
        events = await parts.database.reader.all(
            "events.events_page",
            partner_id=partner.partner_id,
            before=2**53,
            page_size=100,
            with_invites=1,
        )
        rewound = [json.loads(row[-1]) for row in events if row[-2] == "feed.rewound"]
        assert rewound == [{"environment": "test", "positions": 7}]
        assert (await _metrics(service))['pgs_events_total{event="feed_rewound"}'] == 2


@pytest.mark.parametrize("name", ["pgs.db", "pgs.db-wal"])
async def test_a_service_whose_files_are_moved_away_is_unready_until_they_are_back(
    tmp_path: Path, name: str
) -> None:
    async with in_process(tmp_path / "data") as service:
        partner = await service.partner()
        file = on_file(service.core.parts.database).folder / name
        file.rename(tmp_path / "away")
        await until(lambda: service.core.parts.database_watch.lost is not None)
        status, told = await _ready(service)
        assert (status, told["status"]) == (
            503,
            f"data lost: {file} has vanished: put it back before the service ends",
        )
        refused = await service.public.call(
            "POST", "/partner/matches", partner.test, seat_body("ann", "a")
        )
        assert (refused.status, refused.json["reason"]) == (503, "settlement_unavailable")
        assert (await _metrics(service))["pgs_database_files_lost"] == 1
        (tmp_path / "away").rename(file)
        await until(lambda: service.core.parts.database_watch.lost is None)
        ok(await service.public.call("POST", "/partner/matches", partner.test, seat_body("a", "b")))
        shown = await _metrics(service)
        assert shown['pgs_events_total{event="database_file_lost"}'] == 1
        assert shown["pgs_database_files_lost"] == 0


async def test_a_service_with_a_damaged_index_is_not_ready_and_its_check_finds_the_fault(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        core = service.core
        ok(await service.public.call("POST", "/partner/matches", partner.test, seat_body("a", "a")))
        await check_database(core.parts, core.directory)
        assert (await _metrics(service))["pgs_database_faults"] == 0
        path = on_file(core.parts.database).path
        begin_at(path, page_of(path, "ledger"))
        for key in ("b", "c"):
            refused = await service.public.call(
                "POST", "/partner/matches", partner.test, seat_body("b", key)
            )
            assert refused.status == 503
        status, told = await _ready(service)
        assert status == 503
        assert told["status"] in ("unable to write", "unable to read")
        await check_database(core.parts, core.directory)
        _, told = await _ready(service)
        assert "the last check found" in told["database"]
        assert (await _metrics(service))["pgs_database_faults"] > 0


async def test_a_read_that_failed_and_succeeds_again_makes_the_service_ready(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service:
        path = on_file(service.core.parts.database).path
        reader = service.core.parts.database.reader
        sound = page_of(path, INDEX)
        assert await find_by_idempotency_key(reader, "acme", "test", "a") is None
        assert (await _ready(service))[0] == 200
        begin_at(path, page_of(path, "ledger"))
        with pytest.raises(ReadFailed):
            await find_by_idempotency_key(reader, "acme", "test", "a")
        assert await _ready(service) == (503, {"status": "unable to read"})
        begin_at(path, sound)
        assert (await _ready(service))[0] == 200
