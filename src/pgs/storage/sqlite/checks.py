"""Checks the file with SQLite's own check, with or without the check of the ledgers."""

from collections.abc import Callable
from typing import Final

from pgs.storage.bulk import finish
from pgs.storage.ledger import FAULTS_LISTED, check_ledger
from pgs.storage.sqlite.reader import SqliteReader
from pgs.storage.sqlite_driver import FAULTS, Connection, watch_steps
from pgs.storage.transactions import ReadFailed

STEPS_BETWEEN_PAUSES: Final = 100_000
"""Steps of SQLite's machine between two pauses of the daily check: some milliseconds of work."""


def faults_of(connection: Connection) -> list[str]:
    """Return the faults of the database's pages, indexes and constraints; none if it is sound."""
    try:
        found = [
            str(row[0]) for row in connection.execute(f"pragma integrity_check({FAULTS_LISTED})")
        ]
    except FAULTS as error:  # too damaged to be checked
        return [str(error)]
    return [] if found == ["ok"] else found


def all_faults_of(connection: Connection, pause: Callable[[], None]) -> list[str]:
    """Return the faults of pages, indexes and ledgers; none if all is sound.

    It reads table by table, and calls `pause` often.
    """
    watch_steps(connection, pause, STEPS_BETWEEN_PAUSES)
    faults: list[str] = []
    try:
        names = "select name from sqlite_master where type = 'table' order by name"
        for (table,) in connection.execute(names).fetchall():
            check = f"pragma integrity_check('{table}')"
            faults += [row[0] for row in connection.execute(check) if row[0] != "ok"]
            pause()
        report = finish(check_ledger(SqliteReader(connection), pause))
    except FAULTS as error:  # too damaged to be checked
        return [*faults, str(error)][-FAULTS_LISTED:]
    except ReadFailed as error:
        return [*faults, str(error)][-FAULTS_LISTED:]
    return [*faults, *report.faults()][:FAULTS_LISTED]
