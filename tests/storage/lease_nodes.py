"""Nodes for the tests of the lease: each keeps its shards and notes for which it answers when.

`python -m tests.storage.lease_nodes URL NAME FILE` runs one in a process of its own.
"""

import json
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count, pairwise
from pathlib import Path
from typing import TextIO

import msgspec
import psycopg
import trio

from pgs.domain.shards import SHARDS, Node
from pgs.storage import migrations
from pgs.storage.postgres.commit_count import CommitCount
from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import Connection
from pgs.storage.postgres.lease import number_of
from pgs.storage.postgres.node_writer import NodeCommits, NodeWriter
from pgs.storage.postgres.session import WriterSession
from pgs.storage.postgres.shard_keeper import Keeper
from tests.journeys.service import until
from tests.postgres import Server

TABLES = (migrations.POSTGRES / "0003_nodes.sql").read_text(encoding="utf-8")

SAMPLE_S = 0.01
"""Seconds between two notes of what a node answers for."""


def database_of_nodes(server: Server) -> str:
    """Return the address of a new database with the tables of nodes and shards."""
    address = server.new_database()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(TABLES.encode())
    return address


class _NoGuard:
    """Stands for the database, which is told of each committed group; here nobody writes."""

    def committed(self, commits: int) -> None:
        raise AssertionError("nobody writes rows of partners here")


def line_of(url: str, name: str) -> NodeWriter:
    """Return the writer of a node, as a service has it."""
    numbers = count(1)

    def open_session() -> WriterSession:
        return WriterSession(url, f"pgs {name}", next(numbers), number_of(name))

    commits = NodeCommits(open_session(), open_session, _NoGuard(), CommitCount(name))
    return NodeWriter(commits)


class LeaseNode:
    """A node's keeper, what it was told to do, and what it answered for at which time."""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self.released: list[int] = []
        self.drops = 0
        self.moved = False  # whether another server takes writes
        self.hold: trio.Event | None = None  # what the release of a shard waits for
        self.samples: list[tuple[float, frozenset[int]]] = []
        self.line = line_of(url, name)
        self.keeper = Keeper(
            Node(name, f"{name}:8000"),
            self.line,
            lambda: Connection(connect(url, f"pgs {name} watch"), lambda _: None),
            release=self._release,
            drop=self._drop,
            elsewhere=lambda: self.moved,
        )
        self.line.on_lost = self.keeper.lose

    async def _release(self, shard: int) -> None:
        if self.hold is not None:
            await self.hold.wait()
        await trio.sleep(0.005)
        self.released.append(shard)

    def _drop(self) -> None:
        self.drops += 1

    async def sample(self) -> None:
        """Keep noting for which shards the node answers. Never returns."""
        while True:
            self.samples.append((time.perf_counter(), self.keeper.owned))
            await trio.sleep(SAMPLE_S)


@asynccontextmanager
async def lease_node(url: str, name: str) -> AsyncIterator[LeaseNode]:
    """Run a node for a block; at its end it is cancelled without a stop, like a crash."""
    node = LeaseNode(url, name)
    node.line.start()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(node.keeper.run)
            nursery.start_soon(node.sample)
            yield node
            nursery.cancel_scope.cancel()
    finally:
        node.line.close()


@asynccontextmanager
async def owner_of_all(url: str, name: str = "n1") -> AsyncIterator[LeaseNode]:
    """Run a node that owns every shard."""
    async with lease_node(url, name) as node:
        await until(lambda: len(node.keeper.owned) == SHARDS)
        yield node


Claims = Mapping[str, list[tuple[float, frozenset[int]]]]
"""For each node, for which shards it answered at which times."""


class Overlap(msgspec.Struct, frozen=True):
    """Two nodes that answered for one shard at one time."""

    shard: int
    nodes: tuple[str, str]


def overlaps(claims: Claims) -> list[Overlap]:
    """Return where two nodes answered for a shard at one time.

    If two successive samples of a node have a shard, it answered for the shard between them too.
    """
    spans: dict[int, list[tuple[float, float, str]]] = {}
    for name, samples in claims.items():
        for (start, before), (end, after) in pairwise(samples):
            if end - start > 1:  # it was paused in between, and answered nobody
                continue
            for shard in before & after:
                spans.setdefault(shard, []).append((start, end, name))
    found = set()
    for shard, listed in spans.items():
        listed.sort()
        last: dict[str, float] = {}
        for start, end, name in listed:
            for other, end_of_other in last.items():
                if other != name and end_of_other > start:
                    found.add((shard, tuple(sorted((other, name)))))
            last[name] = max(end, last.get(name, end))
    return [Overlap(shard, (pair[0], pair[1])) for shard, pair in sorted(found)]


def read_samples(path: Path) -> list[tuple[float, frozenset[int]]]:
    """Return what a node in a process of its own has noted."""
    if not path.exists():
        return []
    lines = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [(at, frozenset(shards)) for at, shards in map(json.loads, lines)]


async def _run(url: str, name: str, output: TextIO) -> None:
    async with lease_node(url, name) as node:
        while True:
            await trio.sleep(SAMPLE_S)
            line = [time.perf_counter(), sorted(node.keeper.owned)]
            output.write(json.dumps(line) + "\n")
            output.flush()
            node.samples.clear()


if __name__ == "__main__":
    with Path(sys.argv[3]).open("w") as output:
        trio.run(_run, sys.argv[1], sys.argv[2], output)
