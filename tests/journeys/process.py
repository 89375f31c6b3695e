"""Runs the service as a process that a test can start, signal, kill and start again."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Self

from tests.journeys.client import SyncClient
from tests.patience import PATIENCE_S

_READY = re.compile(r"pgs is ready: (http://\S+) \(internal (http://\S+), data (.+)\)\n")


_PORTS = count(os.getpid() * 97)  # each process begins somewhere else
_LOWEST, _HOW_MANY = 12_000, 20_000


def free_port() -> int:
    """Return a free port on loopback, another one at each call.

    It is below those that Linux gives to outgoing connections. Such a connection could otherwise
    take the port before the caller binds it.
    """
    while True:
        port = _LOWEST + next(_PORTS) % _HOW_MANY
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                sock.bind(("127.0.0.1", port))
                return port


class Process:
    """`python -m pgs serve` on a data folder. Leaving the block kills it if it still runs."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        internal_port: int | None = None,
        **settings: str,
    ) -> None:
        self.folder = folder
        self.port = free_port() if port is None else port
        self.internal_port = free_port() if internal_port is None else internal_port
        self.log = folder.with_suffix(".log")
        self.stderr: BinaryIO | int | None = None  # if set, receives the log instead of the file
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None
        self._client: SyncClient | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def launch(self) -> subprocess.Popen[str]:
        """Start the process and return at once."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PGS_")}
        environ = clean | {
            "PGS_LISTEN": f"127.0.0.1:{self.port}",
            "PGS_INTERNAL_LISTEN": f"127.0.0.1:{self.internal_port}",
            "PGS_DATA_DIR": str(self.folder),
            **self._settings,
        }
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pgs", "serve"],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log if self.stderr is None else self.stderr,
                text=True,
            )
        return self._process

    def start(self) -> None:
        """Start the process and return once it has printed that it is ready."""
        process = self.launch()
        assert process.stdout is not None
        line = process.stdout.readline()
        found = _READY.fullmatch(line)
        assert found, (line, self.log.read_text())
        assert found.groups() == (
            f"http://127.0.0.1:{self.port}",
            f"http://127.0.0.1:{self.internal_port}",
            str(self.folder),
        )
        self._client = SyncClient(found[1])

    @property
    def base_url(self) -> str:
        """The URL of the public listener."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def client(self) -> SyncClient:
        """A client of the running process."""
        assert self._client is not None
        return self._client

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """Signal the process; return its exit code and how many seconds it took to end."""
        assert self._process is not None
        begin = time.monotonic()
        self._process.send_signal(number)
        code = self.wait()
        return code, time.monotonic() - begin

    def wait(self) -> int:
        """Return the exit code once the process has ended."""
        assert self._process is not None
        process, self._process = self._process, None
        try:
            code = process.wait(PATIENCE_S)
            assert process.stdout is not None
            self.said = process.stdout.read()
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
            if self._client is not None:
                self._client.close()
                self._client = None
        return code

    def end(self) -> None:
        """Kill the process as a power cut would, if it still runs."""
        if self._process is not None:
            self._process.kill()
            self.wait()


def node_process(folder: Path, name: str, url: str, key_file: Path, **variables: Any) -> Process:
    """Return the process of a node, not started, with its data in a folder of its name."""
    port = free_port()
    return Process(
        folder / name,
        port=port,
        PGS_DATABASE_URL=url,
        PGS_NODE_NAME=name,
        PGS_NODE_ADDRESS=f"127.0.0.1:{port}",
        PGS_SECRET_KEY_FILE=str(key_file),
        **variables,
    )
