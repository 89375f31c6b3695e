"""A service that cannot write, or is stopping, is not ready, but still alive."""

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from pgs.service_readiness import FAILED_RECENTLY_S, Readiness
from pgs.storage.heartbeat import beat
from pgs.storage.sqlite.connections import connect
from pgs.storage.transactions import (
    Outcome,
    OutcomeUnknown,
    Stmt,
    Tx,
    WriteFailed,
    WriterFull,
)
from pgs.storage.writer import STALLED_AFTER_S
from tests.faults.broken import FailingWriter, HeldWriter, writer_of
from tests.journeys.client import Reply, ok
from tests.journeys.partners import seat_body
from tests.journeys.service import Service, in_process, until
from tests.patience import PATIENCE_S


async def _ready(service: Service) -> tuple[int, str]:
    status, content = await service.internal.get("/internal/readyz")
    return status, json.loads(content)["status"]


async def _until_ready_says(service: Service, status: int) -> None:
    with trio.fail_after(PATIENCE_S):
        while True:
            if (await _ready(service))[0] == status:
                return


async def _alive(service: Service) -> int:
    return (await service.internal.get("/internal/healthz"))[0]


async def test_a_service_that_has_not_started_is_unready() -> None:
    readiness = Readiness()
    assert await readiness.why_not() == "starting"
    readiness.draining()
    assert await readiness.why_not() == "draining"


