"""What the writer reports of failed writes to the log and to readiness."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
import trio.testing
from structlog.testing import capture_logs

from pgs.storage.database import Database
from pgs.storage.transactions import Outcome, OutcomeUnknown, Stmt, WriteFailed
from tests.storage.writing import lock, submit_all, submit_or_error, tx_of, unlock
from tests.virtual import Faults, open_store


def without_error(line: Any) -> dict[str, object]:
    return {name: value for name, value in line.items() if name not in ("exc_info", "log_level")}


@pytest.mark.parametrize("text", ["delete from tier_lock", "commit"])
async def test_a_write_that_the_disk_failed_is_reported_within_the_asked_time(
    tmp_path: Path, faults: Faults, text: str, mock_clock: trio.testing.MockClock
) -> None:
    with open_store(tmp_path, faults) as database:
        faults.fail(text)
        failed = await submit_or_error(database, tx_of(unlock("a", None)))
        assert isinstance(failed, WriteFailed | OutcomeUnknown)
        mock_clock.jump(9)
        assert database.writer.failed_within(10)
        mock_clock.jump(1)
        assert not database.writer.failed_within(10)
        assert database.writer.failed_within(11)


async def test_conflicts_and_bugs_are_not_reported_as_failures_of_the_disk(tmp_path: Path) -> None:
    with open_store(tmp_path) as database:
        assert await submit_or_error(database, tx_of(lock("a"))) is Outcome.COMMITTED
        assert await submit_or_error(database, tx_of(lock("a"))) is Outcome.CONFLICT
        bug = await submit_or_error(database, tx_of(Stmt("tiers.no_such_query", {})))
        assert isinstance(bug, KeyError)
        assert not database.writer.failed_within(3600)


async def test_a_failed_write_is_logged_with_its_partner_and_a_conflict_is_not(
    tmp_path: Path, faults: Faults
) -> None:
    with open_store(tmp_path, faults) as database:
        faults.fail("delete from tier_lock")
        with capture_logs() as logged:
            await submit_or_error(database, tx_of(lock("a"), lock("a")))
            failed = await submit_or_error(database, tx_of(unlock("a")))
        assert isinstance(failed, WriteFailed)
        assert [without_error(line) for line in logged] == [
            {"event": "write_failed", "partner_id": "platform"}
        ]
        assert str(logged[0]["exc_info"]) == str(failed)
        assert logged[0]["log_level"] == "error"


async def test_a_failed_commit_is_logged_once_with_the_size_of_its_group(
    tmp_path: Path, faults: Faults
) -> None:
    with open_store(tmp_path, faults) as database:
        faults.fail("commit")
        with capture_logs() as logged:
            await submit_all(database, *[tx_of(lock(game)) for game in ("a", "b", "c")])
        assert [without_error(line) for line in logged] == [
            {"event": "commit_failed", "transactions": 3}
        ]


async def test_a_failed_rollback_is_logged_before_its_write(tmp_path: Path, faults: Faults) -> None:
    with open_store(tmp_path, faults) as database:
        faults.fail("insert into tier_lock")
        faults.fail("rollback")
        with capture_logs() as logged:
            failed = await submit_or_error(database, tx_of(lock("a")))
        assert isinstance(failed, WriteFailed)
        assert [line["event"] for line in logged] == ["rollback_failed", "write_failed"]


async def test_an_unforeseen_error_is_logged_and_the_next_write_is_committed(
    tmp_path: Path, faults: Faults
) -> None:
    with open_store(tmp_path, faults) as database:
        faults.fail("insert into tier_lock", times=1)
        faults.fail("rollback", MemoryError(), times=1)
        with capture_logs() as logged:
            broken = await submit_or_error(database, tx_of(lock("a")))
        assert isinstance(broken, OutcomeUnknown)
        assert [line["event"] for line in logged] == ["writer_broke"]
        assert isinstance(logged[0]["exc_info"], MemoryError)
        assert await submit_or_error(database, tx_of(lock("a"))) is Outcome.COMMITTED


async def test_the_writers_thread_is_a_daemon_and_uses_no_cpu_while_idle(
    threaded: Database,
) -> None:
    before = set(threading.enumerate())
    threaded.start()
    (thread,) = set(threading.enumerate()) - before
    assert thread.name == "pgs-writer"
    assert thread.daemon
    assert thread.ident is not None
    used = time.pthread_getcpuclockid(thread.ident)
    await trio.sleep(0.05)
    began = time.clock_gettime(used)
    await trio.sleep(0.2)
    assert time.clock_gettime(used) - began < 0.02
