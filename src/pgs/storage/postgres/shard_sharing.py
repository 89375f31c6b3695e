"""Decides which shards a node takes and hands over, from the last look and earlier ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf
from typing import Final

from pgs.domain.leases import Sightings
from pgs.domain.shards import Node, share_out
from pgs.storage.postgres.lease import Look

GIVE_MAX: Final = 8
"""Shards that a node hands over at the same time, at most. A shard counts until another node has
taken it. The partners of these shards are refused until the new owner answers, which takes less
time for a few shards than for many."""

RETURN_S: Final = 1.0
"""Seconds, from the start of its session, for which a node leaves shards to their former owners.
When the database fails over, all nodes lose their sessions within a second and open others. Each
answers for its own former shards immediately, but for those of another node only after `HOLD_S`."""

READY_BEATS: Final = 4
"""Beats of a session after which a node is given shards. The first comes with the session's start.
The others show that the node's event loop runs: a process that has just started is busy for a
second, and would not answer for its shards."""


def takers_of(seen: Look, sightings: Sightings) -> set[str]:
    """Return the names of the nodes that take shards: up, with a session, and not silent."""
    return {
        one.node.name
        for one in seen.nodes
        if one.pid is not None and one.state == "up" and not sightings.is_silent(one.node.name)
    }


def others_running(seen: Look, me: Node) -> tuple[Node, ...]:
    """Return the nodes other than `me` that have a session, whether or not they take shards."""
    return tuple(one.node for one in seen.nodes if one.pid is not None and one.node != me)


def is_draining(seen: Look, me: Node) -> bool:
    """Return whether `seen` shows the node `me` as draining.

    A drained node is shown as stopping while it stops.
    """
    return any(one.state == "draining" and one.node.name == me.name for one in seen.nodes)


class Sharing:
    """What the node `me` remembers of earlier looks.

    The locks decide who owns a shard. So an error here could cost time, but would never let two
    nodes own one shard.
    """

    def __init__(self, me: str) -> None:
        self._me = me
        self._began = -inf
        self._before: dict[int, str] = {}  # the last known owner of each shard
        self._given: set[int] = set()  # shards given up, and not seen at another node yet

    def begin(self, now: float) -> None:
        """Note that a session of this node has begun."""
        self._began = now
        self._given.clear()

    def note(self, seen: Look) -> None:
        """Note a look, even one at which nothing can be decided."""
        self._before |= seen.owners
        self._given -= {shard for shard, name in seen.owners.items() if name != self._me}

    def gave(self, shard: int) -> None:
        """Note that this node has given a shard up."""
        self._given.add(shard)

    def took(self, shards: Collection[int]) -> None:
        """Note that this node has taken shards."""
        self._given.difference_update(shards)

    def shares(self, seen: Look, takers: Collection[str], now: float) -> dict[int, str]:
        """Return the node that should own each shard. `takers` are the nodes that take shards.

        For `RETURN_S` after this node's session has begun, two things differ. Each node that is up
        and has owned shards also counts as a taker. A shard without an owner counts as owned by its
        last owner.
        """
        if now >= self._began + RETURN_S:
            return share_out(seen.owners, takers)
        up = {one.node.name for one in seen.nodes if one.state == "up"}
        returning = up & set(self._before.values())
        return share_out({**self._before, **seen.owners}, returning | set(takers))

    def to_give(
        self, seen: Look, shares: Mapping[int, str], own: Collection[int], giving: Collection[int]
    ) -> list[int]:
        """Return the shards that this node should begin to hand over now.

        `own` are the shards that it owns, `giving` those whose hand-over has begun.
        """
        ready = {one.node.name for one in seen.nodes if one.beat.count >= READY_BEATS}
        left = [shard for shard in sorted(own) if shard not in giving]
        room = GIVE_MAX - len(giving) - len(self._given)
        ready.discard(self._me)
        return [shard for shard in left if shares.get(shard) in ready][: max(0, room)]
