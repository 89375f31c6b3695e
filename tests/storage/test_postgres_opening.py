"""Starts on a PostgreSQL that is refused, and what the service finds damaged or lost there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio
from structlog.testing import capture_logs

from pgs.config import Config
from pgs.storage import engines
from pgs.storage.backup import BadTarget
from pgs.storage.data_folder import BadSource, DataRefused
from pgs.storage.database_mark import MARK_NAME, read_mark
from pgs.storage.postgres import database as rooms
from pgs.storage.postgres import session as sessions
from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.postgres.identity import accept_loss
from pgs.storage.restored_feeds import FEED_GAP
from pgs.storage.seats import Head, find_head, move_head
from pgs.storage.transactions import Outcome, OutcomeUnknown, StoreOutage, WriteFailed
from tests.postgres import Server
from tests.storage.postgres_faults import table_away
from tests.storage.writing import lock, locked_games, submit_all, submit_or_error, tx_of
from tests.virtual import START

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@contextmanager
def opened(url: str, folder: Path, *, inline: bool = True) -> Iterator[PostgresDatabase]:
    database = PostgresDatabase(url, folder, inline=inline)
    try:
        yield database
    finally:
        database.close()


def end_writer(operator: psycopg.Connection) -> None:
    operator.execute(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
        "where datname = current_database() and pid <> pg_backend_pid()"
    )


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_damaged_mark_is_refused_until_the_loss_is_accepted(url: str, tmp_path: Path) -> None:
    with opened(url, tmp_path):
        pass
    (tmp_path / MARK_NAME).write_text("{")
    with pytest.raises(DataRefused, match=r"is damaged .*accept-loss"):
        PostgresDatabase(url, tmp_path)
    accept_loss(url, tmp_path, START)
    with opened(url, tmp_path) as database:
        assert database.lost() is None


def test_another_database_than_that_of_the_data_folder_is_refused(
    url: str, tmp_path: Path, postgres: Server
) -> None:
    other = postgres.new_database()
    for address, folder in ((url, "here"), (other, "there")):
        with opened(address, tmp_path / folder):
            pass
    for _ in range(2):
        with pytest.raises(DataRefused, match="not the database that was last open"):
            PostgresDatabase(other, tmp_path / "here")
    with opened(url, tmp_path / "here"):
        pass


def test_a_mark_that_cannot_be_written_is_an_outage_and_leaves_nothing_locked(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("pgs.storage.database_mark.sync_folder", full)
        with pytest.raises(StoreOutage, match="the mark cannot be written"):
            PostgresDatabase(url, tmp_path)
        patch.setattr("pgs.storage.postgres.identity.write_mark", full)
        with pytest.raises(StoreOutage, match="the mark cannot be written"):
            accept_loss(url, tmp_path, START)
    with opened(url, tmp_path):
        pass


def test_a_database_that_refuses_to_be_read_at_the_start_is_an_outage(
    url: str, tmp_path: Path, operator: psycopg.Connection
) -> None:
    with opened(url, tmp_path):
        pass
    with table_away(operator, "heartbeat"):
        with pytest.raises(StoreOutage, match=r"cannot be opened: relation .*does not exist"):
            PostgresDatabase(url, tmp_path)
        with pytest.raises(StoreOutage, match="does not exist"):
            accept_loss(url, tmp_path, START)
    with opened(url, tmp_path):
        pass


def test_the_loss_of_an_empty_database_is_not_accepted(url: str, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="is empty"):
        accept_loss(url, tmp_path, START)
    assert read_mark(tmp_path) is None


def test_a_pooler_that_shares_sessions_is_refused(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pooler gives each of the service's connections the same session of the server."""
    shared: list[Any] = []

    def pooled(address: str, name: str, **settings: str) -> Any:
        if not shared:
            shared.append(connect(address, name))
        return shared[0]

    with monkeypatch.context() as patch:
        for module in (rooms, sessions):
            patch.setattr(module, "connect", pooled)
        with pytest.raises(StoreOutage, match="a pooler that shares sessions"):
            PostgresDatabase(url, tmp_path)
    assert read_mark(tmp_path) is None
    with opened(url, tmp_path):
        pass


def test_an_account_that_may_not_ask_which_server_it_is_on_can_use_the_database(
    url: str, tmp_path: Path, operator: psycopg.Connection
) -> None:
    database = operator.info.dbname
    operator.execute(f"create role guest_{database} login".encode())
    operator.execute(f"grant all on schema public to guest_{database}".encode())
    operator.execute("revoke execute on function pg_control_system() from public")
    guest = url.replace("pgs@", f"guest_{database}@")
    for _ in range(2):
        with capture_logs() as logs, opened(guest, tmp_path) as service:
            assert not service.take_over(START)
        assert [line["event"] for line in logs] == ["server_untold"]
    with capture_logs():
        with opened(guest, tmp_path) as service:
            head = Head(1, 5)
            trio.run(submit_all, service, tx_of(move_head("acme", "test", Head(), head)))
        assert accept_loss(guest, tmp_path, START) > 0
        with opened(guest, tmp_path) as service:
            raised = trio.run(find_head, service.reader, "acme", "test")
    assert raised.feed_position > FEED_GAP
    operator.execute(f"drop owned by guest_{database}".encode())
    operator.execute(f"drop role guest_{database}".encode())


