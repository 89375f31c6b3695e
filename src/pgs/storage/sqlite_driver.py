"""The only SQLite library of this process, apsw, and what its errors mean.

No other library may open a database's file in this process: each library closes its files when it
is done, which drops the other library's locks on them. apsw contains its own SQLite, which is newer
than that of most systems, and in which faults of older versions are repaired.
"""

from collections.abc import Callable
from typing import Any, Final

import apsw

# By default SQLite counts the memory that it uses, for functions that nothing here calls. It takes
# a lock for that at each allocation: a twentieth of the writer's work for a seat. The setting can
# only be changed while SQLite is not in use, and apsw begins to use it when it is imported.
apsw.shutdown()
apsw.config(apsw.SQLITE_CONFIG_MEMSTATUS, False)
apsw.initialize()

Connection = apsw.Connection
Error = apsw.Error

BUGS: Final = (
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.TooBigError,
    apsw.RangeError,
    apsw.MisuseError,
    apsw.BindingsError,
    apsw.ConnectionClosedError,
    apsw.CursorClosedError,
    apsw.ExecutionCompleteError,
    apsw.IncompleteExecutionError,
    apsw.ThreadingViolationError,
)
"""The errors that mean a bug: wrong calls and broken constraints."""

FAULTS: Final = (Error, UnicodeDecodeError)
"""All errors of a statement. Those that are not in `BUGS` mean a fault of the machine. A text that
is not UTF-8 was damaged on the disk, since only UTF-8 is stored."""

# A violated unique index or primary key means that another write came first. Any other violated
# constraint is a bug.
_TAKEN: Final = frozenset(
    {
        apsw.SQLITE_CONSTRAINT_UNIQUE,
        apsw.SQLITE_CONSTRAINT_PRIMARYKEY,
        apsw.SQLITE_CONSTRAINT_ROWID,
    }
)

# The kernel may have dropped the pages that it could not write, and reports that only once: the
# next sync would succeed without them.
_FAILED_SYNC: Final = frozenset({apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC})

_DAMAGED: Final = frozenset({apsw.SQLITE_CORRUPT, apsw.SQLITE_NOTADB})

_KEPT_STATEMENTS: Final = 256
"""Statements that a connection keeps prepared: more than the service has."""


def opened(address: str, timeout_s: float, factory: type[Connection] = Connection) -> Connection:
    """Return a connection to an existing file, which waits `timeout_s` for a lock of the file.

    Only one thread may use the connection at a time. Without a `begin`, each statement is a
    transaction of its own. The address is a `file:` URI, since a path may have bytes that are not
    UTF-8. Raises `Error`.
    """
    # Without NOMUTEX, SQLite takes a lock for each value that it binds or returns: 100 rows of the
    # feed then took 134 to 139 µs to read instead of 105 to 109. With it, neither SQLite nor apsw
    # notices a second thread; the connections of the tests do.
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOMUTEX
    connection = factory(address, flags, statementcachesize=_KEPT_STATEMENTS)
    connection.set_busy_timeout(round(timeout_s * 1000))
    # Without this, a statement whose parameters may change its plan is prepared again for each new
    # value: a read of one row by an index then took 6.7 µs instead of 3.0.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


def is_bug(error: Exception) -> bool:
    """Return whether an error of a statement means a bug and not a fault of the machine."""
    return isinstance(error, BUGS) or not isinstance(error, FAULTS)


def is_taken(error: Exception) -> bool:
    """Return whether another row has the key of the row to be written."""
    return isinstance(error, apsw.ConstraintError) and _code(error) in _TAKEN


def is_failed_sync(error: Exception) -> bool:
    """Return whether the disk refused to keep what was written to it."""
    return _code(error) in _FAILED_SYNC


def is_damage(error: Exception) -> bool:
    """Return whether the file is damaged, or is no database."""
    return _code(error) & 0xFF in _DAMAGED


def _code(error: Exception) -> int:
    """Return SQLite's extended code; 0 if the error is not one of SQLite."""
    code: int = getattr(error, "extendedresult", 0)
    return code


def value_of(connection: Connection, query: str) -> Any:
    """Return the only value of a query. Raises `Error`."""
    return connection.execute(query).get


def watch_steps(connection: Connection, call: Callable[[], None], steps: int) -> None:
    """Call `call` after each `steps` steps of SQLite's virtual machine."""

    def go_on() -> bool:
        call()
        return False  # True would interrupt the statement

    connection.set_progress_handler(go_on, steps)


def write_back_with(connection: Connection, call: Callable[[], None], pages: int) -> None:
    """Call `call` after each commit that leaves at least `pages` pages in the write-ahead log.

    SQLite then no longer writes this connection's log back by itself.
    """

    def look(_: Connection, name: str, in_log: int) -> int:
        if in_log >= pages:
            call()
        return apsw.SQLITE_OK

    connection.set_wal_hook(look)


def write_back(connection: Connection) -> None:
    """Write the log back into the database's file, as far as no reader needs it. Raises `Error`."""
    connection.wal_checkpoint()


def copy_all(source: Connection, target: Connection) -> None:
    """Copy a whole database in one step. Raises `Error`.

    If there were several steps, each commit between two of them would restart the copy.
    """
    with target.backup("main", source, "main") as backup:
        backup.step()


def is_complete(statement: str) -> bool:
    """Return whether a text ends with the semicolon that ends a statement."""
    return apsw.complete(statement)
