"""A PostgreSQL for tests: a server of its own in a temporary folder, on a Unix socket."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

import psycopg

from tests.patience import PATIENCE_S
from tests.tools import do_without, find_tool

# The tests are about what is written, and never cut the power: nothing waits for the disk.
OPTIONS: Final = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "32MB",
    "max_connections": "150",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # Each new database adds 7 MB to the log, and by default a server keeps up to 1 GB of it.
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "log_min_messages": "warning",
}


def programs() -> Path:
    """Return the folder of PostgreSQL's programs. Skips or fails the test without one."""
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"),
        key=lambda path: float(path.parent.parent.name),
    )
    return folders[-1].parent if folders else Path(find_tool("postgres")).parent


def _account() -> pwd.struct_passwd | None:
    """Return the account to run as: PostgreSQL refuses to run as root. None for our own."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    do_without("PostgreSQL does not run as root, and there is no other account")


class Server:
    """A running PostgreSQL. Each test gets a database of its own from `new_database`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count(1)
        self._programs = programs()
        account = _account()
        if account is not None:
            os.chown(folder, account.pw_uid, account.pw_gid)
        self._as = (
            [
                "setpriv",
                f"--reuid={account.pw_uid}",
                f"--regid={account.pw_gid}",
                "--clear-groups",
                "--pdeathsig=INT",  # ends with the tests, however they end
            ]
            if account is not None
            else ["setpriv", "--pdeathsig=INT"]
        )
        self._run("initdb", "-A", "trust", "-U", "pgs", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    def start(self) -> None:
        """Start the server, and return once it takes connections."""
        options = [part for name, value in OPTIONS.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *self._as,
                    str(self._programs / "postgres"),
                    *("-D", str(self.folder / "data"), "-k", str(self.folder)),
                    *options,
                ],
                stdout=log,
                stderr=log,
                cwd="/",
            )
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < give_up_at, (self.folder / "log").read_text()
                time.sleep(0.02)
            else:
                return

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [*self._as, str(self._programs / program), "-D", str(self.folder / "data"), *arguments],
            check=True,
            capture_output=True,
            cwd="/",
        )

    def url(self, database: str) -> str:
        """Return the address of a database, as PGS_DATABASE_URL takes it."""
        return f"postgresql://pgs@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """Return the address of a new, empty database."""
        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {name}".encode())
        return self.url(name)

    def crash(self) -> None:
        """End the server at once, as a crash does, with every session."""
        self._end(signal.SIGQUIT)

    def stop(self) -> None:
        """Stop the server; sessions end."""
        self._end(signal.SIGINT)

    def _end(self, number: signal.Signals) -> None:
        self._process.send_signal(number)
        self._process.wait(PATIENCE_S)


@contextmanager
def running_server() -> Iterator[Server]:
    """Run a server for a block. Skips the test, or fails it, on a machine without PostgreSQL."""
    programs()
    # Not pytest's folder, which only root may enter where the tests run as root.
    folder = Path(tempfile.mkdtemp(prefix="pgs-postgres-"))
    try:
        server = Server(folder)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
