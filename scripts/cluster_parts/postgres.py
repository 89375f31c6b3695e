"""A primary of PostgreSQL and its synchronous standby."""

import os
import pwd
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import psycopg
from cluster_parts.machines import PATIENCE_S, Machines, Missing, end, ending

PORT: Final = 5432
NAMES: Final = ("d1", "d2")
"""The two machines with a server."""

_STREAMING: Final = (Path(__file__).parent / "streaming.sql").read_text(encoding="utf-8")

_SETTINGS: Final = {
    "unix_socket_directories": "''",
    "max_connections": "100",
    "shared_buffers": "'64MB'",
    "wal_level": "replica",
    "wal_keep_size": "'512MB'",
    "max_wal_senders": "8",
    "hot_standby": "on",
    # A connection on which the other server is silent ends within seconds, and a new one is made.
    "wal_sender_timeout": "'3s'",
    "wal_receiver_timeout": "'3s'",
    "wal_receiver_status_interval": "'1s'",
    "wal_retrieve_retry_interval": "'200ms'",
    # No commit waits for a standby until `Pair.strict` changes this to `*`: a standby of any name.
    "synchronous_standby_names": "''",
    "tcp_keepalives_idle": "1",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "3",
    "log_min_messages": "warning",
}


def programs() -> Path:
    """Return the folder of PostgreSQL's programs. Raises `Missing`."""
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"),
        key=lambda path: float(path.parent.parent.name),
    )
    if folders:
        return folders[-1].parent
    found = shutil.which("postgres")
    if found is None:
        raise Missing("there is no PostgreSQL: install it with `apt-get install postgresql`")
    return Path(found).parent


def account() -> pwd.struct_passwd | None:
    """Return the account for the servers, which refuse to run as root; None for this account."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise Missing("PostgreSQL does not run as root, and there is no account postgres or nobody")


class Server:
    """One server of the pair, on a machine of its own."""

    def __init__(self, machines: Machines, name: str, folder: Path, *, durable: bool) -> None:
        """`durable`: commits wait for the disk, which makes a difference only at a power cut."""
        self.name = name
        self._machines = machines
        self._programs = programs()
        self._account = account()
        self._durable = durable
        self.folder = folder / name
        self.folder.mkdir()
        self._give_away(self.folder)
        self._data = self.folder / "data"
        self.address = machines.address(name, PORT)
        self.process: subprocess.Popen[bytes] | None = None

    def _give_away(self, path: Path) -> None:
        if self._account is not None:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)

    def _command(self, program: str, *arguments: str) -> list[str]:
        run = [*ending(), str(self._programs / program), *arguments]
        if self._account is not None:
            run[1:1] = [
                f"--reuid={self._account.pw_uid}",
                f"--regid={self._account.pw_gid}",
                "--clear-groups",
            ]
        return self._machines.inside(self.name, run)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            self._command(program, *arguments), capture_output=True, text=True, cwd="/", check=False
        )
        if done.returncode:
            raise RuntimeError(f"{program} of {self.name} failed: {done.stderr}")

    def make(self) -> None:
        """Make a new, empty server."""
        self._run(
            "initdb", "-D", str(self._data), "-A", "trust", "-U", "pgs", "-E", "UTF8", "--no-sync"
        )
        with (self._data / "pg_hba.conf").open("a") as hba:
            hba.write("host all all all trust\nhost replication all all trust\n")
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.writelines(f"{name} = {value}\n" for name, value in _SETTINGS.items())
            if not self._durable:
                settings.write("fsync = off\nfull_page_writes = off\n")

    def follow(self, primary: "Server") -> None:
        """Replace this server's data by a copy of the primary's, and follow the primary."""
        shutil.rmtree(self._data, ignore_errors=True)
        host, _, port = primary.address.rpartition(":")
        source = f"host={host} port={port} user=pgs application_name={self.name}"
        self._run(
            *("pg_basebackup", "-D", str(self._data), "-d", source, "-R", "-X", "stream"),
            *("-c", "fast", "--no-sync"),
        )

    def start(self) -> None:
        """Start the server, and return once it takes connections."""
        host, _, port = self.address.rpartition(":")
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command(
                    *("postgres", "-D", str(self._data)),
                    *("-c", f"listen_addresses={host}", "-c", f"port={port}"),
                ),
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )
        self.until(lambda: self.ask("show port") != [], "it takes connections")

    def until(self, holds: "object", what: str) -> None:
        """Return once `holds()` is true; an error of the server counts as false."""
        give_up_at = time.monotonic() + PATIENCE_S
        assert callable(holds)
        while True:
            with suppress(psycopg.Error):
                if holds():
                    return
            if time.monotonic() > give_up_at:
                log = (self.folder / "log").read_text()[-2000:]
                raise RuntimeError(f"{self.name}: it never happened that {what}: {log}")
            time.sleep(0.05)

    def ask(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Return the rows of a statement, which commits by itself."""
        host, _, port = self.address.rpartition(":")
        with psycopg.connect(
            host=host, port=port, user="pgs", dbname=database, autocommit=True, connect_timeout=3
        ) as connection:
            found = connection.execute(sql.encode())
            return found.fetchall() if found.description else []

    def end(self, number: signal.Signals = signal.SIGINT) -> None:
        """End the server. SIGINT lets it stop by itself; SIGQUIT ends it like a crash."""
        process, self.process = self.process, None
        end(process, number)


class Pair:
    """A primary and its standby. Commits wait for the standby while it is `strict`."""

    def __init__(self, machines: Machines, folder: Path, *, durable: bool = True) -> None:
        self.primary, self.standby = (
            Server(machines, name, folder, durable=durable) for name in NAMES
        )

    def start(self) -> None:
        """Make both servers and start them."""
        self.primary.make()
        self.primary.start()
        self.primary.ask("create database pgs")
        self.attach()

    def attach(self) -> None:
        """Make the standby a copy of the primary, and let commits wait for it from then on."""
        self.standby.follow(self.primary)
        self.standby.start()
        self.primary.until(
            lambda: self.primary.ask(_STREAMING) == [(1,)],
            "the standby follows",
        )
        self.strict(True)

    def strict(self, wanted: bool) -> None:
        """Set whether commits wait for a standby."""
        self.primary.ask(f"alter system set synchronous_standby_names = '{'*' if wanted else ''}'")
        self.primary.ask("select pg_reload_conf()")

    def promote(self) -> Server:
        """Make the standby the primary, without asking the old one; return the old one.

        Commits do not wait for a standby until `attach`.
        """
        old = self.primary
        self.primary, self.standby = self.standby, old
        self.primary.ask("select pg_promote(true, 30)")
        self.strict(False)
        return old

    @property
    def url(self) -> str:
        """The address for PGS_DATABASE_URL, with both servers: the service finds the primary."""
        hosts = ",".join(sorted((self.primary.address, self.standby.address)))
        return f"postgresql://pgs@{hosts}/pgs"

    def close(self) -> None:
        """End both servers."""
        self.standby.end(signal.SIGQUIT)
        self.primary.end(signal.SIGQUIT)
