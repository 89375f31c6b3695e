"""What forwarding needs to know about the nodes of an installation."""

from typing import Protocol

from pgs.domain.shards import Node


class Owners(Protocol):
    """Tells which node owns a shard at this moment."""

    @property
    def me(self) -> Node:
        """This node."""
        ...

    def owner_of(self, shard: int, /) -> Node | None:
        """Return the owner of a shard; None if there is none, or none that may answer now.

        Returns `me` only while no other node answers for the shard (`pgs.domain.leases`). Never
        waits.
        """
        ...


class NotHere(Exception):
    """This node does not own the shard of a request.

    An application raises it for a request whose head does not name the shard, before it has read
    the request's body or answered.
    """

    def __init__(self, shard: int) -> None:
        super().__init__(shard)
        self.shard = shard
