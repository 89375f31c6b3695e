"""The reads and writes with which a node takes shards, keeps them and hands them over.

A session of PostgreSQL holds a lock for the node and one for each shard that the node owns. Every
write of the node goes over that session. When the session ends, its locks are gone, and nothing
that it had not committed can be committed, so a write never has to ask who owns the shard.

A function that is given a session or a connection makes round trips on it, blocks the caller's
thread, and raises `Lost` and `StatementRefused`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Literal, Protocol, TypeVar

import msgspec

from pgs.domain.leases import Beat, Last
from pgs.domain.shards import Node
from pgs.storage.postgres.connection import Connection, Lost
from pgs.storage.postgres.session import PRESENCE, WritingSession
from pgs.storage.postgres.statements import literals
from pgs.storage.reader import Row
from pgs.storage.transactions import SqlValue

T = TypeVar("T")

SHARD_LOCKS: Final = 1
"""Class of the advisory locks of shards: the first of the two numbers that name such a lock."""

STOPPING: Final = 4
"""Class of the advisory locks of nodes that are stopping. Such a lock tells the other nodes that
its node takes no shards. The node's row alone cannot tell them: while a drained node stops, its row
stays `draining`, and an operator may even change that to `up`."""

END_MS: Final = 2000
"""Milliseconds for which the server waits until a session that it ends is gone. A session that
waits for its standby takes longest."""

State = Literal["up", "draining", "stopping"]
"""What a look shows of a node. Only a node that is `up` takes shards. A node is `draining` from the
time at which an operator drains it until an operator ends that. Every node is shown as `stopping`
while it stops, a drained node too. After the session of a stopping node has ended, a drained node
is shown as `draining` again. A node that was `up` when it stopped is shown as `stopping` until its
next session."""


def _locks(alias: str, *classes: int) -> str:
    """Return the condition for the granted advisory locks of these classes in this database."""
    return (
        # All arguments are constants.
        f"{alias}.locktype = 'advisory' and {alias}.granted and {alias}.objsubid = 2 "  # noqa: S608
        f"and {alias}.classid in ({', '.join(map(str, classes))}) and {alias}.database = "
        "(select oid from pg_database where datname = current_database())"
    )


SHARDS_CHANNEL: Final = "pgs_shards"

# A statement evaluates this for each of its rows. The server sends only one of the equal notices of
# a transaction.
_TOLD: Final = f"pg_notify('{SHARDS_CHANNEL}', current_setting('application_name'))"

# The numbers and names in these texts are constants.
_ENTER: Final = (
    "insert into node (name, number, address, session, beat, state) "
    "values ($1, $2::bigint, $3, nextval('node_session'), 1, 'up') "
    "on conflict (name) do update set number = excluded.number, address = excluded.address, "
    "session = excluded.session, beat = 1, "
    "state = case node.state when 'draining' then 'draining' else 'up' end returning session"
)
_BEAT: Final = (
    "update node set beat = beat + 1 where name = $1 and session = $2::bigint returning beat"
)
_SHOW_STOP: Final = f"select pg_advisory_lock({STOPPING}, $1::int)"
_STOP: Final = "update node set state = 'stopping' where name = $1 and state = 'up' returning name"
_NODES: Final = (
    # Only constants are put into this text.
    "select n.name, n.address, n.session, n.beat, "  # noqa: S608
    f"case when bool_or(l.classid = {STOPPING}) then 'stopping' else n.state end, "
    f"max(l.pid) filter (where l.classid = {PRESENCE}) from node n "
    f"left join pg_locks l on {_locks('l', PRESENCE, STOPPING)} and l.objid = n.number "
    "group by n.name order by n.name"
)
_OWNED: Final = (
    "select l.objid, n.name, coalesce(s.epoch, 0) from pg_locks l "  # noqa: S608  only constants
    f"join pg_locks p on {_locks('p', PRESENCE)} and p.pid = l.pid "
    "join node n on n.number = p.objid left join shard s on s.shard = l.objid "
    f"where {_locks('l', SHARD_LOCKS)}"
)
_LOCK: Final = (
    "select s from unnest($1::int[]) as s "  # noqa: S608  only constants
    f"where pg_try_advisory_lock({SHARD_LOCKS}, s) order by s"
)
_LAST: Final = (
    "select s.shard, s.node, s.session, s.state, coalesce(n.beat, 0), coalesce(n.session, 0), "
    "s.epoch "
    "from shard s left join node n on n.name = s.node where s.shard = any ($1::bigint[])"
)
_HOLD: Final = (
    "insert into shard (shard, node, session, state, epoch) "  # noqa: S608  only constants
    "select s, $2, $3::bigint, 'held', 1 from unnest($1::bigint[]) as s "
    "on conflict (shard) do update set node = excluded.node, session = excluded.session, "
    f"state = 'held', epoch = shard.epoch + 1 returning shard, {_TOLD}"
)
_FREE: Final = (
    "update shard set state = 'free' where shard = any ($1::bigint[]) and node = $2 "
    "and session = $3::bigint returning shard"
)
# The locks are released immediately, but the notice is sent at the end of the transaction. So the
# other nodes get the notice when the shards are unlocked already.
_UNLOCK: Final = (
    f"select count(*), {_TOLD} from unnest($1::int[]) as s "  # noqa: S608  only constants
    f"where pg_advisory_unlock({SHARD_LOCKS}, s)"
)
# The pid must still hold the node's lock. Otherwise the pid could belong to another process by now.
_END: Final = (
    f"select pg_terminate_backend(l.pid, {END_MS}) from pg_locks l "  # noqa: S608  only constants
    f"where {_locks('l', PRESENCE)} and l.objid = $1::bigint and l.pid = $2::int "
    "and l.pid <> pg_backend_pid()"
)


class WriterLine(Protocol):
    """Runs work on the node's writing session, one piece after the other."""

    async def open(self) -> WritingSession:
        """Open a session that holds the node's lock, and return it. Raises `StoreOutage`."""
        ...

    async def run(self, session: WritingSession, work: Callable[[WritingSession], T]) -> T:
        """Return what `work` returns. Raises `StoreOutage` and `StatementRefused`.

        If the session has ended, the work is not begun, and `StoreOutage` is raised.
        """
        ...

    def abandon(self, session: WritingSession) -> None:
        """End a session immediately, even while it waits for an answer."""
        ...


