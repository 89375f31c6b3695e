"""How partners are divided among the nodes of an installation.

A partner belongs to a slot, a slot to a shard, and a shard to at most one node. The slot is part of
the partner's keys and session tokens, so a proxy can compute the shard without a look-up.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from pgs.domain.keys import slot_of

SHARDS: Final = 64
"""Shards of an installation, enough to spread evenly over a dozen nodes. Each is one advisory lock
of PostgreSQL. All users of a server share one table of locks. By default it has room for at least
6,400 locks: the documented formula is `max_locks_per_transaction * (max_connections +
max_prepared_transactions)`, which is 64 * (100 + 0). Measured with PostgreSQL 15, one session got
12,832 advisory locks, with nothing else running, before the server refused the next one. The number
divides the number of slots, so that all partners of a slot are in one shard."""

_SLOT = re.compile(r"[0-9a-f]{3}", re.ASCII)


class Node(msgspec.Struct, frozen=True):
    """A node: its name, and the `host:port` at which the other nodes reach its public listener."""

    name: str
    address: str


def shard_of_platform() -> int:
    """Return the shard whose owner does what concerns all partners, such as changing tiers."""
    return 0


def shard_of_slot(slot: str) -> int | None:
    """Return the shard of a slot, 0 to 63, or None for a text that is no slot.

    Takes any text, because slots come from credentials that nobody has checked yet.
    """
    if _SLOT.fullmatch(slot) is None:
        return None
    return int(slot, 16) % SHARDS


def shard_of(partner_id: str) -> int:
    """Return the shard of a partner, 0 to 63."""
    return int(slot_of(partner_id), 16) % SHARDS


def share_out(owners: Mapping[int, str], nodes: Collection[str]) -> dict[int, str]:
    """Return the node that should own each shard; an empty dict if `nodes` is empty.

    `owners` are the shards that are owned now, and `nodes` the nodes that take shards: those that
    run and are not being drained. The shares of any two nodes differ by at most one shard, and as
    few shards as possible change hands. The result depends on nothing else, so all nodes that see
    the same owners come to the same result. If the result is given as `owners`, it is returned
    unchanged, so no shard moves once every shard is at the node that should own it.
    """
    if not nodes:
        return {}
    held = Counter(owners.values())
    # The nodes that hold most get the larger shares, so that no shard moves without need.
    ranked = sorted(set(nodes), key=lambda node: (-held[node], node))
    fewest, larger = divmod(SHARDS, len(ranked))
    room = {node: fewest + (place < larger) for place, node in enumerate(ranked)}
    shares: dict[int, str] = {}
    for shard in range(SHARDS):
        owner = owners.get(shard)
        if owner is not None and room.get(owner):
            shares[shard] = owner
            room[owner] -= 1
    for shard in range(SHARDS):
        if shard not in shares:
            node = max(ranked, key=lambda name: room[name])
            shares[shard] = node
            room[node] -= 1
    return shares
