"""Brings the schema of a PostgreSQL database up to date."""

from pathlib import Path

from pgs.storage.first_terms import first_terms
from pgs.storage.migrations import POSTGRES, missing, statements
from pgs.storage.postgres.connection import Connection, StatementRefused
from pgs.storage.postgres.statements import PLAIN, bound, literals
from pgs.storage.transactions import StoreOutage

MIGRATING = 3
"""Class of the advisory lock that one service holds at a time while it changes the schema."""


_TABLE = 'create table if not exists migration (name text collate "C" primary key)'
_DONE = "insert into migration (name) values ($1)"


def has_schema(connection: Connection) -> bool:
    """Return whether the database has this service's tables, of whatever version."""
    return bool(connection.command("select 1 where to_regclass('migration') is not null"))


def migrations_of(connection: Connection) -> list[str]:
    """Return the names of the migrations applied, in order."""
    rows = connection.command('select name from migration order by name collate "C"')
    return [str(name) for (name,) in rows]


def migrate(connection: Connection, folder: Path = POSTGRES) -> list[str]:
    """Apply the migrations that are missing, and return their names in order.

    Each runs in its own transaction, together with the row that records it. Raises `SchemaNewer`
    and `StoreOutage`.
    """
    applied = []
    try:
        # A migration of a large table may take longer than the statements of calls are allowed to.
        connection.command("set statement_timeout = 0")
        connection.command("select pg_advisory_lock($1::int, 0)", *literals([MIGRATING]))
        connection.command(_TABLE)
        for path in missing(folder, migrations_of(connection)):
            connection.command("begin")
            try:
                for statement in statements(path.read_text(encoding="utf-8")):
                    connection.command(statement)
                connection.command(_DONE, *literals([path.stem]))
                connection.command("commit")
            except BaseException:
                if not connection.is_lost:
                    connection.command("rollback")
                raise
            applied.append(path.stem)
        text = bound("terms.ship_terms", {"text": first_terms()})
        connection.read(PLAIN["terms.ship_terms"], text)
        connection.command("select pg_advisory_unlock($1::int, 0)", *literals([MIGRATING]))
        connection.command("reset statement_timeout")
    except StatementRefused as error:
        raise StoreOutage(f"the schema cannot be brought up to date: {error}") from error
    return applied
