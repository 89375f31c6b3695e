"""The count of one writer's commits, which is a row of the database.

The mark in the data folder has the count of the last acknowledged commit, so a start notices if the
database has fallen back to an earlier state. Each of several nodes has a row of its own, because
their commits would wait for each other if they shared a row.
"""

from __future__ import annotations

from typing import Final

from pgs.storage.postgres.connection import Connection, Lost
from pgs.storage.postgres.session import WritingSession
from pgs.storage.postgres.statements import PLAIN, Statement, Values, bound, literals

_ALL: Final = "(name = 'writes' or name like 'writes %')"
_OWN: Final = (
    "select greatest(own.beats, alone.beats) from heartbeat own "
    "left join heartbeat alone on alone.name = 'writes' where own.name = $1"
)
# Only constants are put into these texts.
_GREATEST: Final = f"select coalesce(max(beats), 0) from heartbeat where {_ALL}"  # noqa: S608
_FIRST: Final = (
    "insert into heartbeat (name, beats) "  # noqa: S608 - ours
    f"select $1::text, coalesce(max(beats), 0) + 1 from heartbeat where {_ALL} "
    "on conflict (name) do update set beats = excluded.beats returning beats"
)


class CommitCount:
    """The count of one writer: a node with a name, or the only service, whose name is empty."""

    def __init__(self, node: str = "") -> None:
        self._name = f"writes {node}" if node else "writes"
        self._node = node
        name = "heartbeat.count_write_of"
        self.step: tuple[Statement, Values] = (PLAIN[name], bound(name, {"name": self._name}))
        """The statement that adds one to the count. Every group of transactions contains it."""

    def held(self, connection: Connection) -> int:
        """Return how many commits the database holds. Raises `Lost` and `StatementRefused`.

        For a node that has a row, this is the greater of two counts: the node's own, and that of a
        service without other nodes, since the node may have run alone in between. In all other
        cases it is the greatest count of any row: a new node has no row yet, and a service that
        runs alone may have been one of several nodes before.
        """
        if self._node:
            for (count,) in connection.command(_OWN, *literals([self._name])):
                return int(count)
        ((greatest,),) = connection.command(_GREATEST)
        return int(greatest)

    def first_commit(self, session: WritingSession) -> int:
        """Commit once, and return how many commits the database holds then.

        The commit waits until the disk, and a standby if there is one, have saved it. This proves
        that the server is the primary, and that they have also saved all commits that were visible
        before. A commit whose wait was cut short succeeds with a warning, and proves nothing.
        Raises `Lost` and `StatementRefused`.
        """
        session.warnings.clear()
        ((commits,),) = session.connection.command(_FIRST, *literals([self._name]))
        if session.warnings:
            raise Lost(f"the commit was not confirmed: {session.warnings[0]}")
        return int(commits)
