"""Owns shards for this node: beats, watches the other nodes, takes shards and hands them over.

`pgs.domain.leases` decides whether the node may answer from memory. The locks of
`pgs.storage.postgres.lease` decide which node owns which shard.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from math import inf
from typing import Final

import structlog
import trio

from pgs.domain.leases import GAP_S, HEARTBEAT_S, Sightings, is_fresh
from pgs.domain.shards import Node
from pgs.storage.nodes import Tally
from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import Connection, StatementRefused
from pgs.storage.postgres.entering import enter
from pgs.storage.postgres.fail_overs import LATE_S, leave_old_primaries
from pgs.storage.postgres.hand_over_commits import HandOverCommits
from pgs.storage.postgres.lease import Look, WriterLine
from pgs.storage.postgres.node_looks import LOOK_S, Looks
from pgs.storage.postgres.session import WritingSession
from pgs.storage.postgres.shard_holds import Holds
from pgs.storage.postgres.shard_sharing import Sharing, is_draining, others_running, takers_of
from pgs.storage.transactions import StoreOutage

REOPEN_S: Final = 0.1
"""Seconds after which a session that could not be opened is tried again. A server that fails over
takes seconds; the first try that succeeds ends the outage."""

BEAT_TIMEOUT_S: Final = 3.0
"""Seconds after which a session that confirms no beat is given up: the database does not answer."""

log = structlog.get_logger("pgs.nodes")


async def _prepare_nothing(_: Collection[int]) -> None:
    pass


class Keeper:
    """The shards of one node. It is an `Owners` for `pgs.http.nodes`.

    `watch` opens a connection for looks, to the writer's server. `prepare` is called with shards
    that were taken, and reads what the node must know before it answers for them; after a
    `StoreOutage` it is called again. `taken` is called once the node answers for them. `elsewhere`
    runs in a thread and returns whether another server than the session's takes writes now.
    `release` is called for each shard that is handed over: it returns once nothing of it is written
    any more. `drop` is called when the session has ended: what the node holds in memory may be old.
    """

    def __init__(
        self,
        me: Node,
        line: WriterLine,
        watch: Callable[[], Connection],
        *,
        release: Callable[[int], Awaitable[None]],
        drop: Callable[[], None],
        prepare: Callable[[Collection[int]], Awaitable[None]] = _prepare_nothing,
        taken: Callable[[Collection[int]], None] = lambda shards: None,
        elsewhere: Callable[[], bool] = lambda: False,
    ) -> None:
        self.tally = Tally()
        self._me = me
        self._line = line
        self._looks = Looks(me.name, watch)
        self.hurry = self._looks.hurry
        self._release = release
        self._drop_memory = drop
        self._prepare = prepare
        self._tell_taken = taken
        self._is_primary_elsewhere = elsewhere
        self._session: WritingSession | None = None
        self._hand_over_commits: HandOverCommits  # of this session
        self._number = 0
        self._holds = Holds()
        self._last_beat: float | None = None
        # By shard: when this node begins to answer for it, `inf` until it is prepared.
        self._own: dict[int, float] = {}
        # By shard: the shards that were taken with it, and from when this node may answer for each.
        self._taking: dict[int, Mapping[int, float]] = {}
        self._giving: set[int] = set()
        self._sightings = Sightings()
        self._sharing = Sharing(me.name)
        self._nodes: dict[str, Node] = {}
        self._running: tuple[Node, ...] = ()
        self._owners: dict[int, str] = {}
        self._stopping = False
        self._is_asking = False  # a request for shards is under way
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

    def beat_age(self, now: float) -> float:
        """Return the seconds since the last committed beat was sent; infinity without a session."""
        return inf if self._last_beat is None else now - self._last_beat

    @property
    def owned(self) -> frozenset[int]:
        """The shards for which this node answers now."""
        return frozenset(shard for shard in self._own if self._answers(shard))

    def answering(self) -> dict[int, float]:
        """Return for how many seconds this node has answered for each of its shards."""
        now = trio.current_time()
        return {shard: now - self._own[shard] for shard in self.owned}

    @property
    def running(self) -> tuple[Node, ...] | None:
        """The other nodes that have a session; None if this one has none, or could not look."""
        has_looked = trio.current_time() - self._sightings.at <= GAP_S
        return self._running if has_looked and self._is_fresh() else None

    def _answers(self, shard: int) -> bool:
        begun = self._own.get(shard, inf) <= trio.current_time()
        return begun and shard not in self._giving and self._is_fresh()

    def _is_fresh(self) -> bool:
        return is_fresh(trio.current_time(), self._last_beat)

    async def run(self) -> None:
        """Keep a session open, beat, and take and hand over shards, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_session)
            nursery.start_soon(self._keep_looking, nursery)
            nursery.start_soon(
                leave_old_primaries, self._late_session, self._is_primary_elsewhere, self.lose
            )

    async def stop(self) -> None:
        """Hand over every shard. Call it with a deadline, and cancel `run` afterwards."""
        self._stopping = True
        session = self._session
        if session is not None:
            await self._show_stop(session)
        if session is None or self._session is not session:
            return
        self._none_left = trio.Event()
        async with trio.open_nursery() as nursery:
            self._give_soon(session, set(self._own) - self._giving, nursery)
            if self._own or self._is_asking:
                await self._none_left.wait()

    async def _show_stop(self, session: WritingSession) -> None:
        try:
            await self._line.run(session, lambda held: lease.stop(held, self._me.name))
        except (StoreOutage, StatementRefused):
            self.lose(session)

    # Sessions and beats

    async def _keep_session(self) -> None:
        failing = False
        while not self._stopping:
            began = trio.current_time()
            try:
                session, number = await enter(self._line, self._me)
            except StoreOutage as error:
                if not failing:  # an outage would fill the log with the same line
                    log.warning("session_not_opened", node=self._me.name, error=str(error))
                failing = True
                await trio.sleep(REOPEN_S)
                continue
            failing = False
            self._session, self._number, self._last_beat = session, number, began
            self._hand_over_commits = HandOverCommits(self._line, session, self._me.name, number)
            self._sharing.begin(trio.current_time())
            self.hurry()
            self.tally.sessions += 1
            self._holds.begin(number)
            self._ended = trio.Event()
            log.info("session_opened", node=self._me.name, number=number)
            await self._beat_on(session)

    async def _beat_on(self, session: WritingSession) -> None:
        """Beat until the session has ended."""
        name, number = self._me.name, self._number
        if self._stopping:  # `stop` began while the session was being opened
            await self._show_stop(session)
        while self._session is session:
            submitted = trio.current_time()
            with trio.move_on_after(BEAT_TIMEOUT_S) as limit:
                try:
                    await self._line.run(session, lambda held: lease.beat(held, name, number))
                except (StoreOutage, StatementRefused) as error:
                    log.warning("session_ended", node=name, error=str(error))
                    self.lose(session)
                    return
            if limit.cancelled_caught:
                log.warning("session_silent", node=name)
                self.lose(session)
                return
            if self._session is session:
                self._last_beat = submitted
            with trio.move_on_at(submitted + HEARTBEAT_S):
                await self._ended.wait()

    def _late_session(self) -> WritingSession | None:
        return self._session if self.beat_age(trio.current_time()) >= LATE_S else None

    def lose(self, session: WritingSession) -> None:
        """End this session if it is the current one, and forget everything that depended on it."""
        if self._session is not session:
            return
        self._session = self._last_beat = None
        self._own.clear()
        self._taking.clear()
        self._giving.clear()
        self._ended.set()
        self._none_left.set()
        self._looks.give_up()
        self._line.abandon(session)
        self._drop_memory()

    # Looks

    async def _keep_looking(self, nursery: trio.Nursery) -> None:
        while True:
            await self._looks.wait()
            session = self._session
            if session is None:
                self._looks.close()
                continue
            seen = await self._looks.take(session)
            if seen is not None and self._session is session:
                await self._act_on(seen, nursery)

    async def _act_on(self, seen: Look, nursery: trio.Nursery) -> None:
        now = trio.current_time()
        self._sightings = self._sightings.look([node.beat for node in seen.nodes], now, seen.epochs)
        self._nodes = {node.node.name: node.node for node in seen.nodes}
        self._running = others_running(seen, self._me)
        self._owners = dict(seen.owners)
        self._sharing.note(seen)
        self.tally.draining = is_draining(seen, self._me)
        self.tally.others_ended += await self._looks.end_silent(
            seen, self._sightings, self._is_fresh
        )
        session = self._session
        if session is None or self._stopping or not self._is_fresh():
            return
        shares = self._sharing.shares(seen, takers_of(seen, self._sightings), now)
        mine = {shard for shard, name in shares.items() if name == self._me.name}
        if wanted := mine - seen.owners.keys() - self._own.keys():
            await self._take(session, wanted, nursery)
        left = self._sharing.to_give(seen, shares, self._own, self._giving)
        self._give_soon(session, left, nursery)

    # Shards

    async def _take(
        self, session: WritingSession, shards: Collection[int], nursery: trio.Nursery
    ) -> None:
        name, number = self._me.name, self._number
        self._is_asking = True
        try:
            granted = await self._line.run(
                session, lambda held: lease.take(held, name, number, shards)
            )
        except (StoreOutage, StatementRefused) as error:
            log.warning("shards_not_taken", node=name, error=str(error))
            self._holds.asked(shards, trio.current_time())
            self.lose(session)
            self._none_left.set()  # let a waiting `stop` end
            return
        finally:
            self._is_asking = False
        now = trio.current_time()
        starts = self._holds.starts(self._sightings, granted.shards, now)
        if self._session is not session or not starts:
            self._tell_none_left()
            return
        self.tally.taken_over += sum(last is not None for last in granted.shards.values())
        self._sharing.took(starts)
        self._own |= dict.fromkeys(starts, inf)
        self._taking |= dict.fromkeys(starts, starts)
        if self._stopping:  # `stop` began after the node had asked for these shards
            self._give_soon(session, starts, nursery)
            return
        wait = round(max(starts.values()) - now, 2)
        log.info("shards_taken", node=name, count=len(starts), wait_s=wait)
        nursery.start_soon(self._begin, session, starts)

    async def _begin(self, session: WritingSession, starts: Mapping[int, float]) -> None:
        """Begin to answer for the shards of `starts`, each at its time, once they are prepared."""
        while self._session is session:
            try:
                await self._prepare(starts.keys())
                break
            except StoreOutage as error:
                log.warning("shards_not_prepared", node=self._me.name, error=str(error))
                await trio.sleep(LOOK_S)
        if self._session is not session:
            return
        # A shard that was handed over and has come back meanwhile belongs to a later request now.
        mine = [shard for shard in starts if self._taking.get(shard) is starts]
        self._own |= {shard: starts[shard] for shard in mine}
        await trio.sleep_until(max(starts.values()))
        if self._session is session:
            self._tell_taken(mine)

    def _give_soon(
        self, session: WritingSession, shards: Collection[int], nursery: trio.Nursery
    ) -> None:
        self._giving.update(shards)  # now, so that no shard is handed over twice
        for shard in shards:
            nursery.start_soon(self._give, session, shard)

    async def _give(self, session: WritingSession, shard: int) -> None:
        """Hand over one shard: stop all writes for it, commit that it is free, and unlock it."""
        if shard in self._taking:  # wait while the previous owner may answer
            await trio.sleep_until(self._taking[shard][shard])
        # The session may be lost meanwhile. A shard that is not prepared has nothing to release.
        if self._session is session and self._own.get(shard) != inf:
            await self._release(shard)
        if self._session is not session:
            return
        try:
            await self._hand_over_commits.give(shard)
        except (StoreOutage, StatementRefused) as error:
            log.warning("shard_not_handed_over", node=self._me.name, error=str(error))
            self.lose(session)
            return
        if self._session is session:
            self._giving.discard(shard)
            self._sharing.gave(shard)
            for known in (self._own, self._taking, self._owners):
                known.pop(shard, None)
            self.hurry()  # the next look hands over more shards
            self._tell_none_left()

    def _tell_none_left(self) -> None:
        if not self._own and not self._is_asking:
            self._none_left.set()
