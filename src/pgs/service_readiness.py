"""Whether the service can take calls now."""

from collections.abc import Callable

import structlog
import trio

from pgs.actors.core import Core
from pgs.domain.plurals import counted
from pgs.http.identity.verifier import IdentityVerifier
from pgs.storage.heartbeat import beat
from pgs.storage.transactions import StoreOutage, WriterFull

PROBE_S = 2.0
"""Seconds that the probe's commit may take. A service whose commits take longer is too slow to take
calls."""

FIRST_RUNS_S = 2.0
"""Seconds that a check waits for the first runs of required chores, which take milliseconds."""

FAILED_RECENTLY_S = 20.0
"""Seconds for which a failed commit counts. A disk that is nearly full may have room for the
probe's one small row, but not for the many rows of a seat. Probes usually come every ten seconds,
so at least one of them sees the failure. The failure counts for less time if a later session with
the database commits something."""

NO_ROOM_S = 60.0
"""Seconds for which readiness reports a refused connection, so that several checks see it."""

log = structlog.get_logger("pgs.readiness")


class _Probe:
    """One commit that tells whether the database can be written. Checks share a running probe."""

    def __init__(self) -> None:
        self.ends_by = trio.current_time() + PROBE_S
        self.succeeded = False
        self._ended = trio.Event()

    async def run(self, core: Core) -> None:
        """Make the commit."""
        try:
            await core.parts.database.writer.submit(beat())
            self.succeeded = True
        except (StoreOutage, WriterFull):
            core.parts.on_event("readiness_probe_failed")
            log.exception("readiness_probe_failed")
        finally:
            self._ended.set()

    async def has_succeeded(self) -> bool:
        """Return whether the commit has succeeded; False if it has not by `ends_by`."""
        with trio.move_on_at(self.ends_by):
            await self._ended.wait()
        return self.succeeded


class Readiness:
    """Whether the service is ready.

    It is ready once the required chores have run and until it drains, with two exceptions: while
    the database cannot be written or read or has lost data, and for up to `FAILED_RECENTLY_S` after
    a failed commit.
    """

    def __init__(self) -> None:
        self.core: Core | None = None  # None before the start
        self.verifier: IdentityVerifier | None = None  # None without an issuer
        self._draining = False
        self._no_room_at = float("-inf")
        self._probe: _Probe | None = None  # one that has not ended

    def started(self, core: Core) -> None:
        """Note that the listeners take calls."""
        self.core = core

    def draining(self) -> None:
        """Note that the service is stopping."""
        self._draining = True

    def listening(self, on_event: Callable[[str], None]) -> Callable[[str], None]:
        """Return a function that calls `on_event` and notes here when a listener had no room."""

        def note(name: str) -> None:
            if name == "connection_refused":
                self._no_room_at = trio.current_time()
            on_event(name)

        return note

    def notes(self) -> dict[str, str]:
        """Return what an operator should look at although it does not make the service unready."""
        if self.core is None:
            return {}
        parts, notes = self.core.parts, dict[str, str]()
        if overdue := parts.open_money.overdue:
            notes["settlement"] = (
                counted(overdue, "charge or payout is", "charges or payouts are")
                + " open for over a day: see `pgs settlement list`"
            )
        if self.verifier is not None and self.verifier.fault is not None:
            notes["identity"] = (
                f"the issuer's keys cannot be fetched: {self.verifier.fault}; see docs/identity.md"
            )
        if (data := parts.database_watch.fault()) is not None:
            notes["database"] = data
        if (clock := parts.clock_watch.fault()) is not None:
            notes["clock"] = clock
        if (kept := self.core.shards) is not None and kept.tally.draining:
            notes["node"] = f"it is drained: `pgs node undrain {kept.me.name}` ends that"
        if trio.current_time() < self._no_room_at + NO_ROOM_S:
            notes["connections"] = (
                "a connection was refused: all places are taken, and none of them is idle"
            )
        return notes

    async def why_not(self) -> str | None:
        """Return the reason why the service cannot take calls, or None when it can.

        The reasons are `starting`, `starting: ` with the chores that have not run yet, `draining`,
        `unable to write`, `unable to read`, and `data lost: ` with what was lost and what to do.
        """
        if self._draining:
            return "draining"
        if self.core is None:
            return "starting"
        with trio.move_on_after(FIRST_RUNS_S) as limit:
            await self.core.chores.required_have_run.wait()
        if limit.cancelled_caught:
            return f"starting: {', '.join(self.core.chores.not_yet_run())}"
        core, writer = self.core, self.core.parts.database.writer
        if writer.stalled():
            return "unable to write"
        if lost := core.parts.database.lost():
            return f"data lost: {lost}"
        if writer.damaged:
            return "unable to write"
        written = await self._probe_of(core).has_succeeded()
        # The write comes before the read: with PostgreSQL it opens the writer's next session if the
        # last one has ended, and reads then go to the same server as the writer.
        if not written or writer.failed_within(FAILED_RECENTLY_S):
            return "unable to write"
        if await core.parts.database.reader.still_fails():
            return "unable to read"
        return None

    def _probe_of(self, core: Core) -> _Probe:
        """Return the probe that runs, or begin one. So a writer that hangs holds only one probe."""
        if self._probe is not None:
            return self._probe
        probe = self._probe = _Probe()

        async def run() -> None:
            try:
                await probe.run(core)
            finally:
                self._probe = None

        core.parts.system.spawn(run)
        return probe