async def test_a_healthy_service_is_ready(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        assert await _ready(service) == (200, "ready")
        assert await _alive(service) == 200
        partner = await service.partner()
        ok(await service.public.call("GET", "/partner/me", partner.test))
        status, content = await service.internal.get("/internal/metrics")
        assert status == 200
        assert b"pgs_registry_age_seconds" in content
        assert b'pgs_request_seconds_count{endpoint="/partner/me",status="200"} 1.0' in content
        assert partner.test.encode() not in content


@pytest.mark.parametrize("error", [WriteFailed, OutcomeUnknown, WriterFull])
async def test_a_writer_that_fails_makes_the_service_unready_until_it_writes_again(
    tmp_path: Path, error: type[Exception]
) -> None:
    async with in_process(tmp_path) as service:
        with writer_of(service.core, FailingWriter(service.core.parts.database.writer, error)):
            assert await _ready(service) == (503, "unable to write")
            assert await _alive(service) == 200
        assert await _ready(service) == (200, "ready")


async def test_a_writer_that_hangs_makes_the_service_unready_and_probes_do_not_pile_up(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service:
        held = HeldWriter(service.core.parts.database.writer)
        with writer_of(service.core, held):
            assert [await _ready(service) for _ in range(3)] == [(503, "unable to write")] * 3
            assert held.held == 1
            assert await _alive(service) == 200
            held.released.set()
            await _until_ready_says(service, 200)


async def test_checks_at_the_same_time_share_one_probe_and_have_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs.service_readiness.PROBE_S", PATIENCE_S)
    async with in_process(tmp_path) as service:
        readiness = Readiness()
        readiness.started(service.core)
        held = HeldWriter(service.core.parts.database.writer)
        reasons: list[str | None] = []

        async def check() -> None:
            reasons.append(await readiness.why_not())

        with writer_of(service.core, held):
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(check)
                await wait_all_tasks_blocked()
                held.released.set()
            assert reasons == [None] * 3
            assert held.held == 1


async def test_a_stalled_writer_makes_the_service_unready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_process(tmp_path) as service:
        writer = service.core.parts.database.writer
        monkeypatch.setattr(writer, "stalled", lambda: True)
        assert await _ready(service) == (503, "unable to write")
        assert await _alive(service) == 200
    assert STALLED_AFTER_S <= 5


async def test_a_disk_with_room_for_the_probe_but_no_seat_makes_the_service_unready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A limit on the database's pages acts as a full disk. It must be set on the writer's
    # connection.
    writers: list[apsw.Connection] = []

    def connect_and_keep(path: Path, *, query_only: bool = False, **more: Any) -> apsw.Connection:
        connection = connect(path, query_only=query_only, **more)
        if not query_only:
            writers.append(connection)
        return connection

    monkeypatch.setattr("pgs.storage.sqlite.database.connect", connect_and_keep)
    async with in_process(tmp_path) as service:
        partner, writer = await service.partner(), service.core.parts.database.writer
        assert await _ready(service) == (200, "ready")
        pages = writers[-1].execute("pragma page_count").get
        writers[-1].execute(f"pragma max_page_count={pages}")
        seated, number = 200, 0
        while seated == 200:
            number += 1
            assert number < 500, "the disk is never full"
            body = seat_body(f"player-{number}", f"k{number}")
            seated = (
                await service.public.call("POST", "/partner/matches", partner.test, body)
            ).status
        assert seated == 503
        assert await writer.submit(beat()) == Outcome.COMMITTED
        assert await _ready(service) == (503, "unable to write")
        assert await _alive(service) == 200
        monkeypatch.setattr("pgs.service_readiness.FAILED_RECENTLY_S", 0.0)
        assert await _ready(service) == (200, "ready")


@pytest.mark.parametrize(
    ("ago", "ready"), [(0.0, 503), (FAILED_RECENTLY_S - 5, 503), (FAILED_RECENTLY_S + 1, 200)]
)
async def test_a_failed_commit_makes_the_service_unready_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ago: float, ready: int
) -> None:
    async with in_process(tmp_path) as service:
        writer = service.core.parts.database.writer
        monkeypatch.setattr(writer, "failed_within", lambda seconds: ago < seconds)
        assert (await _ready(service))[0] == ready


async def test_a_conflict_is_no_failure_of_the_store(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        writer = service.core.parts.database.writer
        assert await writer.submit(Tx("", (Stmt("heartbeat.beat", {}, 2),))) == Outcome.CONFLICT
        assert await _ready(service) == (200, "ready")


async def test_a_draining_service_is_unready_and_alive_and_finishes_accepted_calls(
    tmp_path: Path,
) -> None:
    leave = trio.Event()

    async def serve(task_status: trio.TaskStatus[Service] = trio.TASK_STATUS_IGNORED) -> None:
        async with in_process(tmp_path) as service:
            task_status.started(service)
            await leave.wait()

    replies: list[Reply] = []
    async with trio.open_nursery() as nursery:
        service: Service = await nursery.start(serve)
        partner = await service.partner()
        held = HeldWriter(service.core.parts.database.writer)

        async def seat() -> None:
            replies.append(
                await service.public.call(
                    "POST", "/partner/matches", partner.test, seat_body("alice", "a")
                )
            )

        with writer_of(service.core, held):
            nursery.start_soon(seat)
            await until(lambda: held.held == 1)
            leave.set()
            await _until_ready_says(service, 503)
            assert await _ready(service) == (503, "draining")
            assert await _alive(service) == 200
            assert replies == []
            held.released.set()
            await until(lambda: bool(replies))
    assert ok(replies[0])["status"] == "waiting"
    async with in_process(tmp_path) as service:
        reply = await service.public.call(
            "POST", "/partner/matches", partner.test, seat_body("alice", "a")
        )
        assert (ok(reply)["seatId"], reply.header("idempotent-replayed")) == (
            ok(replies[0])["seatId"],
            "true",
        )


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/internal/healthz", 405),
        ("GET", "/internal/registry/refresh", 405),
        ("GET", "/internal", 404),
        ("GET", "/internal/nothing", 404),
        ("GET", "/partner/me", 404),
        ("POST", "/internal/registry/refresh", 200),
    ],
)
async def test_the_internal_listener_serves_only_its_own_paths(
    tmp_path: Path, method: str, path: str, status: int
) -> None:
    async with in_process(tmp_path) as service:
        assert (await service.internal.send(method, path))[0] == status


async def test_a_refresh_that_cannot_read_answers_503(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        (tmp_path / "pgs.db").rename(tmp_path / "away.db")
        (tmp_path / "pgs.db").mkdir()
        try:
            assert (await service.internal.send("POST", "/internal/registry/refresh"))[0] == 503
            ok(await service.public.call("GET", "/partner/me", partner.test))
        finally:
            (tmp_path / "pgs.db").rmdir()
            (tmp_path / "away.db").rename(tmp_path / "pgs.db")
        assert (await service.internal.send("POST", "/internal/registry/refresh"))[0] == 200
