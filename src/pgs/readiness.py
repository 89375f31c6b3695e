"""Whether the service can take calls now."""

import structlog
import trio

from pgs.actors.core import Core
from pgs.storage.database import StoreOutage, WriterFull
from pgs.storage.heartbeat import beat

PROBE_S = 2.0  # a commit that takes longer than this is too slow to serve by

log = structlog.get_logger("pgs.readiness")


class Readiness:
    """Ready once started, until draining, as long as a commit goes through."""

    def __init__(self) -> None:
        self._core: Core | None = None
        self._draining = False
        self._probing = False

    def started(self, core: Core) -> None:
        """The listeners take calls."""
        self._core = core

    def draining(self) -> None:
        """The service is stopping."""
        self._draining = True

    async def why_not(self) -> str | None:
        """Return `starting`, `draining` or `unable to write`, or None when ready."""
        if self._draining:
            return "draining"
        if self._core is None:
            return "starting"
        core = self._core
        if self._probing or core.parts.database.writer.stalled():
            return "unable to write"  # an earlier probe still hangs: do not heap up more
        outcome: list[bool] = []
        done = trio.Event()

        async def probe() -> None:
            try:
                await core.parts.database.writer.submit(beat())
                outcome.append(True)
            except (StoreOutage, WriterFull):
                core.parts.on_event("readiness_probe_failed")
                log.exception("readiness_probe_failed")
            finally:
                self._probing = False
                done.set()

        self._probing = True
        core.parts.system.spawn(probe)
        with trio.move_on_after(PROBE_S):
            await done.wait()
        return None if outcome else "unable to write"
