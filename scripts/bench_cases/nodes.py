"""Seats a second of one, two and three nodes together, each held to a fixed share of a core.

Two cores cannot hold two busy nodes, their caller and PostgreSQL at full speed. So each node may
use a small share of a core, and the machine has time left for the database and the caller.
"""

import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench_cases.caller import Outcome, call
from bench_cases.core_shares import Group, Shares
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
from bench_cases.setting import Failed, seats
from rich.progress import Progress

from pgs.operator.ready_partners import ReadyPartner

TITLE = "Seats a second of several nodes together"
PARTNERS = 240
NODES = (1, 2, 3)
SHARE = 0.13
"""The share of a core that a node may use: three such nodes leave the database and the caller more
time than they need, on two cores."""

SECONDS = 6.0
"""How long each case is called in a round. With 2.5 s, of which a node runs for only 0.3 s, rounds
of one case differed by up to half."""

CONNECTIONS = 32
"""Connections to each node."""

MANY = 1_000_000
"""More seats than a node takes in `SECONDS`."""


@dataclass
class Seen:
    """What one case showed, round by round.

    `share`: the part of its allowed time (`SHARE`) that a node used, from 0 to 1, as the mean of
    all nodes. `waited`: the part of the periods in which a node used up its share and waited.
    `database` and `caller`: cores that they used. `machine`: the part of all cores that was in use,
    whoever used it.
    """

    nodes: int
    seats_a_second: list[float] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)
    caller: list[float] = field(default_factory=list)
    machine: list[float] = field(default_factory=list)


@dataclass
class Case:
    """An installation whose nodes are held to their shares, and where its calls arrive.

    `owners`: the number of the node that answers for each shard.
    """

    on: Installation
    owners: dict[int, int]
    groups: list[Group]
    where: str


def measure(
    folder: Path, limits: Shares, rounds: int, partners: int, seconds: float, progress: Progress
) -> dict[str, Seen]:
    """Return what each case showed. Raises `Failed`, `Missing`, `NoAnswers` and `NotStarted`.

    Each round measures every case, and each round begins with another case. All nodes keep running,
    each in a control group of its own, so that a node which is not called takes no other's share.
    """
    with ExitStack() as ending:
        database = Database(folder)
        ending.callback(database.stop)
        cases: dict[str, Case] = {}
        for count in NODES:
            on = installation(folder, database, count, partners)
            ending.callback(on.stop)
            cases |= _cases(on, limits, ending)
        seen = {name: Seen(len(case.on.nodes)) for name, case in cases.items()}
        task = progress.add_task("Seats of nodes", total=rounds * len(cases))
        names = list(cases)
        for number in range(-1, rounds):  # the first round warms up
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                into = seen[name] if number >= 0 else Seen(len(cases[name].on.nodes))
                _measure(cases[name], database, seconds, into)
                progress.advance(task, number >= 0)
        if any(case.on.owners() != case.owners for case in cases.values()):
            raise Failed("the nodes divided the shards again during the run")
    return seen


def _cases(on: Installation, limits: Shares, ending: ExitStack) -> dict[str, Case]:
    """Hold the nodes of an installation to their shares, and return its cases by name."""
    # This waits until the nodes own their shards. Only then are the nodes held to their shares.
    owners = on.owners()
    groups = []
    for node in on.nodes:
        group = limits.group(f"{len(on.nodes)}-{node.name}", SHARE)
        ending.callback(_remove, group, node)
        group.add(node.pid)
        groups.append(group)
    places = (OWNER, ANYWHERE) if len(on.nodes) > 1 else (OWNER,)
    return {case_name(len(on.nodes), where): Case(on, owners, groups, where) for where in places}


def _remove(group: Group, node: Server) -> None:
    node.stop()  # a group with a process cannot be removed
    group.close()


def _measure(case: Case, database: Database, seconds: float, into: Seen) -> None:
    """Take seats at all nodes at once, and note how many, and who used how much time."""
    asked = list(zip(case.on.nodes, shares(case.on, case.where, case.owners), strict=True))
    nodes = sum(node.cpu_s() for node in case.on.nodes)
    waits = [group.waits() for group in case.groups]
    server, own, (busy, whole) = database.cpu_s(), time.process_time(), _machine()
    began = time.perf_counter()
    with ThreadPoolExecutor(len(asked)) as pool:
        outcomes = list(pool.map(lambda of: _take(of[0], of[1], began + seconds), asked))
    took = time.perf_counter() - began
    own = time.process_time() - own
    into.seats_a_second.append(sum(outcome.answers for outcome in outcomes) / took)
    used = sum(node.cpu_s() for node in case.on.nodes) - nodes
    into.share.append(used / took / SHARE / len(asked))
    into.database.append((database.cpu_s() - server) / took)
    into.caller.append(own / took)
    now_busy, now_whole = _machine()
    into.machine.append((now_busy - busy) / max(1, now_whole - whole))
    periods = [
        (now[0] - then[0], now[1] - then[1])
        for then, now in zip(waits, (group.waits() for group in case.groups), strict=True)
    ]
    into.waited.append(sum(late for _, late in periods) / max(1, sum(of for of, _ in periods)))


def _take(node: Server, partners: list[ReadyPartner], until: float) -> Outcome:
    """Take seats at a node until a moment. Raises `Failed` with the first refusal."""
    refused: list[bytes] = []

    def check(status: int, body: bytes) -> None:
        if status != 200:
            refused.append(body)

    def in_time() -> Iterator[bytes]:
        for request in seats(node.address, partners, MANY, secrets.token_hex(4)):
            if time.perf_counter() >= until or refused:
                return
            yield request

    outcome = call(node.address, in_time(), connections=CONNECTIONS, check=check)
    if refused:
        raise Failed(f"{node.name} answered {outcome.statuses}: {refused[0].decode()}")
    return outcome


def _machine() -> tuple[int, int]:
    """Return the clock ticks of all cores since the start: in use, and altogether (proc(5))."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle = ticks[3] + ticks[4]  # idle, and waiting for a disk
    return sum(ticks) - idle, sum(ticks)


def times_of_one(of: Seen, one: Seen) -> float:
    """Return the median over the rounds of the seats a second divided by those of one node."""
    return median(a / b for a, b in zip(of.seats_a_second, one.seats_a_second, strict=True))
