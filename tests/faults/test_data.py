"""A running service notices that its data is gone, damaged or older than what was read."""

import json
import re
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from pgs.actors.kernel.mail import Overloaded
from pgs.actors.maintenance.data import check_database
from pgs.domain.cursors import make_cursor
from pgs.storage.sqlite.reader import SqliteReader
from tests.beside import open_beside
from tests.journeys.client import ok
from tests.journeys.partners import seat_body
from tests.journeys.service import Service, in_process, until
from tests.virtual import on_file


async def _ready(service: Service) -> tuple[int, dict[str, str]]:
    status, content = await service.internal.get("/internal/readyz")
    return status, json.loads(content)


async def _metrics(service: Service) -> dict[str, float]:
    _, text = await service.internal.get("/internal/metrics")
    return {
        name: float(value)
        for name, value in re.findall(r"^(pgs_\S+) (\S+)$", text.decode(), re.MULTILINE)
    }


async def test_a_reader_ahead_of_the_feed_is_refused_and_told_of_once(
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
        await until(lambda: service.core.parts.data_watch.lost is not None)
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
        await until(lambda: service.core.parts.data_watch.lost is None)
        ok(await service.public.call("POST", "/partner/matches", partner.test, seat_body("a", "b")))
        shown = await _metrics(service)
        assert shown['pgs_events_total{event="database_file_lost"}'] == 1
        assert shown["pgs_database_files_lost"] == 0


async def test_a_service_with_a_damaged_index_is_not_ready_and_its_check_tells(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        core = service.core
        ok(await service.public.call("POST", "/partner/matches", partner.test, seat_body("a", "a")))
        await check_database(core.parts, core.directory)
        assert (await _metrics(service))["pgs_database_faults"] == 0
        with closing(open_beside(on_file(core.parts.database).path)) as other:
            other.execute("pragma writable_schema=on")
            # The index now begins at a page that is a table's.
            other.execute(
                "update sqlite_master set rootpage = (select rootpage from sqlite_master where "
                "name = 'ledger') where name = 'seat_idempotency'"
            )
            version = other.execute("pragma schema_version").get
            other.execute(f"pragma schema_version={version + 1}")
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
        reader = service.core.parts.database.reader
        assert isinstance(reader, SqliteReader)
        reader._failed = lambda: None
        assert (await _ready(service))[0] == 200

        def fail() -> None:
            raise apsw.IOError("disk I/O error")

        reader._failed = fail
        assert await _ready(service) == (503, {"status": "unable to read"})
        reader._failed = None
