"""A write as a value, and what can become of a read or a write."""

import sqlite3
from enum import Enum

import msgspec

SqlValue = str | int | None
Params = dict[str, SqlValue]

# What SQLite raises for wrong calls and broken constraints, which are bugs. Its other errors are
# faults of the machine.
BUGS = (
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.NotSupportedError,
)


class StoreOutage(Exception):
    """The database could not do its part."""


class ReadFailed(StoreOutage):
    """A read failed. `noun` says of what."""

    def __init__(self, name: str, error: Exception) -> None:
        super().__init__(f"{name}: {error}")
        self.noun = name.partition(".")[0]


class WriteFailed(StoreOutage):
    """A transaction failed before its commit and was rolled back: nothing of it was done."""


class OutcomeUnknown(StoreOutage):
    """A commit failed: whether the transaction is on disk must be read from rows."""


class WriterFull(Exception):
    """Too many transactions wait already; this one was not taken."""


class Stmt(msgspec.Struct, frozen=True):
    """One named statement. `expected_rows` is the number of rows it must touch, None for any."""

    name: str
    params: Params
    expected_rows: int | None = None


class Tx(msgspec.Struct, frozen=True):
    """Statements of one partner that are committed together or not at all."""

    partner_id: str
    stmts: tuple[Stmt, ...]


class Outcome(Enum):
    """What became of a transaction."""

    COMMITTED = "committed"
    CONFLICT = "conflict"  # a unique index or `expected_rows` was violated; nothing was done
