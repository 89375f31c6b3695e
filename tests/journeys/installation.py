"""An installation of several nodes on one PostgreSQL, in the test's process or each in its own."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import httpcore
import msgspec
import trio

from pgs.app import open_core
from pgs.config import Config
from pgs.domain.shards import shard_of
from pgs.storage.engines import KeptShards
from tests.journeys.client import Client
from tests.journeys.nodes import call_node
from tests.journeys.partners import Partner, make_partner, make_tiers
from tests.journeys.process import Process, free_port, node_process
from tests.journeys.service import Service, in_process, until_shared_out
from tests.patience import PATIENCE_S

PARTNERS = tuple(f"partner-{number}" for number in range(12))
"""Partners of many shards, so that every node owns some of them."""


class Seeded(msgspec.Struct, frozen=True):
    """A database with tiers and partners, and the key ring that its nodes share."""

    url: str
    key_file: Path
    partners: dict[str, Partner]


async def seed(folder: Path, url: str) -> Seeded:
    """Fill an empty database, as a service without other nodes."""
    config = Config(data_dir=folder / "seed", database_url=url)
    async with open_core(config) as core:
        await make_tiers(core)
        made = {name: await make_partner(core, name) for name in PARTNERS}
    return Seeded(url, config.key_file, made)


class OneNode(msgspec.Struct, frozen=True):
    """A node in the test's process."""

    name: str
    service: Service

    @property
    def shards(self) -> KeptShards:
        """The node's shards."""
        assert self.service.core.shards is not None
        return self.service.core.shards

    async def call(
        self, path: str, key: str | None = None, body: object = None
    ) -> httpcore.Response:
        """Return the answer to a call, which may be one between the nodes: no rules are checked."""
        return await call_node(self.shards.me.address, path, key, body)

    def owns(self, partner_id: str) -> bool:
        """Return whether the node answers for a partner now."""
        return shard_of(partner_id) in self.shards.owned

    @property
    def public(self) -> Client:
        """A client of the node."""
        return self.service.public


@asynccontextmanager
async def node_in_process(
    seeded: Seeded, folder: Path, name: str, **how: Any
) -> AsyncIterator[OneNode]:
    """Run a node in the test's process for a block."""
    address = f"127.0.0.1:{free_port()}"
    async with in_process(
        folder / name,
        listen=address,
        database_url=seeded.url,
        node_name=name,
        secret_key_file=seeded.key_file,
        **{"node_address": address, **how},
    ) as service:
        yield OneNode(name, service)


async def settled(*nodes: OneNode) -> None:
    """Return once these nodes own all shards, in even shares, and know each shard's owner."""
    await until_shared_out([node.shards for node in nodes])


def owner_of(partner_id: str, nodes: tuple[OneNode, ...]) -> OneNode:
    """Return the node that owns a partner now."""
    (owner,) = [node for node in nodes if node.owns(partner_id)]
    return owner


class Nodes:
    """Nodes in processes of their own, which a test can kill."""

    def __init__(self, seeded: Seeded, folder: Path, names: Sequence[str]) -> None:
        self._running = {
            name: node_process(folder, name, seeded.url, seeded.key_file) for name in names
        }

    def __enter__(self) -> Self:
        for process in self._running.values():
            process.start()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            process.end()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all nodes."""
        return tuple(self._running)

    def __getitem__(self, name: str) -> Process:
        return self._running[name]

    async def call(
        self, name: str, path: str, key: str | None = None, body: object = None
    ) -> httpcore.Response:
        """Return the answer of a node, or that of the node to which it forwards the call."""
        return await call_node(f"127.0.0.1:{self[name].port}", path, key, body)

    async def until_ok(
        self, name: str, path: str, key: str | None = None, body: object = None
    ) -> httpcore.Response:
        """Return the answer of a call that is repeated until it succeeds."""
        with trio.fail_after(PATIENCE_S):
            while True:
                answer = await self.call(name, path, key, body)
                if answer.status == 200:
                    return answer
                assert answer.status in (500, 503), (answer.status, answer.content)
                await trio.sleep(0.05)
