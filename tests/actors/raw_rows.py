"""The rows of a test's database, read and written directly, without the service."""

from contextlib import closing
from typing import Any

from tests.actors.ready_core import ReadyCore
from tests.beside import open_beside
from tests.virtual import on_file


def select(s: ReadyCore, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query, as committed."""
    with closing(open_beside(on_file(s.parts.database).path)) as connection:
        return connection.execute(sql, parameters).fetchall()


def write(s: ReadyCore, sql: str, *parameters: object) -> None:
    """Commit a change that neither the writer nor an actor knows of."""
    with closing(open_beside(on_file(s.parts.database).path)) as connection, connection:
        connection.execute(sql, parameters)
