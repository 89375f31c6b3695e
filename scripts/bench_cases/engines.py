"""Measures the processor time of a seat, on both engines and on one, two and three nodes."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from bench_cases import servers
from bench_cases.caller import call
from bench_cases.installations import (
    ANYWHERE,
    OWNER,
    Database,
    Installation,
    case_name,
    installation,
    shares,
)
from bench_cases.servers import Server
from bench_cases.setting import Failed, Setting, seats
from rich.progress import Progress

TITLE = "Seats on SQLite, on PostgreSQL and on several nodes"
PARTNERS = 200
NODES_MAX = 3
REST_S = 10.0

SQLITE, POSTGRES = "SQLite", "PostgreSQL"


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


def _measure(
    on: Installation, database: Database | None, where: str, setting: Setting, cost: Cost | None
) -> None:
    """Take seats at one node after the other, and note the processor time of all."""
    each = setting.calls // len(on.nodes)
    asked = zip(on.nodes, shares(on, where, on.owners()), strict=True)
    run = secrets.token_hex(4)
    ready = [list(seats(node.address, of, each, f"{run}-{node.name}")) for node, of in asked]
    service = sum(node.cpu_s() for node in on.nodes)
    server = database.cpu_s() if database else 0.0
    seconds = 0.0
    for node, requests in zip(on.nodes, ready, strict=True):
        seconds += _take(node, requests, setting.connections)
    taken = each * len(on.nodes)
    if cost is not None:
        used = sum(node.cpu_s() for node in on.nodes) - service
        cost.service.append(used / taken * 1e6)
        cost.database.append(((database.cpu_s() if database else 0.0) - server) / taken * 1e6)
        cost.seats_a_second.append(taken / seconds)


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
    running, so the nodes of the other cases use the database meanwhile: each commits a beat about
    three times a second, and looks at the other nodes about four times (docs/clusters.md). What
    this costs the database is counted in the case that is measured.
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
            made = installation(setting.folder, database, nodes, len(setting.partners))
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
        return sum(node.cpu_s() for node in installations[name].nodes)

    before = {name: used(name) for name in costs}
    time.sleep(REST_S)
    for name, cost in costs.items():
        cost.idle = (used(name) - before[name]) / REST_S * 1e3


def ratio(of: Cost, to: Cost) -> float:
    """Return the median over the rounds of `of.service` divided by `to.service`."""
    return median(a / b for a, b in zip(of.service, to.service, strict=True))
