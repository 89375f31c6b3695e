"""Opens a node's writing session, and commits the node's row over it."""

from __future__ import annotations

from typing import Final

import trio

from pgs.domain.shards import Node
from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import StatementRefused
from pgs.storage.postgres.lease import WriterLine
from pgs.storage.postgres.session import WritingSession
from pgs.storage.transactions import StoreOutage

ENTER_S: Final = 3.0
"""Seconds for the commit with which a session enters the table of nodes. A server that has just
ceased to be the primary never confirms it, and the next try finds the new one."""


async def enter(line: WriterLine, me: Node) -> tuple[WritingSession, int]:
    """Return a new session of this node, and its number in the table of nodes.

    Raises `StoreOutage`. A session whose commit is not confirmed in time is ended.
    """
    session = await line.open()
    with trio.move_on_after(ENTER_S):
        try:
            return session, await line.run(session, lambda held: lease.enter(held, me))
        except StatementRefused as error:
            raise StoreOutage(str(error)) from error
    line.abandon(session)
    raise StoreOutage(f"the first commit of the session was not confirmed within {ENTER_S:g} s")
