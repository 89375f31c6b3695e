"""Small nodes that tell who they are, behind the forwarding of the service."""

import json
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec
import trio

from pgs.domain.keyring import new_ring
from pgs.domain.shards import SHARDS, Node, shard_of
from pgs.http.nodes.calls import NodeCalls
from pgs.http.nodes.forwarding import Forwarding
from pgs.http.transport.asgi import Headers, Receive, Scope, Send
from pgs.http.transport.direct import DirectAnswer, DirectRequest
from pgs.http.transport.edge import Edge
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.listener import address_of, listening
from pgs.http.transport.server import bind
from tests.http.apps import live

NAMES = ("n1", "n2", "n3")
RING = new_ring(b"k" * 6, b"s" * 32)
QUICK = ServerLimits(grace_s=0.1, shutdown_s=0.1)


class SharedOwners:
    """The owners of the shards, as one of the nodes sees them. All see the same."""

    def __init__(self, me: Node, shards: dict[int, Node | None]) -> None:
        self._me = me
        self._shards = shards

    @property
    def me(self) -> Node:
        return self._me

    def owner_of(self, shard: int, /) -> Node | None:
        return self._shards.get(shard)


class StandIn:
    """Answers every request with the node's name, and every message of a socket too."""

    def __init__(self, name: str) -> None:
        self._content = json.dumps({"node": name}).encode()
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await live(receive, send)
        elif scope["type"] == "websocket":
            await self._talk(scope, receive, send)
        else:
            while (await receive()).get("more_body"):
                pass
            headers = [(b"content-length", b"%d" % len(self._content))]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": self._content})

    async def _talk(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept", "subprotocol": scope["subprotocols"][0]})
        await send({"type": "websocket.send", "text": '{"type": "welcome"}'})
        while (message := await receive())["type"] != "websocket.disconnect":
            text = json.dumps({"type": "from", "node": self._name, "heard": message["text"]})
            await send({"type": "websocket.send", "text": text})

    @property
    def direct_paths(self) -> Collection[bytes]:
        return (b"/partner/me",)

    def serves_socket(self, path: bytes, headers: Headers, subprotocols: Sequence[str], /) -> bool:
        return False

    def find_direct(self, method: str, path: bytes, /) -> Any | None:
        return path if path.startswith(b"/partner/") else None

    async def answer_direct(self, found: Any, request: DirectRequest, /) -> DirectAnswer:
        return DirectAnswer(200, (), self._content)

    def crashed(self, method: str, path: bytes, /) -> DirectAnswer:
        return DirectAnswer(500, (), b"{}")

    def unserved(self, method: str, path: bytes, /) -> DirectAnswer:
        return DirectAnswer(500, (), b"{}")


class StandIns(msgspec.Struct, frozen=True):
    """Three running nodes, who owns what, and what each has counted."""

    nodes: dict[str, Node]
    shards: dict[int, Node | None]
    events: dict[str, list[str]]
    stops: dict[str, trio.Event]

    @property
    def addresses(self) -> dict[str, str]:
        """The addresses by name."""
        return {name: node.address for name, node in self.nodes.items()}

    @property
    def forwarded(self) -> int:
        """How many requests came to a node that does not own them."""
        return sum(events.count("forwarded") for events in self.events.values())

    def give(self, partner_id: str, name: str) -> None:
        """Let a node own a partner's shard."""
        self.shards[shard_of(partner_id)] = self.nodes[name]


@asynccontextmanager
async def stand_ins() -> AsyncIterator[StandIns]:
    """Run three nodes for a block. The first owns all shards at first."""
    sockets = {name: bind("127.0.0.1:0") for name in NAMES}
    nodes = {name: Node(name, address_of(sock)) for name, sock in sockets.items()}
    shards: dict[int, Node | None] = dict.fromkeys(range(SHARDS), nodes["n1"])
    events: dict[str, list[str]] = {name: [] for name in NAMES}
    stops = {}
    async with AsyncExitStack() as stack:
        for sock in sockets.values():
            stack.callback(sock.close)
        for name in NAMES:
            calls = NodeCalls()
            stack.push_async_callback(calls.aclose)
            owners = SharedOwners(nodes[name], shards)
            app = Forwarding(StandIn(name), owners, lambda: RING, calls, events[name].append)
            edge = Edge(app, new_request_id=lambda: "req_1234567890", current_version=1)
            listener = await stack.enter_async_context(
                listening(edge, sockets[name], QUICK, lambda _: None)
            )
            stops[name] = listener.stop
        yield StandIns(nodes, shards, events, stops)
