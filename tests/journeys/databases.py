"""Databases of PostgreSQL for the journeys, which later tests use again."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self

import msgspec
import psycopg
import trio
from psycopg.sql import SQL, Identifier

from pgs.app import open_core
from pgs.config import KEY_FILE_NAME, Config
from tests.journeys.partners import make_tiers
from tests.patience import PATIENCE_S
from tests.postgres import Server


class Filled(msgspec.Struct, frozen=True):
    """A database with the schema and the tests' tiers, and its key ring."""

    url: str
    ring: bytes


class Databases:
    """Databases of a server with the schema and the tests' tiers, one for each folder.

    A database is used again by later tests: emptying it costs a hundredth of making one.
    """

    def __init__(self, server: Server, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._free: list[Filled] = []
        self._used: dict[Path, Filled] = {}

    def at(self, folder: Path) -> str:
        """Return the address of a folder's database, and put its key ring into the folder."""
        if folder not in self._used:
            filled = self._free.pop() if self._free else self._make()
            self._used[folder] = filled
            folder.mkdir(parents=True, exist_ok=True)
            ring = folder / KEY_FILE_NAME
            ring.touch(0o600)
            ring.write_bytes(filled.ring)
        return self._used[folder].url

    def _make(self) -> Filled:
        # In a thread, because the caller may be within a run of trio.
        with ThreadPoolExecutor(1) as thread:
            folder = Path(mkdtemp(dir=self._folder))
            return thread.submit(fill, self._server.new_database(), folder).result()

    def rows_of(self, folder: Path) -> dict[str, bytes]:
        """Return the rows of every table of a folder's database, by the table's name."""
        found = {}
        with psycopg.connect(self.at(folder)) as connection:
            for name in _tables(connection):
                command = SQL("copy public.{} to stdout").format(Identifier(name))
                with connection.cursor().copy(command) as copy:
                    found[name] = b"".join(bytes(piece) for piece in copy)
        return found

    @contextmanager
    def lent(self) -> Iterator[Self]:
        """Take back, at the end of a block, the databases that it has used."""
        before = set(self._used)
        try:
            yield self
        finally:
            for folder in self._used.keys() - before:
                filled = self._used.pop(folder)
                empty(filled.url)
                self._free.append(filled)


def fill(url: str, folder: Path) -> Filled:
    """Give an empty database the schema and the tests' tiers, and keep a copy of its rows."""
    config = Config(data_dir=folder, database_url=url)

    async def make() -> None:
        async with open_core(config) as core:
            await make_tiers(core)

    trio.run(make)
    with psycopg.connect(url) as connection:
        connection.execute("create schema kept")
        for name in _tables(connection):
            table = Identifier(name)
            connection.execute(SQL("create table kept.{0} as table public.{0}").format(table))
    return Filled(url, config.key_file.read_bytes())


def empty(url: str) -> None:
    """Give a database back the rows that it had when it was filled."""
    with psycopg.connect(url, autocommit=True) as connection:
        # Sessions of a service that has ended may still be closing, and hold its locks. The server
        # itself would look only every 100 ms whether a session has ended.
        end_others = (
            "select count(pg_terminate_backend(pid)) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        give_up_at = time.monotonic() + PATIENCE_S
        while connection.execute(end_others).fetchone() != (0,):
            assert time.monotonic() < give_up_at, "a session does not end"
            time.sleep(0.002)
        # One command: a trip to the server for each statement would take longer than the work.
        again = SQL("delete from public.{0}; insert into public.{0} table kept.{0};")
        tables = [again.format(Identifier(name)) for name in _tables(connection)]
        connection.execute(SQL("").join(tables))


def _tables(connection: psycopg.Connection[Any]) -> list[str]:
    rows = connection.execute(
        "select tablename from pg_tables where schemaname = 'public' order by tablename"
    )
    return [name for (name,) in rows]
