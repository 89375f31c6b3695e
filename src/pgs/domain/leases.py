"""When a node may trust what it holds in memory, and when others may end its ownership.

A node owns shards for as long as its writing session with the database lives, because that session
holds their locks. So writes need no clock. Two questions need one: whether this node may still
answer from memory, and whether another node, whose session still lives, has stopped working. Each
is answered with the monotonic clock of the machine that asks; no two clocks are ever compared.

A beat is a commit of the node's own writer that raises a counter in the node's row. Times are
seconds of the monotonic clock.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

HEARTBEAT_S: Final = 0.3
"""Seconds between two beats of a node: five fit into `HOLD_S`, so that a few slow commits do not
stop a node's answers."""

HOLD_S: Final = 1.5
"""Seconds for which a node answers from memory, counted from when it submitted its newest committed
beat. Another node that takes its shards over waits until this time has passed."""

TAKE_S: Final = 2.0
"""Seconds without a new beat of a node after which another node ends its session. More than
`HOLD_S`, so that the silent node has stopped answering from memory by then."""

GAP_S: Final = 1.0
"""Seconds that may pass between two looks at the nodes' rows. After a longer pause an observer
forgets what it saw before: the observer itself was stopped, and could otherwise mistake its own
pause for the silence of a healthy node."""


def is_fresh(now: float, last_beat: float | None) -> bool:
    """Return whether a node may answer from memory.

    `last_beat` is the time at which the node submitted its newest committed beat; None if there is
    none. Read `now` after the request has arrived.
    """
    return last_beat is not None and now < last_beat + HOLD_S


def hold_from(now: float) -> float:
    """Return when a node stops answering from memory if it makes no beat after `now`.

    Code outside this module calls this, so that only this module reads `HOLD_S`.
    """
    return now + HOLD_S


class Beat(msgspec.Struct, frozen=True):
    """A node's row as it was read.

    `session`: the session that writes the row. `count`: how many beats that session has made; -1 if
    this is not known any more.
    """

    node: str
    session: int
    count: int


class Sighting(msgspec.Struct, frozen=True):
    """A node's newest beat that an observer has seen, and when the observer first saw it."""

    beat: Beat
    since: float


class Held(msgspec.Struct, frozen=True):
    """How often a shard had been taken when an observer last looked at it.

    `since`: when the observer first saw this number.

    To compare the owner's name would not be enough: the owner may give a shard up and take it again
    between two looks, and another node may answer for it meanwhile.
    """

    epoch: int
    since: float


class Last(msgspec.Struct, frozen=True):
    """The row of a shard's previous owner.

    `epoch`: how often the shard had been taken, up to and including this owner.
    """

    beat: Beat
    epoch: int


class Sightings(msgspec.Struct, frozen=True):
    """What one observer has seen: nodes by name, shards by number, and when it last looked (`at`).

    It is never changed in place: `look` returns a new one.
    """

    at: float = float("-inf")
    nodes: Mapping[str, Sighting] = {}
    shards: Mapping[int, Held] = {}

    def look(
        self, beats: Iterable[Beat], now: float, epochs: Mapping[int, int] | None = None
    ) -> "Sightings":
        """Return the sightings after a look at the rows of nodes and shards.

        `now`: when these rows had arrived. `epochs`: for each shard that has an owner, how often
        the shard was taken so far.
        """
        known = Sightings() if now - self.at > GAP_S else self
        seen = {}
        for beat in beats:
            before = known.nodes.get(beat.node)
            since = before.since if before is not None and before.beat == beat else now
            seen[beat.node] = Sighting(beat, since)
        held = dict(known.shards)  # keep what was seen of shards that have no owner now
        for shard, epoch in (epochs or {}).items():
            was = known.shards.get(shard)
            if was is None or was.epoch != epoch:
                held[shard] = Held(epoch, now)
        return Sightings(now, seen, held)

    def is_silent(self, node: str) -> bool:
        """Return whether a node has made no new beat for `TAKE_S` up to the last look."""
        sighting = self.nodes.get(node)
        return sighting is not None and self.at - sighting.since >= TAKE_S


def may_end(sightings: Sightings, node: str, *, me: str, fresh: bool) -> bool:
    """Return whether the observer `me` may end the session of `node`.

    Only an observer that is `fresh` itself may, because one that cannot reach the database would
    mistake its own fault for the other node's. No node ends its own session in this way.
    """
    return fresh and node != me and sightings.is_silent(node)


def answers_from(sightings: Sightings, shard: int, last: Last | None, now: float) -> float:
    """Return the time from which the new owner of a shard may answer.

    `last` is the row of the previous owner, read after the lock was granted; None if that owner
    handed the shard over, or there was none. The previous owner may answer from memory for `HOLD_S`
    after the beat in that row. The time of that beat is not known here, but the beat was made
    before this observer first saw it. So `HOLD_S` is counted from the first sighting.

    There may be a third node: the owner before the previous owner, called the earlier owner here.
    If the previous owner held the shard only for a moment, the earlier owner may still answer as
    well, because it may not have noticed that its session has ended. That session ended before the
    previous owner took the shard. So the earlier owner made its last beat before this observer
    first saw the previous owner hold the shard. Therefore `HOLD_S` is also counted from that first
    sighting of the previous owner with the shard. The result is the later of the two times at which
    `HOLD_S` ends, but never before `now`.

    If this observer has not seen the beat in the previous owner's row, or has not seen that the
    previous owner held the shard, `HOLD_S` is counted from `now`.
    """
    if last is None:
        return now
    seen, held = sightings.nodes.get(last.beat.node), sightings.shards.get(shard)
    if seen is None or seen.beat != last.beat or held is None or held.epoch != last.epoch:
        return hold_from(now)
    return max(now, seen.since + HOLD_S, held.since + HOLD_S)


def starts_of(
    sightings: Sightings,
    lasts: Mapping[int, Last | None],
    own: Collection[int],
    until: Mapping[int, float],
    now: float,
) -> dict[int, float]:
    """Return, by shard, the time from which its new owner may answer.

    `lasts` has the argument `last` of `answers_from` for each shard. `own` are the numbers of all
    sessions of this process, ended ones included. After a session has taken a shard, it waits until
    the shard's previous owner has stopped answering. `until` has, by shard, the time at which the
    latest such wait in this process ends.

    If the previous owner was a session in `own`, that session does not answer any more: when it
    ended, the process dropped what it held in memory. But the session may have ended before its
    wait was over, and the owner before it may be another node, which may still answer. So the new
    owner waits until the time in `until`.
    """
    return {
        shard: max(now, until.get(shard, now))
        if last is not None and last.beat.session in own
        else answers_from(sightings, shard, last, now)
        for shard, last in lasts.items()
    }
