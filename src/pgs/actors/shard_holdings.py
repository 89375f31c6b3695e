"""Prepares, and later drops, what a node holds in memory for the shards that it owns.

A shard is given up in this order. First the sockets are closed, and held calls and live streams
check again whether the node still owns their partner, so that nothing new comes in. Then the actors
end. The registers are cleared last, because a table that ends still sets its alarm.
"""

from collections.abc import Callable, Collection
from typing import Final

from pgs.actors.maintenance.registers import follow_others
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.seating.emergency_stop import finish_stops
from pgs.actors.seating.switching_off import close_switched_off
from pgs.actors.seating.waves import wake_lobbies
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.shards import shard_of

GOING_AWAY: Final = 1001
"""Close code of the sockets of a partner that was given up, the same as at a stop: clients connect
again after it, and reach the new owner (RFC 6455, section 7.4.1)."""


class Holdings:
    """The partners of this node's shards, their actors and what the registers say about them."""

    def __init__(self, parts: Parts, directory: PartnerDirectory) -> None:
        self._parts = parts
        self._directory = directory

    async def prepare(self, shards: Collection[int]) -> None:
        """Read what the node must know before it answers for shards. Raises `StoreOutage`.

        A key that the previous owner revoked is refused from the first call on.
        """
        await follow_others(self._parts, self._directory)

    def taken(self, shards: Collection[int]) -> None:
        """Begin the background work for shards that this node has just taken.

        It is the same as at the start of the service: search for what is due, pair the waiting
        seats, and finish deactivations and emergency stops that were cut short.
        """
        self._parts.deadlines.note(0)
        for work in (wake_lobbies, close_switched_off, finish_stops):
            self._parts.system.spawn(work, self._parts, self._directory)

    async def release(self, shard: int) -> None:
        """Give a shard up; return once this node writes nothing more for its partners.

        Messages that wait are refused. Those being handled have `STOP_GRACE_S` to be carried
        through.
        """

        def belongs(partner_id: str) -> bool:
            return shard_of(partner_id) == shard

        self._turn_away(belongs)
        for ended in self._directory.give_up(shard, at_once=False):
            await ended.wait()
        await self._parts.key_uses.flush(belongs)
        self._forget(belongs)

    def drop(self) -> None:
        """Give all shards up immediately, because the session with the database was lost.

        What is in memory may be out of date. Messages that are being handled fail, and their
        outcome is unknown.
        """
        self._turn_away(_all)
        self._directory.give_up(None, at_once=True)
        self._forget(_all)

    def _turn_away(self, belongs: Callable[[str], bool]) -> None:
        parts = self._parts
        parts.presence.forget(belongs, GOING_AWAY)
        parts.activity.wake(belongs)
        for partner_id in filter(belongs, parts.bells.held()):
            for environment in ENVIRONMENTS:
                parts.bells.ring(partner_id, environment)

    def _forget(self, belongs: Callable[[str], bool]) -> None:
        parts = self._parts
        parts.alarms.forget(belongs)
        parts.feed_rows.forget(belongs)
        parts.key_uses.forget(belongs)
        parts.settlements.asks.forget_all(belongs)


def _all(partner_id: str) -> bool:
    return True
