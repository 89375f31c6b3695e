"""Databases of a test's own: one that commits in-line, and one that breaks as the test says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pgs.storage.database import Database
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
