"""Only one process at a time uses a data folder, and a power cut loses no acknowledged write."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pgs.storage.data_folder import DataFolderInUse
from pgs.storage.sqlite.connections import LOG_PAGES, connect, create_database
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.transactions import StoreOutage
from tests.virtual import open_store


def test_every_connection_syncs_each_commit_to_the_disk(tmp_path: Path) -> None:
    """SQLite reports `synchronous=FULL` as 2. With NORMAL, a power cut may lose commits."""
    create_database(tmp_path / "pgs.db")
    for query_only in (False, True):
        connection = connect(tmp_path / "pgs.db", query_only=query_only)
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
        assert connection.execute("pragma synchronous").fetchone() == (2,)
        assert connection.execute("pragma query_only").fetchone() == (int(query_only),)
        assert connection.execute("pragma busy_timeout").fetchone() == (5000,)
        connection.close()


def test_the_log_is_written_back_less_often_than_sqlite_would_by_itself(tmp_path: Path) -> None:
    create_database(tmp_path / "pgs.db")
    connection = connect(tmp_path / "pgs.db")
    connection.execute("create table part (content text)")
    for _ in range(3):
        connection.execute("insert into part values (hex(randomblob(2500000)))")
    in_log = (tmp_path / "pgs.db-wal").stat().st_size / 4096
    assert 3 * 1000 < in_log < LOG_PAGES
    assert (tmp_path / "pgs.db").stat().st_size < 1_000_000
    connection.execute("insert into part values (hex(randomblob(2500000)))")
    assert (tmp_path / "pgs.db").stat().st_size > 15_000_000
    connection.close()


def test_a_file_that_is_no_database_is_an_outage_and_leaves_no_lock(tmp_path: Path) -> None:
    (tmp_path / "pgs.db").write_bytes(b"this is no database, whatever its name says" * 100)
    for _ in range(2):
        with pytest.raises(StoreOutage, match="not a database"):
            SqliteDatabase(tmp_path)


def test_a_folder_that_is_open_cannot_be_opened_again(tmp_path: Path) -> None:
    with open_store(tmp_path), pytest.raises(DataFolderInUse):
        SqliteDatabase(tmp_path)
    SqliteDatabase(tmp_path).close()


def test_another_process_cannot_open_a_folder_that_is_in_use(tmp_path: Path) -> None:
    script = """
import pathlib, sys
from pgs.storage.data_folder import DataFolderInUse
from pgs.storage.sqlite.database import SqliteDatabase
try:
    SqliteDatabase(pathlib.Path(sys.argv[1]))
except DataFolderInUse:
    sys.exit(9)
"""

    def open_elsewhere() -> int:
        return subprocess.run([sys.executable, "-c", script, tmp_path], check=False).returncode

    with open_store(tmp_path):
        assert open_elsewhere() == 9
    assert open_elsewhere() == 0


def test_only_the_owner_can_use_a_new_folder_and_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    mask = os.umask(0)
    try:
        with open_store(folder):
            modes = {
                path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]
            }
    finally:
        os.umask(mask)
    assert modes == {
        "data": 0o700,
        "lock": 0o600,
        "pgs.db": 0o600,
        "pgs.db-wal": 0o600,
        "pgs.db-shm": 0o600,
        "pgs.mark": 0o600,
    }
