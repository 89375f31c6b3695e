"""Databases of the second engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgs.storage.postgres.database import PostgresDatabase
    from tests.postgres import Server


@contextmanager
def open_postgres(
    server: Server, folder: Path, *, inline: bool = True
) -> Iterator[PostgresDatabase]:
    """Open a new database of a server for a block. Unless `inline`, the block calls `start`."""
    from pgs.storage.postgres.database import PostgresDatabase

    opened = PostgresDatabase(server.new_database(), folder, inline=inline)
    try:
        yield opened
    finally:
        opened.close()
