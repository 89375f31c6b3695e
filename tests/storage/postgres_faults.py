"""Faults of a PostgreSQL under test: missing tables, and reads that an operator ends."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

WAITING: Final = (
    "select pid from pg_stat_activity where datname = current_database() "
    "and wait_event_type = 'Lock'"
)
"""The sessions of a database that wait for a lock."""

CANCEL: Final = (
    "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() "
    "and wait_event_type = 'Lock'"
)

TERMINATE: Final = (
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() "
    "and wait_event_type = 'Lock'"
)


@contextmanager
def table_away(operator: psycopg.Connection, table: str) -> Iterator[None]:
    """Let a table have another name for a block."""
    operator.execute(f"alter table {table} rename to away".encode())
    try:
        yield
    finally:
        operator.execute(f"alter table away rename to {table}".encode())


@contextmanager
def table_locked(url: str, table: str) -> Iterator[None]:
    """Let every read of a table wait for a block."""
    with psycopg.connect(url) as holder:
        holder.execute(f"lock table {table} in access exclusive mode".encode())
        yield


async def error_of(read: Callable[[], Awaitable[object]]) -> Exception | None:
    """Return the error of a read; None if it succeeds."""
    try:
        await read()
    except Exception as error:
        return error
    return None
