"""Measures the processor time of a seat, on both engines and on one, two and three nodes."""

import secrets
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import msgspec
import trio
from bench_cases import servers
from bench_cases.caller import call, post
from bench_cases.launch import Failed
from bench_cases.servers import Server, free_port
from bench_cases.setting import GAME, STAKE, TIER, Setting
from cluster_parts import postgres
from cluster_parts.cluster import call as ask
from cluster_parts.machines import OnLoopback
from rich.progress import Progress
from seed import seed

from pgs.domain.shards import SHARDS, shard_of
from pgs.operator.ready import ReadyPartner

TITLE = "Seats on SQLite, on PostgreSQL and on several nodes"
PARTNERS = 200
NODES_MAX = 3
SHARED_S = 60.0  # seconds until nodes that have started have divided the shards
REST_S = 10.0
AGAIN_S = 1.0  # seconds between two checks of the owners; each node looks at the others meanwhile

SQLITE, POSTGRES = "SQLite", "PostgreSQL"
OWNER, ANYWHERE = "at the owner", "at any node"


@dataclass
class Cost:
    """The processor time of a seat in microseconds, round by round: of the service, of PostgreSQL.

    `idle`: milliseconds of processor time that all nodes together use in a second without calls.
    """

    nodes: int = 1
    service: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)
    idle: float = 0.0
    seats_a_second: list[float] = field(default_factory=list)


@dataclass
class Installation:
    """Processes of the service on one database, with that database's partners."""

    nodes: list[Server]
    partners: list[ReadyPartner]
    internal: list[int] = field(default_factory=list)

    def owners(self) -> dict[int, int]:
        """Return the number of the node that answers for each shard; raises `Failed`."""
        if len(self.nodes) == 1:
            return dict.fromkeys(range(SHARDS), 0)
        before: dict[int, int] = {}
        give_up_at = time.monotonic() + SHARED_S
        while time.monotonic() < give_up_at:
            owners: dict[int, int] = {}
            counts = []
            for number, port in enumerate(self.internal):
                status, told = ask(f"127.0.0.1:{port}", "GET", "/internal/shards")
                shards = told["shards"] if status == 200 else {}  # it is still starting
                counts.append(len(shards))
                owners |= dict.fromkeys(map(int, shards), number)
            if owners == before and len(owners) == SHARDS and max(counts) - min(counts) <= 1:
                return owners
            before = owners
            time.sleep(AGAIN_S)
        raise Failed("the nodes did not divide the shards")


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


def _installation(folder: Path, database: Database, nodes: int, partner_count: int) -> Installation:
    """Return the nodes on a new database, or one process that is no node if `nodes` is 0."""
    home = folder / f"of-{nodes}"
    home.mkdir()
    url = database.new(f"of_{nodes}")
    partners = trio.run(seed, home / "ring", partner_count, lambda: None, url)
    if not nodes:
        server, internal = _start(home, "pgs", url)
        return Installation([server], partners, [internal])
    started = [_start(home, f"n{number}", url, number) for number in range(1, nodes + 1)]
    return Installation([one for one, _ in started], partners, [port for _, port in started])


def _seats(node: Server, partners: Sequence[ReadyPartner], count: int) -> Iterator[bytes]:
    run = secrets.token_hex(4)
    for number in range(count):
        body = msgspec.json.encode(
            {
                "playerId": f"p{run}-{number}",
                "gameId": GAME,
                "tierId": TIER,
                "stakeUsdCents": STAKE,
                "idempotencyKey": f"k{run}-{number}",
            }
        )
        key = partners[number % len(partners)].test_key
        yield post(node.address, "/partner/matches", body, key)


def _shares(on: Installation, where: str, owners: dict[int, int]) -> list[list[ReadyPartner]]:
    """Return, for each node, the partners whose seats are taken there."""
    if where == ANYWHERE:
        return [on.partners for _ in on.nodes]
    return [
        [one for one in on.partners if owners[shard_of(one.partner_id)] == number]
        for number in range(len(on.nodes))
    ]


