"""Owns shards for this node: beats, watches the other nodes, takes shards and hands them over.

All of its state is in the event loop. `pgs.domain.leases` decides whether the node may answer from
memory; the locks of `pgs.storage.postgres.lease` decide which node owns which shard.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Final, Protocol, TypeVar

import structlog
import trio

from pgs.domain.leases import (
    HEARTBEAT_S,
    Beat,
    Sightings,
    answers_from,
    is_fresh,
    may_end,
)
from pgs.domain.shards import Node, share_out
from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import Connection, Refused
from pgs.storage.postgres.lease import Look, Seen, Session, State
from pgs.storage.transactions import StoreOutage

T = TypeVar("T")

LOOK_S: Final = 0.25
"""Seconds between two looks at the other nodes. A shard that was handed over waits for its new
owner's next look."""

REOPEN_S: Final = 0.1
"""Seconds after which a session that could not be opened is tried again. A server that fails over
takes seconds; the first try that succeeds ends the outage."""

SILENT_S: Final = 3.0
"""Seconds after which a session that confirms no beat is given up: the database does not answer."""

LOOK_LIMIT_S: Final = 3.0
"""Seconds after which a look is given up, with its connection."""

log = structlog.get_logger("pgs.nodes")


class WriterLine(Protocol):
    """Runs work on the node's writing session, one piece after the other."""

    async def open(self) -> Session:
        """Open a session that holds the node's lock, and return it. Raises `StoreOutage`."""
        ...

    async def run(self, session: Session, work: Callable[[Session], T]) -> T:
        """Return what `work` returns. Raises `StoreOutage` and `Refused`.

        Also raises `StoreOutage` if this session has ended, and does not begin the work then.
        """
        ...

    def abandon(self, session: Session) -> None:
        """End a session at once, even while it waits for an answer."""
        ...


