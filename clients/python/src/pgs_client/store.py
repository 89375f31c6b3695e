"""Where a feed's rows and its cursor are kept."""

import json
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pgs_client.records import Row


class FeedStore(Protocol):
    """Keeps the rows of one feed together with its cursor. Write your own over your database."""

    def cursor(self) -> str | None:
        """Return the cursor of the last `save`, or None before the first."""

    def save(self, rows: Sequence[Row], cursor: str) -> None:
        """Keep rows and cursor in one transaction.

        A row replaces the stored one of its match and player, unless the stored one has a higher
        revision. The same row may come more than once.
        """


_TABLES = """
create table if not exists pgs_row (
  match_id text not null, player_id text not null, revision integer not null, row text not null,
  primary key (match_id, player_id)
);
create table if not exists pgs_cursor (
  one integer primary key check (one = 1), cursor text not null
);
"""

_UPSERT = """
insert into pgs_row (match_id, player_id, revision, row) values (?, ?, ?, ?)
on conflict (match_id, player_id) do update set revision = excluded.revision, row = excluded.row
where excluded.revision >= pgs_row.revision
"""


class SqliteStore:
    """Keeps a feed in an SQLite file of its own. Threads may share it. Close it at the end.

    Use one file for each environment: a cursor of test says nothing about live.
    """

    def __init__(self, path: Path | str) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._database.executescript(_TABLES)

    def cursor(self) -> str | None:
        """Return the cursor of the last `save`, or None before the first."""
        with self._lock:
            found = self._database.execute("select cursor from pgs_cursor").fetchone()
        return None if found is None else str(found[0])

    def save(self, rows: Sequence[Row], cursor: str) -> None:
        """Keep rows and cursor in one transaction."""
        kept = [(row.match_id, row.player_id, row.revision, json.dumps(row.raw)) for row in rows]
        with self._lock:
            self._database.execute("begin immediate")
            try:
                self._database.executemany(_UPSERT, kept)
                self._database.execute(
                    "insert into pgs_cursor values (1, ?) "
                    "on conflict (one) do update set cursor = excluded.cursor",
                    (cursor,),
                )
            except BaseException:
                self._database.execute("rollback")
                raise
            self._database.execute("commit")

    def rows(self) -> list[Row]:
        """Return all rows, by match and player."""
        with self._lock:
            found = self._database.execute(
                "select row from pgs_row order by match_id, player_id"
            ).fetchall()
        return [Row.read(json.loads(text)) for (text,) in found]

    def row(self, match_id: str, player_id: str) -> Row | None:
        """Return the row of a match and player, or None."""
        with self._lock:
            found = self._database.execute(
                "select row from pgs_row where match_id = ? and player_id = ?",
                (match_id, player_id),
            ).fetchone()
        return None if found is None else Row.read(json.loads(found[0]))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()
