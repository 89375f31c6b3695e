"""Notices that a standby was promoted while the old primary still runs.

The old primary answers, but no standby confirms its commits. A server that is slow for a moment
looks the same. Only a second host that confirms commits shows that the standby was promoted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import structlog
import trio

from pgs.domain.leases import HEARTBEAT_S
from pgs.storage.postgres.session import WritingSession

LATE_S: Final = 3 * HEARTBEAT_S
"""Seconds without a confirmed beat after which the other hosts of the database are asked whether
they confirm commits. If one does, the session is given up immediately. A service without other
nodes makes no beats. It asks the hosts once a transaction has waited this long for its commit."""

log = structlog.get_logger("pgs.nodes")


async def leave_old_primaries(
    late: Callable[[], WritingSession | None],
    is_primary_elsewhere: Callable[[], bool],
    lose: Callable[[WritingSession], None],
) -> None:
    """Call `lose` with each session that confirms nothing while another host confirms commits.

    `late` returns the session if it has confirmed nothing for `LATE_S`, else None.
    `is_primary_elsewhere` is called in a thread.
    """
    while True:
        await trio.sleep(HEARTBEAT_S)
        session = late()
        if session is None:
            continue
        moved = await trio.to_thread.run_sync(is_primary_elsewhere, abandon_on_cancel=True)
        if moved and late() is session:
            log.warning("primary_elsewhere")
            lose(session)
