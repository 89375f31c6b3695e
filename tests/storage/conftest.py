"""Databases for tests: without a writer thread, with one and faults, and empty with the schema."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import psycopg
import pytest

from pgs.storage.database import Database
from pgs.storage.migrations import migrate
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.sqlite_driver import opened
from tests.conftest import ON_POSTGRES
from tests.postgres import Server
from tests.storage.engines import open_postgres
from tests.virtual import Faults, open_store


@pytest.fixture(params=["sqlite", ON_POSTGRES])
def database(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A new database of each engine in turn."""
    if request.param == "sqlite":
        with open_store(tmp_path) as opened:
            yield opened
    else:
        with open_postgres(request.getfixturevalue("postgres"), tmp_path) as other:
            yield other


@pytest.fixture
def in_file(tmp_path: Path) -> Iterator[SqliteDatabase]:
    """A new database of SQLite, for a test that touches its file."""
    with open_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def threaded(tmp_path: Path, faults: Faults) -> Iterator[SqliteDatabase]:
    """A database whose writer runs in a thread once started, and on which `faults` happen."""
    with open_store(tmp_path, faults, inline=False) as database:
        yield database


@pytest.fixture(scope="module")
def connection() -> Iterator[apsw.Connection]:
    connection = opened(":memory:", 0)
    migrate(connection)
    yield connection
    connection.close()


@pytest.fixture
def url(postgres: Server) -> str:
    """The address of a new, empty database of PostgreSQL."""
    return postgres.new_database()


@pytest.fixture
def on_postgres(url: str, tmp_path: Path) -> Iterator[PostgresDatabase]:
    """The database at `url`, with the schema, and with a writer thread."""
    opened = PostgresDatabase(url, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def operator(url: str) -> Iterator[psycopg.Connection]:
    """A connection of an operator to the database at `url`."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection
