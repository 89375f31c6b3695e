"""Two services that stand for two nodes, and which of them owns which partner.

Each has a database of its own, so an account exists only at the node where a test makes it, and an
answer about the account shows that this node gave it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpcore
import msgspec
import trio

from pgs.actors.core import Core
from pgs.demo.pool import ConnectionPool
from pgs.domain.shards import SHARDS, Node, shard_of
from tests.journeys.process import free_port
from tests.journeys.service import Service, in_process
from tests.patience import PATIENCE_S

TIMEOUTS = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE_S)}


SLOW_HEAD: Final = [("Via", "1.1 proxy"), ("X-Pgs-Odd", "1")]
"""Headers with which a request does not take the lane."""

Expected = tuple[int, str | None]
"""A status and a reason; None for a body without a reason."""

UNREADABLE: Final[Expected] = (500, "registry_unavailable")
UNSETTLED: Final[Expected] = (503, "settlement_unavailable")


class FakeOwners:
    """The owners as one node sees them; a test changes them with `give`."""

    def __init__(self, me: Node) -> None:
        self._me = me
        self.shards: dict[int, Node | None] = dict.fromkeys(range(SHARDS), me)

    @property
    def me(self) -> Node:
        return self._me

    def owner_of(self, shard: int, /) -> Node | None:
        return self.shards[shard]

    def give(self, partner_id: str, node: Node | None) -> None:
        """Let a node own a partner's shard from now on, as this node sees it."""
        self.shards[shard_of(partner_id)] = node


class RunningNode(msgspec.Struct, frozen=True):
    """A service, the owners as it sees them, and its own name and address among them."""

    service: Service
    owners: FakeOwners

    @property
    def node(self) -> Node:
        """The node's name and address."""
        return self.owners.me

    async def call(
        self,
        path: str,
        key: str | None = None,
        body: object = None,
        headers: list[tuple[str, str]] | None = None,
    ) -> httpcore.Response:
        """Return the answer to a call of this node."""
        return await call_node(self.node.address, path, key, body, headers)


async def call_node(
    address: str,
    path: str,
    key: str | None = None,
    body: object = None,
    headers: list[tuple[str, str]] | None = None,
) -> httpcore.Response:
    """Return the answer to a call of the node at an address."""
    own = list(headers or ())
    if key is not None:
        own.append(("Authorization", f"Bearer {key}"))
    async with ConnectionPool() as pool:
        return await pool.request(
            "GET" if body is None else "POST",
            f"http://{address}{path}",
            headers=own,
            content=None if body is None else msgspec.json.encode(body),
            extensions=TIMEOUTS,
        )


def header(answer: httpcore.Response, name: str) -> str | None:
    """Return the value of a header, None if the answer lacks it."""
    found = [value for key, value in answer.headers if key.lower() == name.encode()]
    return found[0].decode() if found else None


def check_try_again(answer: httpcore.Response, expected: Expected = UNREADABLE) -> None:
    """Check that a call was refused as `expected`, and may be repeated in a second."""
    reason = msgspec.json.decode(answer.content)["reason"] if answer.content else None
    assert (answer.status, reason) == expected
    assert header(answer, "retry-after") == "1"


@asynccontextmanager
async def running_node(folder: Path, name: str, **how: Any) -> AsyncIterator[RunningNode]:
    """Run a node for a block. It owns every partner at first."""
    address = f"127.0.0.1:{free_port()}"
    owners = FakeOwners(Node(name, address))
    async with in_process(folder / name, listen=address, owners=owners, **how) as service:
        yield RunningNode(service, owners)


def share_ring(of: Core, to: Core) -> None:
    """Give a core the key ring of another one, since the nodes of an installation share one."""
    to.parts.keys.ring = of.parts.ring


@asynccontextmanager
async def two_nodes(folder: Path) -> AsyncIterator[tuple[RunningNode, RunningNode]]:
    """Run two nodes for a block."""
    async with running_node(folder, "n1") as one, running_node(folder, "n2") as two:
        share_ring(one.service.core, two.service.core)
        yield one, two


@asynccontextmanager
async def breaking_server(answer: bytes = b"") -> AsyncIterator[str]:
    """Yield the address of a server that reads a request, sends these bytes, and closes."""

    async def serve(stream: trio.SocketStream) -> None:
        await stream.receive_some(65536)
        if answer:
            await stream.send_all(answer)
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, serve, 0)
        yield f"127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()
