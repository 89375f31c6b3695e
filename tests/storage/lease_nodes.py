"""Nodes for the tests of the lease: each keeps its shards and notes for which it answers when.

`python -m tests.storage.lease_nodes URL NAME FILE` runs one in a process of its own.
"""

import json
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import TextIO, TypeVar

import msgspec
import psycopg
import trio

from pgs.domain.shards import Node
from pgs.storage import migrations
from pgs.storage.postgres.connection import Connection, connect
from pgs.storage.postgres.keeper import Keeper
from pgs.storage.postgres.lease import Session, number_of
from pgs.storage.postgres.session import WriterSession
from pgs.storage.transactions import StoreOutage
from tests.postgres import Server

T = TypeVar("T")

TABLES = (migrations.POSTGRES / "0003_nodes.sql").read_text(encoding="utf-8")

SAMPLE_S = 0.01
"""Seconds between two notes of what a node answers for."""


def database_of_nodes(server: Server) -> str:
    """Return the address of a new database with the tables of nodes and shards."""
    address = server.new_database()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(TABLES.encode())
    return address


class Line:
    """Gives the work on a session to a thread, one piece after the other."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._turn = trio.CapacityLimiter(1)
        self._session: WriterSession | None = None
        self._abandoned: list[Session] = []
        self._opened = 0

    async def open(self) -> Session:
        self._opened += 1

        def work() -> WriterSession:
            while self._abandoned:
                self._abandoned.pop().connection.close()
            number = number_of(self._name)
            return WriterSession(self._url, f"pgs {self._name}", self._opened, number)

        self._session = await trio.to_thread.run_sync(work, limiter=self._turn)
        return self._session

    async def run(self, session: Session, work: Callable[[Session], T]) -> T:
        def guarded() -> T:
            if session is not self._session:
                raise StoreOutage("the session has ended")
            return work(session)

        # A cancelled caller does not wait; the thread keeps the turn until the server has answered.
        return await trio.to_thread.run_sync(guarded, limiter=self._turn, abandon_on_cancel=True)

    def abandon(self, session: Session) -> None:
        # A thread may be using the connection. The end of its socket wakes that thread.
        self._session = None
        self._abandoned.append(session)
        with (
            suppress(OSError, psycopg.Error),
            socket.socket(fileno=os.dup(session.connection.opened.socket)) as wire,
        ):
            wire.shutdown(socket.SHUT_RDWR)


class LeaseNode:
    """A node's keeper, what it was told to do, and what it answered for at which time."""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self.released: list[int] = []
        self.drops = 0
        self.hold: trio.Event | None = None  # what the release of a shard waits for
        self.samples: list[tuple[float, frozenset[int]]] = []
        self.keeper = Keeper(
            Node(name, f"{name}:8000"),
            Line(url, name),
            lambda: Connection(connect(url, f"pgs {name} watch"), lambda _: None),
            release=self._release,
            drop=self._drop,
        )

    async def _release(self, shard: int) -> None:
        if self.hold is not None:
            await self.hold.wait()
        await trio.sleep(0.005)
        self.released.append(shard)

    def _drop(self) -> None:
        self.drops += 1

    async def sample(self) -> None:
        """Note for ever for which shards the node answers."""
        while True:
            self.samples.append((time.perf_counter(), self.keeper.owned))
            await trio.sleep(SAMPLE_S)


@asynccontextmanager
async def lease_node(url: str, name: str) -> AsyncIterator[LeaseNode]:
    """Run a node for a block; at its end it is cancelled without a stop, like a crash."""
    node = LeaseNode(url, name)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(node.keeper.run)
        nursery.start_soon(node.sample)
        yield node
        nursery.cancel_scope.cancel()


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
            for other, until in last.items():
                if other != name and until > start:
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
