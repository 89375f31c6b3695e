"""Databases for one test: in-line, on a thread, breakable, and an empty one with the schema."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgs.storage.database import Database
from pgs.storage.migrations import migrate
from tests.virtual import Faults, open_store


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def threaded(tmp_path: Path, faults: Faults) -> Iterator[Database]:
    """A database whose writer, once started, is a thread that obeys `faults`."""
    with open_store(tmp_path, faults, inline=False) as database:
        yield database


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    yield connection
    connection.close()