class Seen(msgspec.Struct, frozen=True):
    """A node's row. `pid`: the server's process that holds the node's lock; None if none does."""

    node: Node
    beat: Beat
    state: State
    pid: int | None


class Look(msgspec.Struct, frozen=True):
    """The nodes, and the name of the node that holds each shard's lock.

    `epochs`: for each shard with an owner, how often it was taken so far. If its lock was granted a
    moment ago, this may not be counted yet.
    """

    nodes: tuple[Seen, ...]
    owners: Mapping[int, str]
    epochs: Mapping[int, int] = {}


class GrantedShards(msgspec.Struct, frozen=True):
    """The shards whose locks were granted, each with the row of its previous owner.

    The row is None if that owner handed the shard over, or there was none.
    """

    shards: Mapping[int, Last | None]


def number_of(name: str) -> int:
    """Return the number of a node's lock, from 1 to 2**31 - 1, computed from the node's name.

    The table of nodes refuses a second name with the same number.
    """
    return zlib.crc32(name.encode()) % 2**31 or 1


def enter(session: WritingSession, me: Node) -> int:
    """Return the number of a new session of this node, once its row is committed.

    The session holds the node's lock already. The commit comes before anything is read or answered:
    it proves that the server is the primary, and that everything visible is replicated.
    """
    ((number,),) = _write(session, _ENTER, [me.name, number_of(me.name), me.address])
    return int(number)


def beat(session: WritingSession, name: str, number: int) -> int:
    """Add a beat; return how many this session has. Raises `Lost` if a newer session has begun."""
    rows = _write(session, _BEAT, [name, number])
    if not rows:
        raise Lost("a newer session of this node has begun")
    return int(rows[0][0])


def look(connection: Connection) -> Look:
    """Return the nodes, and the owner of each shard at this moment."""
    nodes = tuple(
        Seen(Node(name, address), Beat(name, int(session), int(count)), state, pid and int(pid))
        for name, address, session, count, state, pid in connection.command(_NODES)
    )
    owned = connection.command(_OWNED)
    return Look(
        nodes,
        {int(shard): name for shard, name, _ in owned},
        {int(shard): int(epoch) for shard, _, epoch in owned},
    )


def take(session: WritingSession, name: str, number: int, shards: Collection[int]) -> GrantedShards:
    """Lock those of `shards` that nobody has locked, and commit that this session owns them.

    None of `shards` may be held by this session already: PostgreSQL would count a second lock, and
    a single unlock would not release the shard. The caller must read the partners of these shards
    after this, in new statements, because an older snapshot may lack the last commits of the
    previous owner.
    """
    run = session.connection.command
    granted = [int(shard) for (shard,) in run(_LOCK, _array(sorted(shards)))]
    if not granted:
        return GrantedShards({})
    last: dict[int, Last | None] = dict.fromkeys(granted)
    for shard, node, of, state, count, now, epoch in run(_LAST, _array(granted)):
        if state == "held":
            # The row of the node may be of a later session. Then the last beat of the session that
            # held the shard is unknown. It is given as -1, which no observer has ever seen.
            beat = Beat(node, int(of), int(count) if of == now else -1)
            last[int(shard)] = Last(beat, int(epoch))
    _write(session, _HOLD, [_text(granted), name, number])
    return GrantedShards(last)


def hand_over(session: WritingSession, name: str, number: int, shards: Sequence[int]) -> None:
    """Commit that this session gives the shards up, and then unlock them.

    Call this when nothing of these shards is written any more. Unlocking takes a second round
    trip: inside the transaction it would take effect before the commit.
    """
    _write(session, _FREE, [_text(shards), name, number])
    ((unlocked, _),) = session.connection.command(_UNLOCK, _array(shards))
    if int(unlocked) != len(shards):
        raise Lost("the session does not hold what it gives up")


def stop(session: WritingSession, name: str) -> None:
    """Show the other nodes that this node takes no shards until its next session.

    A node that is drained stays so: only an operator ends that.
    """
    session.connection.command(_SHOW_STOP, *literals([number_of(name)]))
    session.connection.command(_STOP, *literals([name]))


def end_session(connection: Connection, silent: Seen) -> bool:
    """End a node's session if it is still the one that was seen; return whether it ended."""
    values = literals([number_of(silent.node.name), silent.pid])
    rows = connection.command(_END, *values)
    return bool(rows) and bool(rows[0][0])


def _write(session: WritingSession, statement: str, values: Sequence[SqlValue]) -> list[Row]:
    """Return the rows of a statement that is a whole transaction. Raises `Lost` on any warning.

    A commit whose wait for the standby is cancelled succeeds with a warning, and may not be
    replicated.
    """
    session.warnings.clear()
    rows = session.connection.command(statement, *literals(values))
    if session.warnings:
        raise Lost(f"the commit was not confirmed: {session.warnings[0]}")
    return rows


def _text(numbers: Sequence[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def _array(numbers: Sequence[int]) -> bytes:
    return _text(numbers).encode()