def _measure(
    on: Installation, database: Database | None, where: str, setting: Setting, cost: Cost | None
) -> None:
    """Take seats at one node after the other, and note the processor time of all."""
    shares = _shares(on, where, on.owners())
    each = setting.calls // len(on.nodes)
    ready = [list(_seats(*of, each)) for of in zip(on.nodes, shares, strict=True)]
    service = sum(node.cpu_s() for node in on.nodes)
    server = database.cpu_s() if database else 0.0
    seconds = 0.0
    for node, requests in zip(on.nodes, ready, strict=True):
        seconds += _take(node, requests, setting.connections)
    seats = each * len(on.nodes)
    if cost is not None:
        used = sum(node.cpu_s() for node in on.nodes) - service
        cost.service.append(used / seats * 1e6)
        cost.database.append(((database.cpu_s() if database else 0.0) - server) / seats * 1e6)
        cost.seats_a_second.append(seats / seconds)


def _take(node: Server, requests: Sequence[bytes], connections: int) -> float:
    """Take seats; return the seconds that this took. Raises `Failed` with the first refusal."""
    refused: list[bytes] = []

    def check(status: int, body: bytes) -> None:
        if status != 200:
            refused.append(body)

    outcome = call(node.address, iter(requests), connections=connections, check=check)
    if refused:
        raise Failed(f"{node.name} answered {outcome.statuses}: {refused[0].decode()}")
    return outcome.seconds


def measure(setting: Setting, progress: Progress) -> dict[str, Cost]:
    """Return the costs of each case. Raises `Failed`, `Missing`, `NoAnswers` and `NotStarted`.

    Each round measures every case, and each round begins with another case. All processes keep
    running. Meanwhile each node of the other cases makes about three beats and four looks a second.
    What these cost the database is counted in the case that is measured.
    """
    database = Database(setting.folder)
    running: list[Server] = []
    try:
        sqlite = Installation([servers.product(setting.folder)], setting.partners)
        running += sqlite.nodes
        cases: dict[str, tuple[Installation, Database | None, str]] = {
            SQLITE: (sqlite, None, ANYWHERE)
        }
        for nodes in range(NODES_MAX + 1):
            made = _installation(setting.folder, database, nodes, len(setting.partners))
            running += made.nodes
            if not nodes:
                cases[POSTGRES] = (made, database, ANYWHERE)
            for where in (OWNER, ANYWHERE) if nodes > 1 else (OWNER,) if nodes else ():
                cases[case_name(nodes, where)] = (made, database, where)
        costs = {name: Cost(len(of.nodes)) for name, (of, _, _) in cases.items()}
        task = progress.add_task("Seats", total=setting.rounds * len(cases))
        names = list(cases)
        for number in range(-1, setting.rounds):  # the first round warms up
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                _measure(*cases[name], setting, costs[name] if number >= 0 else None)
                progress.advance(task, number >= 0)
        _rest(costs, {name: of for name, (of, _, _) in cases.items()})
    finally:
        for one in running:
            one.stop()
        database.stop()
    return costs


def _rest(costs: dict[str, Cost], installations: dict[str, Installation]) -> None:
    """Note how much processor time each case uses without calls."""

    def used(name: str) -> float:
        return sum(node.whole_cpu_s() for node in installations[name].nodes)

    before = {name: used(name) for name in costs}
    time.sleep(REST_S)
    for name, cost in costs.items():
        cost.idle = (used(name) - before[name]) / REST_S * 1e3


def case_name(nodes: int, where: str) -> str:
    """Return the name of a case of several nodes."""
    return "1 node" if nodes == 1 else f"{nodes} nodes, calls {where}"


def ratio(of: Cost, to: Cost) -> float:
    """Return the median over the rounds of `of.service` divided by `to.service`."""
    return median(a / b for a, b in zip(of.service, to.service, strict=True))
