"""The SQL of the named queries, for tests that let SQLite explain it."""

from pgs.storage.queries import QUERIES


def sql_of(name: str) -> str:
    """Return the text of a query."""
    sql: str = QUERIES[name].sql  # type: ignore[attr-defined]  # aiosql sets it
    return sql
