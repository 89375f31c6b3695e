"""Bulk reads of PostgreSQL, each over a connection of its own: what fails, and what is kept."""

from collections.abc import Iterator

import psycopg
import pytest
import trio
from psycopg import pq
from structlog.testing import capture_logs

from pgs.storage.bulk import read_in_bulk
from pgs.storage.postgres.bulk_connections import IDLE_READERS
from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import Lost, StatementRefused
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.reader import Query, Reader
from pgs.storage.transactions import Outcome, ReadFailed
from tests.journeys.service import until
from tests.storage.polling import until_now
from tests.storage.postgres_faults import CANCEL, WAITING, error_of, table_away, table_locked
from tests.storage.writing import lock, submit_or_error, tx_of

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

HEAD = Query("seats.find_head", {"partner_id": "acme", "environment": "test"})
LOCKS = Query("tiers.locks")


@pytest.fixture
def database(on_postgres: PostgresDatabase) -> PostgresDatabase:
    return on_postgres


def end_bulk_sessions(operator: psycopg.Connection) -> None:
    operator.execute(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
        "where datname = current_database() and application_name like '%bulk'"
    )


@pytest.fixture
def bulk(database: PostgresDatabase) -> Iterator[Reader]:
    reader = database.second_reader()
    yield reader
    reader.close()


async def test_a_bulk_read_whose_session_has_ended_fails_and_the_next_reader_has_a_new_session(
    database: PostgresDatabase, operator: psycopg.Connection
) -> None:
    bulk = database.second_reader()
    assert not await bulk.still_fails()
    end_bulk_sessions(operator)
    for _ in range(2):  # the second time the connection is known to have ended
        with pytest.raises(ReadFailed) as failed:
            await bulk.all("tiers.locks")
        assert failed.value.noun == "tiers"
    assert await bulk.still_fails()
    with pytest.raises(ReadFailed, match=r"reader\.begin"):
        await bulk.together(LOCKS, HEAD)
    bulk.close()
    following = database.second_reader()
    assert await following.together(LOCKS, HEAD) == [[], []]
    following.close()


async def test_a_bulk_read_that_is_refused_is_a_bug_and_no_outage(
    bulk: Reader, operator: psycopg.Connection
) -> None:
    with (
        table_away(operator, "tier_lock"),
        pytest.raises(StatementRefused, match="does not exist"),
    ):
        await bulk.one("tiers.locks")
    assert not await bulk.still_fails()
    assert await bulk.one("tiers.locks") is None


async def test_a_bulk_read_that_was_cancelled_succeeds_when_it_is_tried_again(
    url: str, operator: psycopg.Connection, bulk: Reader
) -> None:
    def read() -> Exception | None:
        return trio.run(error_of, lambda: bulk.all("tiers.locks"))

    with table_locked(url, "tier_lock"):
        found: list[Exception | None] = []
        async with trio.open_nursery() as nursery:

            async def in_thread() -> None:
                found.append(await trio.to_thread.run_sync(read))

            nursery.start_soon(in_thread)
            await until(lambda: operator.execute(WAITING).fetchone() is not None)
            operator.execute(CANCEL)
    assert isinstance(found[0], ReadFailed)
    assert not isinstance(found[0], Lost)
    assert not await bulk.still_fails()


def test_no_more_idle_sessions_are_kept_than_bulk_reads_run_at_once(
    database: PostgresDatabase, operator: psycopg.Connection
) -> None:
    readers = [database.second_reader() for _ in range(IDLE_READERS + 2)]
    assert sessions(operator) == IDLE_READERS + 2
    for reader in readers:
        reader.close()
    until_now(lambda: sessions(operator) == IDLE_READERS)


def sessions(operator: psycopg.Connection) -> int:
    (number,) = operator.execute(
        "select count(*) from pg_stat_activity "
        "where datname = current_database() and application_name like '%bulk'"
    ).fetchone() or (0,)
    return int(number)


async def test_a_connection_that_was_opened_while_the_writer_got_another_session_is_closed(
    database: PostgresDatabase,
    operator: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may lead to the server before, which may still run and has fallen behind."""
    database.start()
    pids: list[int] = []
    idle = database.second_reader()  # one has been open since the start

    async def fail_over() -> None:
        operator.execute(
            "select pg_terminate_backend(pid, 5000) from pg_locks "
            "where locktype = 'advisory' and granted and pid <> pg_backend_pid()"
        )
        for game in "abcdefgh":
            if await submit_or_error(database, tx_of(lock(game))) is Outcome.COMMITTED:
                return
        raise AssertionError("the writer has no new session")

    def connect_slowly(address: str, name: str, **settings: str) -> pq.abc.PGconn:
        opened = connect(address, name, **settings)
        if name.endswith("bulk"):
            pids.append(opened.backend_pid)
            if len(pids) == 1:
                trio.from_thread.run(fail_over)
        return opened

    monkeypatch.setattr("pgs.storage.postgres.database.connect", connect_slowly)
    with capture_logs():
        assert await read_in_bulk(database, lambda reader: reader.all("tiers.locks"))
    idle.close()
    first, second = pids
    alive = "select pid from pg_stat_activity where pid = any(%s)"
    until_now(lambda: operator.execute(alive, [[first, second]]).fetchall() == [(second,)])
