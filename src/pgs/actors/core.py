"""The service without its listeners. The HTTP surface and the operator's commands use it."""

from typing import Protocol

import msgspec

from pgs.actors.maintenance.runner import ChoreRunner
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.domain.shards import Node


class Shards(Protocol):
    """The shards that this node owns, and who owns the others."""

    @property
    def me(self) -> Node:
        """This node."""
        ...

    @property
    def owned(self) -> frozenset[int]:
        """The shards for which this node answers now."""
        ...

    def owner_of(self, shard: int, /) -> Node | None:
        """Return who answers for a shard now: this node, another one, or None."""
        ...

    async def stop(self) -> None:
        """Hand over every shard."""
        ...


class Core(msgspec.Struct, frozen=True):
    """A running core: the parts of the actors, the directory of actors, and the background work.

    `shards` are those of this node; None if it is the only one.
    """

    parts: Parts
    directory: PartnerDirectory
    chores: ChoreRunner
    shards: Shards | None = None
