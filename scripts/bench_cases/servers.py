"""The servers that are compared, each in a process of its own on a free port."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEER_PYTHON = ROOT / ".venv-bench" / "bin" / "python"
COLYSEUS = HERE / "colyseus"
START_S = 30.0  # seconds that a server may take until its port answers
STOP_S = 30.0


class NotStarted(Exception):
    """A server did not start; the message has the end of its log."""


@dataclass(frozen=True)
class Under:
    """How a server is started: the command that runs it, and the seconds until its port answers."""

    command: Sequence[str] = ()
    start_s: float = START_S


ALONE = Under()


class Server:
    """A running server and what its process has used."""

    def __init__(
        self,
        name: str,
        command: list[str],
        port: int,
        log: Path,
        env: Mapping[str, str],
        under: Under = ALONE,
    ) -> None:
        self.name, self.address = name, ("127.0.0.1", port)
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PGS_")}
        with log.open("wb") as sink:
            self._process = subprocess.Popen(
                [*under.command, *command],
                env={**clean, **env},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                cwd=log.parent,
            )
        until = time.monotonic() + under.start_s
        while True:
            try:
                socket.create_connection(self.address, 1).close()
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    self.stop()
                    raise NotStarted(f"{name} did not start: {log.read_text()[-500:]}") from None
                time.sleep(0.05)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def cpu_s(self) -> float:
        """Return the seconds of processor time that its threads have used, ended ones included.

        They are counted in nanoseconds. Python has no clock_getcpuclockid(3), but on Linux the
        clock of a process has a fixed number: the complement of its id, and 2 in the last three
        bits.
        """
        return time.clock_gettime(~self._process.pid << 3 | 2)

    def memory_kb(self) -> int:
        """Return its resident memory in kB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(r"^VmRSS:\s+([0-9]+) kB", status, re.MULTILINE)
        return int(found[1]) if found else 0

    def stop(self) -> None:
        """Stop it, by force if it does not end in time."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def free_port() -> int:
    """Return a port of 127.0.0.1 that was free just now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def product(folder: Path, under: Under = ALONE) -> Server:
    """Return `pgs serve` on the data folder `folder / "data"`."""
    port = free_port()
    settings = {
        "PGS_DATA_DIR": str(folder / "data"),
        "PGS_LISTEN": f"127.0.0.1:{port}",
        "PGS_INTERNAL_LISTEN": "127.0.0.1:0",
        "PGS_LOG_LEVEL": "warning",
    }
    command = [sys.executable, "-m", "pgs", "serve"]
    return Server("pgs", command, port, folder / "pgs.log", settings, under)


def peer(folder: Path, keys: Path, commit: str, under: Under = ALONE) -> Server:
    """Return the FastAPI service; `commit` is `group` or `call`. Needs `install_peer`."""
    port = free_port()
    script, database = HERE / "fastapi_peer.py", folder / f"peer-{commit}.db"
    command = [str(PEER_PYTHON), str(script), str(port), str(keys), str(database)]
    name = f"FastAPI, a commit per {commit}"
    settings = {"PEER_COMMIT": commit}
    return Server(name, command, port, folder / "peer.log", settings, under)


def bare(folder: Path, under: Under = ALONE) -> Server:
    """Return the trio loop that answers every request with the same bytes."""
    port = free_port()
    command = [sys.executable, str(HERE / "bare_trio.py"), str(port)]
    return Server("trio alone", command, port, folder / "bare.log", {}, under)


def colyseus(folder: Path) -> Server:
    """Return a Colyseus server with rooms of two. Needs `install_colyseus`."""
    port = free_port()
    command = [_node(), str(COLYSEUS / "server.mjs"), str(port)]
    return Server("Colyseus", command, port, folder / "colyseus.log", {})


def install_peer() -> None:
    """Install the peer's packages into .venv-bench, unless they are there."""
    requirements, mark = ROOT / "requirements-bench.txt", ROOT / ".venv-bench" / "installed"
    if mark.exists() and mark.stat().st_mtime >= requirements.stat().st_mtime:
        return
    folder = ROOT / ".venv-bench"
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(PEER_PYTHON), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--quiet", "--quiet", "install", "--require-hashes", "-r", str(requirements)],
        check=True,
    )
    mark.touch()


def install_colyseus() -> str | None:
    """Install Colyseus with npm, unless it is there. Return why that is impossible, or None."""
    lock, mark = COLYSEUS / "package-lock.json", COLYSEUS / "node_modules" / ".locked"
    if mark.exists() and mark.read_bytes() == lock.read_bytes():
        return None
    npm = shutil.which("npm", path=_path())
    if npm is None:
        return "npm is not installed"
    # `install` keeps to the lock file too. `ci` refuses a lock without the optional packages of
    # other platforms.
    options = ["--no-save", "--no-fund", "--no-audit", "--ignore-scripts", "--loglevel=error"]
    command = [npm, *options, "install"]
    env = {**os.environ, "PATH": _path()}
    done = subprocess.run(command, cwd=COLYSEUS, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        return f"npm could not install it: {done.stderr.strip()[-200:]}"
    mark.write_bytes(lock.read_bytes())
    return None


def _path() -> str:
    return f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"


def _node() -> str:
    return shutil.which("node", path=_path()) or "node"
