"""Reads the applied migrations, and runs SQLite's own check of the database."""

import sqlite3
import threading

import trio

from pgs.storage.bulk import finish
from pgs.storage.database import Database
from pgs.storage.ledger import check_ledger
from pgs.storage.reader import Reader
from pgs.storage.transactions import ReadFailed, StoreOutage

SHOWN_LIMIT = 100
"""Faults listed in one report. A longer list would be of no more help to an operator."""

STEPS_BETWEEN_RESTS = 100_000
"""Steps of SQLite's machine between two rests of the daily check: some milliseconds of work."""

REST_S = 0.005
"""Seconds of a rest of the daily check, in which the calls have the machine to themselves."""

# One at a time: a check reads the whole file.
_LIMITER = trio.CapacityLimiter(1)


async def check_integrity(database: Database) -> list[str]:
    """Return the faults of the database's pages, indexes and constraints; none if it is sound.

    It reads the whole file, with a separate connection and on a separate thread (on the caller's
    thread if the database is `inline`). Raises `StoreOutage` if the file cannot be opened.
    """
    if database.inline:
        return _faults(database)
    return await trio.to_thread.run_sync(_faults, database, limiter=_LIMITER)


def _faults(database: Database) -> list[str]:
    connection = database.connect_to_read()
    try:
        found = [
            str(row[0]) for row in connection.execute(f"pragma integrity_check({SHOWN_LIMIT})")
        ]
    except sqlite3.DatabaseError as error:  # too damaged to be checked
        return [str(error)]
    finally:
        connection.close()
    return [] if found == ["ok"] else found


async def check_everything(database: Database) -> list[str]:
    """Return the faults of pages, indexes and ledgers; none if all is sound.

    It is for the daily check, which nobody waits for: it reads table by table and rests in between,
    on a thread of its own. Raises `StoreOutage` if the database cannot be read.
    """
    if database.inline:
        return _check_slowly(database)
    return await trio.to_thread.run_sync(
        _check_slowly, database, limiter=database.check_limit, abandon_on_cancel=True
    )


def _check_slowly(database: Database) -> list[str]:
    connection = database.connect_to_read()
    pause = _go_on if database.inline else _rest
    connection.set_progress_handler(pause, STEPS_BETWEEN_RESTS)
    faults: list[str] = []
    try:
        names = "select name from sqlite_master where type = 'table' order by name"
        for (table,) in connection.execute(names).fetchall():
            check = f"pragma integrity_check('{table}')"
            faults += [row[0] for row in connection.execute(check) if row[0] != "ok"]
            pause()
        report = finish(check_ledger(Reader(connection), pause))
    except sqlite3.DatabaseError as error:  # too damaged to be checked
        return [*faults, str(error)][-SHOWN_LIMIT:]
    except ReadFailed as error:
        return [*faults, str(error)][-SHOWN_LIMIT:]
    finally:
        connection.close()
    return [*faults, *report.faults()][:SHOWN_LIMIT]


def _go_on() -> None:
    """Take no rest: tests on a virtual clock have no time for it."""


def _rest() -> None:
    threading.Event().wait(REST_S)


def migrations_of(database: Database) -> list[str]:
    """Return the names of the migrations applied, in order. Raises `StoreOutage`."""
    connection = database.connect_to_read()
    try:
        return [name for (name,) in connection.execute("select name from migration order by name")]
    except sqlite3.Error as error:
        raise StoreOutage(str(error)) from error
    finally:
        connection.close()
