"""Describes a PostgreSQL server and its database before a service starts on it."""

from contextlib import closing

from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import Connection, StatementRefused
from pgs.storage.postgres.hosts import primary_of
from pgs.storage.postgres.migrating import has_schema
from pgs.storage.transactions import StoreOutage


def inspect_server(url: str) -> str:
    """Return a sentence about the server of `url` and its database. Raises `StoreOutage`.

    No row is written, and no lock is taken.
    """
    here = primary_of(url, "pgs doctor")
    with closing(Connection(connect(here, "pgs doctor"), lambda warning: None)) as connection:
        try:
            ((version,),) = connection.command("show server_version")
            is_used = has_schema(connection)
        except StatementRefused as error:
            raise StoreOutage(f"the database refuses a query: {error}") from error
    state = "it has a database of this service" if is_used else "its database is new"
    return f"PostgreSQL {version} answers and takes writes; {state}"