async def test_a_server_that_fell_back_to_an_older_state_takes_no_more_writes(
    url: str, tmp_path: Path, operator: psycopg.Connection
) -> None:
    with opened(url, tmp_path, inline=False) as database, capture_logs():
        database.start()
        for game in "abc":
            assert await database.writer.submit(tx_of(lock(game))) is Outcome.COMMITTED
        operator.execute("update heartbeat set beats = beats - 1 where name = 'writes'")
        end_writer(operator)
        assert isinstance(await submit_or_error(database, tx_of(lock("d"))), OutcomeUnknown)
        assert database.lost() is None
        for game in "efg":
            refused = await submit_or_error(database, tx_of(lock(game)))
            assert isinstance(refused, WriteFailed)
            assert "lacks the last commit:" in str(refused)
            assert "accept-loss" in (database.lost() or "")
    mark = read_mark(tmp_path)
    assert mark is not None
    assert mark.state == "open"
    for _ in range(3):  # a refused start writes nothing, so it hides nothing from the next one
        with pytest.raises(DataRefused, match="lacks the last commit:"):
            PostgresDatabase(url, tmp_path)


async def test_a_new_session_that_cannot_commit_is_not_written_on(
    url: str, tmp_path: Path, operator: psycopg.Connection
) -> None:
    with opened(url, tmp_path, inline=False) as database, capture_logs():
        database.start()
        end_writer(operator)
        assert isinstance(await submit_or_error(database, tx_of(lock("a"))), OutcomeUnknown)
        with table_away(operator, "heartbeat"):
            for _ in range(2):
                failed = await submit_or_error(database, tx_of(lock("b")))
                assert isinstance(failed, WriteFailed)
                assert "does not exist" in str(failed)
        await submit_or_error(database, tx_of(lock("c")))  # opens the next session
        assert await database.writer.submit(tx_of(lock("d"))) is Outcome.COMMITTED
        assert database.lost() is None
        assert await locked_games(database) == {"d"}


def test_a_restored_copy_whose_feeds_cannot_be_raised_is_taken_over_later_and_whole(
    url: str, tmp_path: Path, operator: psycopg.Connection
) -> None:
    with opened(url, tmp_path) as database:
        trio.run(submit_all, database, tx_of(move_head("acme", "test", Head(), Head(1, 5))))
    operator.execute("update heartbeat set beats = beats + 1 where name = 'server'")
    with opened(url, tmp_path) as database:
        with (
            table_away(operator, "heartbeat"),  # after the feeds were advanced
            pytest.raises(StoreOutage, match="the restored copy cannot be taken over"),
        ):
            database.take_over(START)
        assert trio.run(find_head, database.reader, "acme", "test") == Head(1, 5)
        assert database.take_over(START)
        assert trio.run(find_head, database.reader, "acme", "test").feed_position > FEED_GAP


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "thread"])
def test_the_check_of_a_database_lists_an_index_that_the_server_does_not_use(
    url: str, tmp_path: Path, operator: psycopg.Connection, inline: bool
) -> None:
    with opened(url, tmp_path, inline=inline) as database:
        assert database.all_faults() == []
        operator.execute(
            "update pg_index set indisvalid = false where indexrelid = 'tier_lock_pkey'::regclass"
        )
        assert database.all_faults() == ["the index tier_lock_pkey is not valid"]


def test_migrations_that_cannot_be_read_are_an_outage(
    url: str, tmp_path: Path, operator: psycopg.Connection
) -> None:
    with opened(url, tmp_path) as database:
        with table_away(operator, "migration"), pytest.raises(StoreOutage, match="does not exist"):
            database.migrations()
        assert database.migrations() != []


def test_a_service_without_a_key_ring_is_not_copied(url: str, tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path / "data", database_url=url)
    with pytest.raises(BadSource, match="there is no key ring at"):
        engines.copy_to_folder(config, url, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_backup_is_refused_with_the_ways_of_postgresql(url: str, tmp_path: Path) -> None:
    copied: list[Path] = []
    with opened(url, tmp_path / "data") as database, pytest.raises(BadTarget, match="pg_dump"):
        database.back_up(tmp_path / "copy", copied.append)
    assert copied == []
    assert not (tmp_path / "copy").exists()