class Keeper:
    """The shards of one node. It is an `Owners` for `pgs.http.nodes`.

    `watch` opens a connection for looks, to the server of the writer. `release` is called for each
    shard that is handed over: it returns once nothing of the shard is written any more. `drop` is
    called when the session has ended: whatever the node holds in memory may be out of date.
    """

    def __init__(
        self,
        me: Node,
        line: WriterLine,
        watch: Callable[[], Connection],
        *,
        release: Callable[[int], Awaitable[None]],
        drop: Callable[[], None],
    ) -> None:
        self._me = me
        self._line = line
        self._watch = watch
        self._release = release
        self._drop_memory = drop
        self._session: Session | None = None
        self._number = 0
        self._own_numbers: set[int] = set()  # of all sessions of this process
        self._last_beat: float | None = None
        self._own: dict[int, float] = {}  # shard: time from which to answer for it
        self._giving: set[int] = set()
        self._sightings = Sightings()
        self._nodes: dict[str, Node] = {}
        self._owners: dict[int, str] = {}
        self._stopping = False
        self._ended = trio.Event()
        self._none_left = trio.Event()

    @property
    def me(self) -> Node:
        """This node."""
        return self._me

    def owner_of(self, shard: int, /) -> Node | None:
        """Return who answers for a shard now: this node, another one, or None."""
        if self._answers(shard):
            return self._me
        name = self._owners.get(shard)
        return None if name is None or name == self._me.name else self._nodes.get(name)

    @property
    def owned(self) -> frozenset[int]:
        """The shards for which this node answers now."""
        return frozenset(shard for shard in self._own if self._answers(shard))

    def _answers(self, shard: int) -> bool:
        since = self._own.get(shard)
        if since is None or shard in self._giving:
            return False
        now = trio.current_time()
        return since <= now and is_fresh(now, self._last_beat)

    async def run(self) -> None:
        """Keep a session open, beat, and take and hand over shards, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_session)
            nursery.start_soon(self._keep_looking, nursery)

    async def stop(self) -> None:
        """Hand over every shard. Call it with a deadline, and cancel `run` afterwards."""
        self._stopping = True
        session = self._session
        if session is None:
            return
        state: State = "stopping"
        try:
            await self._line.run(
                session, lambda held: lease.set_state(held.connection, self._me.name, state)
            )
        except (StoreOutage, Refused):
            self._lose(session)
            return
        self._none_left = trio.Event()
        async with trio.open_nursery() as nursery:
            for shard in set(self._own) - self._giving:
                nursery.start_soon(self._give, session, shard)
            if self._own:
                await self._none_left.wait()

    # Sessions and beats

    async def _keep_session(self) -> None:
        failing = False
        while True:
            began = trio.current_time()
            try:
                session = await self._line.open()
                number = await self._line.run(session, partial(lease.enter, me=self._me))
            except (StoreOutage, Refused) as error:
                if not failing:  # an outage would fill the log with the same line
                    log.warning("session_not_opened", node=self._me.name, error=str(error))
                failing = True
                await trio.sleep(REOPEN_S)
                continue
            failing = False
            self._session, self._number, self._last_beat = session, number, began
            self._own_numbers.add(number)
            self._ended = trio.Event()
            log.info("session_opened", node=self._me.name, number=number)
            await self._beat_on(session)

    async def _beat_on(self, session: Session) -> None:
        """Beat until the session has ended."""
        name, number = self._me.name, self._number
        while self._session is session:
            submitted = trio.current_time()
            with trio.move_on_after(SILENT_S) as limit:
                try:
                    await self._line.run(session, lambda held: lease.beat(held, name, number))
                except (StoreOutage, Refused) as error:
                    log.warning("session_ended", node=name, error=str(error))
                    self._lose(session)
                    return
            if limit.cancelled_caught:
                log.warning("session_silent", node=name)
                self._lose(session)
                return
            if self._session is session:
                self._last_beat = submitted
            with trio.move_on_at(submitted + HEARTBEAT_S):
                await self._ended.wait()

    def _lose(self, session: Session) -> None:
        """Forget everything that depended on a session, and end it."""
        if self._session is not session:
            return
        self._session = self._last_beat = None
        self._own.clear()
        self._giving.clear()
        self._ended.set()
        self._none_left.set()
        self._line.abandon(session)
        self._drop_memory()

    # Looks

    async def _keep_looking(self, nursery: trio.Nursery) -> None:
        connection: Connection | None = None
        while True:
            await trio.sleep(LOOK_S)
            if self._session is None:
                _close(connection)
                connection = None
                continue
            try:
                with trio.fail_after(LOOK_LIMIT_S):
                    if connection is None:
                        connection = await trio.to_thread.run_sync(self._watch)
                    seen = await trio.to_thread.run_sync(
                        lease.look, connection, abandon_on_cancel=True
                    )
            except trio.TooSlowError:
                connection = None  # a thread still uses it
                continue
            except (StoreOutage, Refused) as error:
                log.warning("look_failed", node=self._me.name, error=str(error))
                _close(connection)
                connection = None
                continue
            await self._act_on(seen, connection, nursery)

    async def _act_on(self, seen: Look, connection: Connection, nursery: trio.Nursery) -> None:
        now = trio.current_time()
        self._sightings = self._sightings.look([node.beat for node in seen.nodes], now)
        self._nodes = {node.node.name: node.node for node in seen.nodes}
        self._owners = dict(seen.owners)
        for node in seen.nodes:
            if node.pid is not None and self._may_end(node):
                await self._end(node, connection)
        session = self._session
        fresh = is_fresh(trio.current_time(), self._last_beat)
        if session is None or self._stopping or not fresh:
            return
        takers = {node.node.name for node in seen.nodes if self._takes(node)}
        shares = share_out(seen.owners, takers)
        mine = {shard for shard, name in shares.items() if name == self._me.name}
        if wanted := mine - seen.owners.keys() - self._own.keys():
            await self._take(session, wanted)
        if takers:
            for shard in self._own.keys() - mine - self._giving:
                self._giving.add(shard)
                nursery.start_soon(self._give, session, shard)

    def _takes(self, node: Seen) -> bool:
        silent = self._sightings.is_silent(node.node.name)
        return node.pid is not None and node.state == "up" and not silent

    def _may_end(self, node: Seen) -> bool:
        fresh = is_fresh(trio.current_time(), self._last_beat)
        return may_end(self._sightings, node.node.name, me=self._me.name, fresh=fresh)

    async def _end(self, node: Seen, connection: Connection) -> None:
        try:
            ended = await trio.to_thread.run_sync(lease.end_session, connection, node)
        except (StoreOutage, Refused) as error:
            log.warning("session_not_ended", of=node.node.name, error=str(error))
        else:
            log.warning("silent_session_ended", of=node.node.name, ended=ended)

    # Shards

    async def _take(self, session: Session, shards: Collection[int]) -> None:
        name, number = self._me.name, self._number
        try:
            taken = await self._line.run(
                session, lambda held: lease.take(held, name, number, shards)
            )
        except (StoreOutage, Refused) as error:
            log.warning("shards_not_taken", node=name, error=str(error))
            self._lose(session)
            return
        if self._session is not session:
            return
        now = trio.current_time()
        for shard, last in taken.shards.items():
            self._own[shard] = answers_from(self._sightings, self._of_another(last), now)
        if taken.shards:
            wait = max(self._own[shard] for shard in taken.shards) - now
            log.info("shards_taken", node=name, count=len(taken.shards), wait_s=round(wait, 2))

    def _of_another(self, last: Beat | None) -> Beat | None:
        """Return the beat; None if an earlier session of this process made it.

        When that session ended, this process dropped what it held in memory, so there is nothing to
        wait for.
        """
        return None if last is not None and last.session in self._own_numbers else last

    async def _give(self, session: Session, shard: int) -> None:
        """Hand one shard over: let nothing more be written, commit that it is free, unlock it."""
        self._giving.add(shard)
        name, number = self._me.name, self._number
        await self._release(shard)
        if self._session is not session:
            return
        try:
            await self._line.run(session, lambda held: lease.hand_over(held, name, number, [shard]))
        except (StoreOutage, Refused) as error:
            log.warning("shard_not_handed_over", node=name, error=str(error))
            self._lose(session)
            return
        if self._session is session:
            self._own.pop(shard, None)
            self._giving.discard(shard)
            self._owners.pop(shard, None)
            if not self._own:
                self._none_left.set()


def _close(connection: Connection | None) -> None:
    if connection is not None:
        connection.close()
