"""Lost sessions, crashed servers and lost commits: what is acknowledged stays.

The databases are those of a real server, which the tests crash.
"""

import os
from pathlib import Path

import psycopg
import pytest
import trio
import trio.lowlevel
from structlog.testing import capture_logs

from pgs.storage.data_folder import DataRefused
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.postgres.identity import accept_loss
from pgs.storage.postgres.session import DatabaseInUse
from pgs.storage.restored_feeds import FEED_GAP
from pgs.storage.seats import Head, find_head, find_seat, move_head
from pgs.storage.transactions import Outcome, OutcomeUnknown, ReadFailed, StoreOutage, WriteFailed
from tests.journeys.service import until
from tests.patience import PATIENCE_S
from tests.postgres import Server, running_server
from tests.storage.postgres_faults import WAITING
from tests.storage.writing import lock, locked_games, submit_all, submit_or_error, tx_of, unlock
from tests.virtual import START

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
def database(on_postgres: PostgresDatabase) -> PostgresDatabase:
    return on_postgres


def _run(url: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(sql.encode())
        return found.fetchall() if found.description else []


def _end_sessions(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
            "where datname = current_database() and application_name like %s",
            (name,),
        )


async def test_conflicts_in_a_group_leave_its_other_transactions_committed(
    database: PostgresDatabase,
) -> None:
    database.start()
    txs = [tx_of(lock(game)) for game in "abacb"]
    outcomes = await submit_all(database, *txs, tx_of(unlock("nothing")))
    assert sorted(str(outcome) for outcome in outcomes) == [
        *["Outcome.COMMITTED"] * 3,
        *["Outcome.CONFLICT"] * 3,
    ]
    assert await locked_games(database) == {"a", "b", "c"}


async def test_a_write_on_a_session_that_was_ended_has_an_unknown_outcome_and_the_next_ones_do_not(
    database: PostgresDatabase, url: str
) -> None:
    database.start()
    assert await database.writer.submit(tx_of(lock("a"))) is Outcome.COMMITTED
    _end_sessions(url, "pgs %")
    with capture_logs():
        assert isinstance(await submit_or_error(database, tx_of(lock("b"))), OutcomeUnknown)
        stale = await submit_or_error(database, tx_of(lock("c")))
        assert isinstance(stale, WriteFailed)  # decided before the new session was open
        assert await database.writer.submit(tx_of(lock("d"))) is Outcome.COMMITTED
        with trio.fail_after(PATIENCE_S):
            # The reader's connection was ended, too, and no event tells of the next one.
            while not {"a", "d"} <= await _games(database):  # noqa: ASYNC110
                await trio.sleep(0.02)
    assert await _games(database) == {"a", "d"}


async def _games(database: PostgresDatabase) -> set[str]:
    try:
        return await locked_games(database)
    except ReadFailed:
        return set()


async def test_reads_fail_while_their_connection_is_gone_and_succeed_on_the_next_one(
    database: PostgresDatabase, url: str
) -> None:
    database.start()
    assert await locked_games(database) == set()
    _end_sessions(url, "%reads")
    failed = 0
    for _ in range(3):
        try:
            await locked_games(database)
        except ReadFailed:
            failed += 1
    assert failed <= 1
    assert not await database.reader.still_fails()


async def test_reads_and_notices_go_over_new_connections_once_the_writer_has_a_new_session(
    database: PostgresDatabase, url: str
) -> None:
    """After a fail-over the old ones may lead to a server that still runs and has fallen behind."""
    database.start()
    assert database.notices is not None
    await database.notices.heard.wait()
    assert await locked_games(database) == set()
    before = _sessions(url)
    assert before.keys() == {"writes", "reads", "listens"}
    _run(url, f"select pg_terminate_backend({before['writes']}, 5000)")
    with capture_logs():
        assert isinstance(await submit_or_error(database, tx_of(lock("a"))), OutcomeUnknown)

        async def moved() -> bool:
            written = await submit_or_error(database, tx_of(lock("b")))
            read = "b" in await _games(database)  # opens the connection
            now = _sessions(url)
            return (
                isinstance(written, Outcome)
                and read
                and now.keys() == before.keys()
                and all(now[role] != before[role] for role in now)
            )

        await until(moved)


def _sessions(url: str) -> dict[str, int]:
    """Return the process of each session of the service, by what the session does."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            "select application_name, pid from pg_stat_activity where application_name like "
            "'pgs %' and application_name not like '% bulk' and datname = current_database()"
        ).fetchall()
    roles = ("reads", "listens")
    return {next((r for r in roles if name.endswith(r)), "writes"): pid for name, pid in rows}


async def test_other_tasks_go_on_while_a_commit_waits_for_the_server(
    database: PostgresDatabase, url: str
) -> None:
    database.start()
    assert await database.writer.submit(tx_of(lock("a"))) is Outcome.COMMITTED
    with psycopg.connect(url) as other, trio.fail_after(PATIENCE_S):
        other.execute("lock table heartbeat in share mode")  # each group counts itself there
        async with trio.open_nursery() as nursery:
            nursery.start_soon(database.writer.submit, tx_of(lock("b")))
            with psycopg.connect(url, autocommit=True) as watching:

                async def is_waiting() -> bool:
                    await trio.lowlevel.checkpoint()
                    return watching.execute(WAITING).fetchone() is not None

                await until(is_waiting)
            other.rollback()
    assert await locked_games(database) == {"a", "b"}


async def test_a_commit_that_waits_is_given_up_once_another_server_takes_writes(
    database: PostgresDatabase, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old primary that still runs confirms nothing, and its session does not end by itself."""
    asked: list[str] = []

    def elsewhere(_: str, name: str, used: dict[str, str]) -> dict[str, str]:
        asked.append(name)
        return used

    monkeypatch.setattr("pgs.storage.postgres.database.primary_elsewhere", elsewhere)
    database.start()
    assert await database.writer.submit(tx_of(lock("a"))) is Outcome.COMMITTED
    with psycopg.connect(url) as other, capture_logs() as logs:
        other.execute("lock table heartbeat in share mode")  # each group counts itself there
        assert isinstance(await submit_or_error(database, tx_of(lock("b"))), OutcomeUnknown)
        other.rollback()
    assert "primary_elsewhere" in {entry["event"] for entry in logs}
    assert asked
    with capture_logs():
        await submit_or_error(database, tx_of(lock("c")))  # decided during the session before
        assert await database.writer.submit(tx_of(lock("d"))) is Outcome.COMMITTED


async def test_a_second_service_is_refused_and_the_first_one_goes_on(
    database: PostgresDatabase, url: str, tmp_path: Path
) -> None:
    database.start()
    with pytest.raises(DatabaseInUse, match="another service"):
        PostgresDatabase(url, tmp_path / "other")
    assert await database.writer.submit(tx_of(lock("a"))) is Outcome.COMMITTED


async def test_a_text_with_a_nul_is_found_nowhere_and_not_written(
    database: PostgresDatabase,
) -> None:
    database.start()
    assert await find_seat(database.reader, "acme", "a\0b") is None
    with capture_logs():
        assert isinstance(await submit_or_error(database, tx_of(lock("a\0b"))), ValueError)
    assert await locked_games(database) == set()


def test_an_older_session_of_the_same_folder_is_ended(url: str, tmp_path: Path) -> None:
    """The process of that session was killed, and the server has not noticed it yet."""
    left = PostgresDatabase(url, tmp_path, inline=True)
    # The system releases the lock of a process that was killed. `left` keeps its own, on a file
    # that the folder no longer has.
    (tmp_path / "lock").unlink()
    following = PostgresDatabase(url, tmp_path, inline=True)
    with capture_logs():
        (outcome,) = trio.run(submit_all, left, tx_of(lock("late")))
        assert isinstance(outcome, OutcomeUnknown)
    assert trio.run(locked_games, following) == set()
    following.close()


async def test_a_server_that_crashes_loses_no_commit_and_the_service_goes_on_with_the_next_one(
    tmp_path: Path,
) -> None:
    with running_server() as server:
        database = PostgresDatabase(server.new_database(), tmp_path)
        database.start()
        assert await database.writer.submit(tx_of(lock("a"))) is Outcome.COMMITTED
        server.crash()
        with capture_logs():
            assert isinstance(await submit_or_error(database, tx_of(lock("b"))), OutcomeUnknown)
            assert isinstance(await submit_or_error(database, tx_of(lock("b"))), WriteFailed)
            with pytest.raises(StoreOutage):
                await locked_games(database)
            server.start()
            await submit_or_error(database, tx_of(lock("c")))  # opens the next session
            assert await database.writer.submit(tx_of(lock("d"))) is Outcome.COMMITTED
        assert not await database.reader.still_fails()
        assert {"a", "d"} <= await locked_games(database)
        database.close()


def test_a_database_that_lacks_commits_is_refused_until_the_loss_is_accepted(
    url: str, tmp_path: Path
) -> None:
    database = PostgresDatabase(url, tmp_path, inline=True)
    head = Head(1, 5)
    trio.run(submit_all, database, tx_of(move_head("acme", "test", Head(), head)))
    database.close()
    _run(url, "update heartbeat set beats = beats - 3 where name = 'writes'")
    with pytest.raises(DataRefused, match="lacks the last 3 commits"):
        PostgresDatabase(url, tmp_path, inline=True)
    accept_loss(url, tmp_path, START)
    database = PostgresDatabase(url, tmp_path, inline=True)
    raised = trio.run(find_head, database.reader, "acme", "test")
    database.close()
    assert raised.feed_position > FEED_GAP


def test_a_service_of_another_machine_is_refused_even_if_its_name_begins_in_the_same_way(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{'partner-game-service-prod':-<40}{number}" for number in range(2)]
    here = os.uname()
    monkeypatch.setattr("os.uname", lambda: os.uname_result((here[0], names[0], *here[2:])))
    database = PostgresDatabase(url, tmp_path / "data", inline=True)
    monkeypatch.setattr("os.uname", lambda: os.uname_result((here[0], names[1], *here[2:])))
    (tmp_path / "data").rename(tmp_path / "of-the-first-machine")
    with pytest.raises(DatabaseInUse, match="another service"):
        PostgresDatabase(url, tmp_path / "data", inline=True)
    database.close()


def test_a_restored_dump_raises_the_feeds_and_an_empty_database_is_refused(
    url: str, tmp_path: Path, postgres: Server
) -> None:
    database = PostgresDatabase(url, tmp_path, inline=True)
    trio.run(submit_all, database, tx_of(move_head("acme", "test", Head(), Head(1, 5))))
    assert not database.take_over(START)
    database.close()
    with pytest.raises(DataRefused, match="empty"):
        PostgresDatabase(postgres.new_database(), tmp_path, inline=True)
    # A dump that was restored is on another server, or in another database of the same one.
    _run(url, "update heartbeat set beats = beats + 1 where name = 'server'")
    database = PostgresDatabase(url, tmp_path, inline=True)
    assert database.take_over(START)
    raised = trio.run(find_head, database.reader, "acme", "test")
    database.close()
    assert raised.feed_position > FEED_GAP
    database = PostgresDatabase(url, tmp_path, inline=True)
    assert not database.take_over(START)
    database.close()


async def test_a_failure_of_an_ended_session_counts_until_the_next_session_commits(
    database: PostgresDatabase, url: str
) -> None:
    database.start()
    assert await submit_all(database, tx_of(lock("a"))) == [Outcome.COMMITTED]
    _end_sessions(url, "pgs %")
    failed = await submit_or_error(database, tx_of(lock("b")))
    assert isinstance(failed, OutcomeUnknown)
    assert database.writer.failed_within(3600)
    # It was decided in the old session. It opens the next one, and is refused.
    assert isinstance(await submit_or_error(database, tx_of(lock("b"))), WriteFailed)
    assert database.writer.failed_within(3600)
    assert await submit_all(database, tx_of(lock("b"))) == [Outcome.COMMITTED]
    assert not database.writer.failed_within(3600)
