"""The nodes of an installation, as an operator sees them."""

from typing import Literal

import msgspec


class NoSuchNode(Exception):
    """No node of this name has started on the database, or it was removed."""


class NodeRuns(Exception):
    """The node runs, so it cannot be removed."""


class Tally(msgspec.Struct):
    """What a node has done since its start, and whether it was draining when it last looked.

    `sessions`: how many sessions with the database it has had; it opens a new one when one is lost.
    `taken_over`: how many shards it took although their owner had not handed them over.
    `others_ended`: how many silent sessions of other nodes it ended. `draining`: whether an
    operator has told this node to give its shards up and take none; False while the node stops.
    """

    sessions: int = 0
    taken_over: int = 0
    others_ended: int = 0
    draining: bool = False


class NodeSeen(msgspec.Struct, frozen=True, rename="camel"):
    """A node at one moment.

    `state` says whether it takes shards. `running`: its session holds its lock, so that it can
    write. `shards`: the numbers of the shards that it owns.
    """

    name: str
    address: str
    state: Literal["up", "draining", "stopping"]
    running: bool
    shards: tuple[int, ...]


class Nodes(msgspec.Struct, frozen=True, rename="camel"):
    """All nodes that have started and were not removed, by name.

    `ownerless`: how many shards nobody owns.
    """

    nodes: tuple[NodeSeen, ...]
    ownerless: int

    def find(self, name: str) -> NodeSeen | None:
        """Return the node of that name, or None."""
        return next((node for node in self.nodes if node.name == name), None)
