"""Reads of PostgreSQL: what fails, what is read again, and what goes on after a fault."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
import trio
from psycopg import pq
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import StatementRefused
from pgs.storage.postgres.database import READS, PostgresDatabase
from pgs.storage.postgres.reader import READ_S, PipelineReader
from pgs.storage.reader import Query
from pgs.storage.seats import Head, find_head
from pgs.storage.transactions import ReadFailed, StoreOutage
from tests.journeys.service import until
from tests.patience import PATIENCE_S
from tests.storage.postgres_faults import (
    CANCEL,
    TERMINATE,
    WAITING,
    error_of,
    table_away,
    table_locked,
)
from tests.storage.writing import lock, submit_all, tx_of

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

HEAD = Query("seats.find_head", {"partner_id": "acme", "environment": "test"})
LOCKS = Query("tiers.locks")


@pytest.fixture
def database(on_postgres: PostgresDatabase) -> PostgresDatabase:
    return on_postgres


class Line:
    """A connection of libpq on which a method fails, once, with `error`."""

    def __init__(self, opened: pq.abc.PGconn, method: str, error: Exception) -> None:
        opened.nonblocking = 1
        self._opened = opened
        self._method = method
        self._error: Exception | None = error

    def __getattr__(self, name: str) -> Any:
        if name == self._method and self._error is not None:
            error, self._error = self._error, None
            raise error
        return getattr(self._opened, name)


class Door:
    """Opens connections for a reader. `is_shut` says whether that fails."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.is_shut = False
        self.fault: tuple[str, Exception] | None = None

    def __call__(self) -> Any:
        if self.is_shut:
            raise StoreOutage("nobody there")
        fault, self.fault = self.fault, None
        opened = connect(self._url, "pgs test reads", **READS)
        return Line(opened, *fault) if fault else opened


@pytest.fixture
def door(database: PostgresDatabase, url: str) -> Door:
    """A door to the database at `url`, which `database` has given a schema."""
    return Door(url)


@pytest.mark.parametrize("is_known", [False, True], ids=["new", "prepared"])
async def test_a_refused_query_fails_alone_and_those_sent_with_it_are_answered(
    database: PostgresDatabase, operator: psycopg.Connection, is_known: bool
) -> None:
    database.start()
    reader = database.reader
    if is_known:
        await reader.together(HEAD, LOCKS)
    refused: list[Exception | None] = []
    heads: list[Head] = []

    async def read_head() -> None:
        heads.append(await find_head(database.reader, "acme", "test"))

    async def read_locks() -> None:
        refused.append(await error_of(lambda: reader.together(LOCKS, HEAD)))

    with table_away(operator, "tier_lock"):
        async with trio.open_nursery() as nursery:
            # The tasks of one turn run in either order, so a head follows the refused query.
            for task in (read_head, read_locks, read_head):
                nursery.start_soon(task)
    assert heads == [Head(), Head()]
    (error,) = refused
    # A query that the server does not know is a bug and no outage.
    assert isinstance(error, StatementRefused)
    assert 'relation "tier_lock" does not exist' in str(error)
    assert await reader.all("tiers.locks") == []


async def test_after_a_neighbours_error_all_queries_of_a_task_are_read_again_as_of_one_moment(
    database: PostgresDatabase, operator: psycopg.Connection
) -> None:
    database.start()
    both: list[list[list[tuple[Any, ...]]]] = []

    async def read_both() -> None:
        both.append(await database.reader.together(HEAD, HEAD))

    with table_away(operator, "tier_lock"):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read_both)
            nursery.start_soon(error_of, lambda: database.reader.all("tiers.locks"))
            nursery.start_soon(read_both)
    assert both == [[[], []], [[], []]]


async def waiting_read(
    database: PostgresDatabase,
    url: str,
    operator: psycopg.Connection,
    then: Callable[[], None],
    *queries: Query,
) -> Exception | None:
    """Return the error of queries of a locked table, on which `then` is done while they wait."""
    found: list[Exception | None] = []

    async def read() -> None:
        found.append(await error_of(lambda: database.reader.together(*queries)))

    with table_locked(url, "tier_lock"):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await until(lambda: operator.execute(WAITING).fetchone() is not None)
            then()
    return found[0]


@pytest.mark.parametrize("is_known", [False, True], ids=["new", "prepared"])
async def test_a_read_that_an_operator_cancels_is_an_outage_that_does_not_last(
    database: PostgresDatabase, url: str, operator: psycopg.Connection, is_known: bool
) -> None:
    database.start()
    if is_known:
        await database.reader.all("tiers.locks")
    error = await waiting_read(
        database,
        url,
        operator,
        lambda: void(operator.execute(CANCEL)),
        LOCKS,
    )
    assert isinstance(error, ReadFailed)
    assert error.noun == "tiers"
    assert not await database.reader.still_fails()


