"""Operators' commands about nodes: list them, drain one, remove one.

These commands use the database directly, so they work whichever nodes run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pgs.domain.shards import SHARDS
from pgs.storage.nodes import NodeRuns, Nodes, NodeSeen, NoSuchNode
from pgs.storage.postgres import lease
from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import Connection, StatementRefused
from pgs.storage.postgres.hosts import primary_of
from pgs.storage.postgres.lease import number_of
from pgs.storage.postgres.session import PRESENCE
from pgs.storage.postgres.statements import literals
from pgs.storage.transactions import StoreOutage

_NO_TABLE: Final = "42P01"

# A row that says `stopping` is not changed: it stays so until the node's next session. While a
# drained node stops, its row still says `draining`, so an operator may change that row. The other
# nodes see from the node's lock (`STOPPING`), and not from its row, that it stops.
_MARK: Final = (
    "update node set state = $1 where name = $2 and state in ('up', 'draining') returning name"
)

_LOCK: Final = "select pg_try_advisory_lock($1::int, $2::int)"
_REMOVE: Final = "delete from node where name = $1 returning name"


def nodes_of(url: str) -> Nodes:
    """Return the nodes and what they own now. Raises `StoreOutage`."""
    with _connection(url) as connection:
        return _look(connection)


def mark(url: str, name: str, *, draining: bool) -> Nodes:
    """Record that a node must give its shards up, or may take shards again; return all nodes.

    Raises `NoSuchNode` and `StoreOutage`.
    """
    with _connection(url) as connection:
        state = "draining" if draining else "up"
        if not connection.command(_MARK, *literals([state, name])):
            seen = _look(connection)
            if all(node.name != name for node in seen.nodes):
                raise NoSuchNode(name)
            raise StoreOutage(f"node {name} is stopping: it gives all shards up in any case")
        return _look(connection)


def remove(url: str, name: str) -> Nodes:
    """Forget a node that does not run; return the other nodes.

    The count of its commits stays, so that it can come back with its data folder. Raises
    `NoSuchNode`, `NodeRuns` and `StoreOutage`.
    """
    with _connection(url) as connection:
        # While the lock is held here, no node of this name can start.
        ((free,),) = connection.command(_LOCK, *literals([PRESENCE, number_of(name)]))
        if not free:
            raise NodeRuns(name)
        if not connection.command(_REMOVE, *literals([name])):
            raise NoSuchNode(name)
        return _look(connection)


def _look(connection: Connection) -> Nodes:
    seen = lease.look(connection)
    owned: dict[str, list[int]] = {}
    for shard, name in sorted(seen.owners.items()):
        owned.setdefault(name, []).append(shard)
    return Nodes(
        tuple(
            NodeSeen(
                name=node.node.name,
                address=node.node.address,
                state=node.state,
                running=node.pid is not None,
                shards=tuple(owned.get(node.node.name, ())),
            )
            for node in seen.nodes
        ),
        SHARDS - len(seen.owners),
    )


@contextmanager
def _connection(url: str) -> Iterator[Connection]:
    warnings: list[str] = []
    connection = Connection(connect(primary_of(url, "pgs node"), "pgs node"), warnings.append)
    try:
        yield connection
    except StatementRefused as error:
        if error.sqlstate == _NO_TABLE:
            raise StoreOutage("no node has started on this database yet") from error
        raise StoreOutage(str(error)) from error
    finally:
        connection.close()
    if warnings:  # the commit may not have reached the standby
        raise StoreOutage(f"the change was not confirmed, repeat it: {warnings[0]}")
