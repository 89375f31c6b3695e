"""Installations of the service for benchmarks: a process, or nodes, on a database of their own."""

import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import trio
from bench_cases.servers import NotStarted, Server, free_port
from bench_cases.setting import Failed
from cluster_parts import postgres
from cluster_parts.cluster import call as ask
from cluster_parts.machines import OnLoopback
from seed import seed

from pgs.domain.shards import SHARDS, shard_of
from pgs.operator.ready_partners import ReadyPartner

SHARED_S = 180.0  # seconds that new nodes may take to divide the shards, on a busy machine
AGAIN_S = 1.0  # seconds between two checks of the owners; each node looks at the others meanwhile

OWNER, ANYWHERE = "at the owner", "at any node"


@dataclass
class Installation:
    """Processes of the service on one database, with that database's partners.

    `internal`: the ports of their internal listeners; none if it is one process that is no node.
    """

    nodes: list[Server]
    partners: list[ReadyPartner]
    internal: list[int] = field(default_factory=list)

    def owners(self) -> dict[int, int]:
        """Return the number of the node that answers for each shard; raises `Failed`."""
        if not self.internal:
            return dict.fromkeys(range(SHARDS), 0)
        before: dict[int, int] = {}
        give_up_at = time.monotonic() + SHARED_S
        while time.monotonic() < give_up_at:
            owners: dict[int, int] = {}
            counts = []
            for number, port in enumerate(self.internal):
                shards = _answers_for(port)
                counts.append(len(shards))
                owners |= dict.fromkeys(map(int, shards), number)
            if owners == before and len(owners) == SHARDS and max(counts) - min(counts) <= 1:
                return owners
            before = owners
            time.sleep(AGAIN_S)
        raise Failed("the nodes did not divide the shards")

    def stop(self) -> None:
        """Stop all of its processes."""
        for node in self.nodes:
            node.stop()


def _answers_for(port: int) -> list[str]:
    """Return the shards for which a node answers; none if it is still starting."""
    try:
        status, told = ask(f"127.0.0.1:{port}", "GET", "/internal/shards")
    except OSError:
        return []
    return list(told["shards"]) if status == 200 else []


class Database:
    """A PostgreSQL server for the benchmark, without a standby."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)  # the server may run as another account
        self._server = postgres.Server(OnLoopback(), "d1", folder, durable=True)
        self._server.make()
        self._server.start()

    def new(self, name: str) -> str:
        """Return the address of a new, empty database."""
        self._server.ask(f"create database {name}")
        return f"postgresql://pgs@{self._server.address}/{name}"

    def cpu_s(self) -> float:
        """Return the processor time of all its processes that run now (proc(5), schedstat)."""
        process = self._server.process
        assert process is not None
        pids = [process.pid, *_children(process.pid)]
        return sum(_used_s(pid) for pid in pids)

    def stop(self) -> None:
        """End the server."""
        self._server.end(signal.SIGQUIT)


def _children(pid: int) -> list[int]:
    return [
        int(child)
        for path in Path(f"/proc/{pid}/task").glob("*/children")
        for child in path.read_text().split()
    ]


def _used_s(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:  # it has just ended
        return 0.0


def _start(folder: Path, name: str, url: str, node: int | None = None) -> tuple[Server, int]:
    """Return a running service on a database, and the port of its internal listener."""
    public, internal = free_port(), free_port()
    settings = {
        "PGS_DATA_DIR": str(folder / name),
        "PGS_LISTEN": f"127.0.0.1:{public}",
        "PGS_INTERNAL_LISTEN": f"127.0.0.1:{internal}",
        "PGS_LOG_LEVEL": "warning",
        "PGS_DATABASE_URL": url,
        "PGS_SECRET_KEY_FILE": str(folder / "ring" / "keys"),
    }
    if node is not None:
        settings |= {
            "PGS_NODE_NAME": f"n{node}",
            "PGS_NODE_ADDRESS": f"127.0.0.1:{public}",
            "PGS_BASE_URL": "http://127.0.0.1",
        }
    command = [sys.executable, "-m", "pgs", "serve"]
    return Server(name, command, public, folder / f"{name}.log", settings), internal


def installation(folder: Path, database: Database, nodes: int, partner_count: int) -> Installation:
    """Return the nodes on a new database, or one process that is no node if `nodes` is 0."""
    home = folder / f"of-{nodes}"
    home.mkdir()
    url = database.new(f"of_{nodes}")
    partners = trio.run(seed, home / "ring", partner_count, lambda: None, url)
    if not nodes:
        return Installation([_start(home, "pgs", url)[0]], partners)
    made = Installation([], partners)
    try:
        for number in range(1, nodes + 1):
            node, internal = _start(home, f"n{number}", url, number)
            made.nodes.append(node)
            made.internal.append(internal)
    except NotStarted:
        made.stop()
        raise
    return made


def shares(on: Installation, where: str, owners: dict[int, int]) -> list[list[ReadyPartner]]:
    """Return, for each node, the partners whose seats are taken there."""
    if where == ANYWHERE:
        return [on.partners for _ in on.nodes]
    return [
        [one for one in on.partners if owners[shard_of(one.partner_id)] == number]
        for number in range(len(on.nodes))
    ]


def case_name(nodes: int, where: str) -> str:
    """Return the name of a case of several nodes."""
    return "1 node" if nodes == 1 else f"{nodes} nodes, calls {where}"