def void(_: object) -> None:
    """Return nothing."""


async def test_all_queries_under_way_fail_once_when_the_server_ends_their_session(
    database: PostgresDatabase, url: str, operator: psycopg.Connection
) -> None:
    database.start()
    await database.reader.all("tiers.locks")
    error = await waiting_read(
        database,
        url,
        operator,
        lambda: void(operator.execute(TERMINATE)),
        LOCKS,
        HEAD,
    )
    assert isinstance(error, ReadFailed)
    assert "terminating connection" in str(error)
    assert await database.reader.all("tiers.locks") == []


async def test_a_read_fails_when_the_server_has_been_silent_for_too_long(
    database: PostgresDatabase, url: str, operator: psycopg.Connection, mock_clock: MockClock
) -> None:
    database.start()
    await database.reader.all("tiers.locks")
    found: list[Exception | None] = []

    async def read() -> None:
        found.append(await error_of(lambda: database.reader.all("tiers.locks")))

    with table_locked(url, "tier_lock"):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await wait_all_tasks_blocked()
            mock_clock.jump(READ_S - 1)
            await wait_all_tasks_blocked()
            assert found == []
            mock_clock.jump(READ_S / 2 + 1)
    assert isinstance(found[0], ReadFailed)
    assert "the server does not answer" in str(found[0])
    assert await database.reader.all("tiers.locks") == []


@pytest.fixture
def _rests_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a reader that waits for its socket wake up by itself only after `PATIENCE_S`."""
    monkeypatch.setattr("pgs.storage.postgres.reader.READ_S", 2 * PATIENCE_S)


@pytest.mark.usefixtures("_rests_long")
@pytest.mark.parametrize("is_open", [False, True], ids=["first", "later"])
async def test_a_query_larger_than_the_sockets_buffer_is_sent_whole(
    database: PostgresDatabase, is_open: bool
) -> None:
    database.start()
    if is_open:
        await database.reader.all("tiers.locks")
    with trio.fail_after(PATIENCE_S):
        assert await find_head(database.reader, "a" * 4_000_000, "test") == Head()


@pytest.mark.usefixtures("_rests_long")
async def test_results_and_queries_that_fill_both_buffers_do_not_stop_each_other(
    database: PostgresDatabase,
) -> None:
    database.start()
    await submit_all(database, *(tx_of(lock(f"{n}" * 2000)) for n in range(20)))
    locks = await database.reader.all("tiers.locks")
    with trio.fail_after(PATIENCE_S):
        found = await database.reader.together(
            *[LOCKS] * 50, Query(HEAD.name, {**HEAD.params, "partner_id": "a" * 4_000_000})
        )
    assert found == [*[locks] * 50, []]


async def test_readiness_hears_of_a_lasting_outage_until_the_server_is_back(door: Door) -> None:
    reader = PipelineReader(door)
    reader.start()
    assert not await reader.still_fails()
    door.is_shut = True
    with pytest.raises(ReadFailed, match=r"tiers\.locks: nobody there"):
        await reader.all("tiers.locks")
    assert await reader.still_fails()
    door.is_shut = False
    assert not await reader.still_fails()
    reader.close()


@pytest.mark.parametrize("method", ["send_query_prepared", "consume_input"])
@pytest.mark.parametrize("error", [psycopg.OperationalError("gone"), ValueError("a bug")])
async def test_an_error_of_the_library_fails_the_reads_under_way_and_no_later_one(
    door: Door, method: str, error: Exception
) -> None:
    door.fault = (method, error)
    reader = PipelineReader(door)
    reader.start()
    with capture_logs() as logs:
        with pytest.raises(ReadFailed, match=str(error)):
            await reader.together(HEAD, HEAD)
        assert await reader.all("tiers.locks") == []
    told = [line["event"] for line in logs]
    assert told == (["reader_broke"] if isinstance(error, ValueError) else [])
    reader.close()


async def test_a_read_after_the_reader_was_closed_while_it_connects_fails(door: Door) -> None:
    reader: PipelineReader

    def connect() -> Any:
        trio.from_thread.run_sync(reader.close)
        return door()

    reader = PipelineReader(connect)
    reader.start()
    with pytest.raises(ReadFailed, match="the reader was closed"):
        await reader.all("tiers.locks")


async def test_the_reader_that_all_tasks_share_refuses_a_block_as_of_one_moment(door: Door) -> None:
    with pytest.raises(RuntimeError, match="a reader of its own"):
        PipelineReader(door).one_moment()
