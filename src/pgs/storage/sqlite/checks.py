"""SQLite's own check of its file, and that check together with the check of the ledgers."""

import threading
from collections.abc import Callable
from typing import Final

from pgs.storage.bulk import finish
from pgs.storage.ledger import check_ledger
from pgs.storage.sqlite.reader import SqliteReader
from pgs.storage.sqlite_driver import FAULTS, Connection, watch_steps
from pgs.storage.transactions import ReadFailed

SHOWN_LIMIT: Final = 100
"""Faults listed in one report. A longer list would be of no more help to an operator."""

STEPS_BETWEEN_RESTS: Final = 100_000
"""Steps of SQLite's machine between two pauses of the daily check: some milliseconds of work."""

REST_S: Final = 0.005
"""Seconds for which the daily check pauses, so that calls can use the whole machine."""


def faults_of(connection: Connection) -> list[str]:
    """Return the faults of the database's pages, indexes and constraints; none if it is sound."""
    try:
        found = [
            str(row[0]) for row in connection.execute(f"pragma integrity_check({SHOWN_LIMIT})")
        ]
    except FAULTS as error:  # too damaged to be checked
        return [str(error)]
    return [] if found == ["ok"] else found


def all_faults_of(connection: Connection, pause: Callable[[], None]) -> list[str]:
    """Return the faults of pages, indexes and ledgers; none if all is sound.

    It reads table by table, and calls `pause` often.
    """
    watch_steps(connection, pause, STEPS_BETWEEN_RESTS)
    faults: list[str] = []
    try:
        names = "select name from sqlite_master where type = 'table' order by name"
        for (table,) in connection.execute(names).fetchall():
            check = f"pragma integrity_check('{table}')"
            faults += [row[0] for row in connection.execute(check) if row[0] != "ok"]
            pause()
        report = finish(check_ledger(SqliteReader(connection), pause))
    except FAULTS as error:  # too damaged to be checked
        return [*faults, str(error)][-SHOWN_LIMIT:]
    except ReadFailed as error:
        return [*faults, str(error)][-SHOWN_LIMIT:]
    return [*faults, *report.faults()][:SHOWN_LIMIT]


def go_on() -> None:
    """Make no pause: tests on a virtual clock have no time for it."""


def rest() -> None:
    """Pause for `REST_S`."""
    threading.Event().wait(REST_S)
