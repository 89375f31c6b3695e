"""The clerk: what is done by the calendar, for no caller. So far: the attempt log forgets, and failing endpoints are seen to."""

import structlog
import trio

from pgs.actors.messages.courier import EndpointChanged
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.domain.nudges import FAILURES_TO_DISABLE
from pgs.storage import attempts
from pgs.storage.bulk import read_in_bulk
from pgs.storage.transactions import StoreOutage, Tx, WriterFull
from pgs.storage.webhooks import failing_endpoints

KEEP_ATTEMPTS_S = 30 * 24 * 3600
"""Seconds that the attempt log keeps a try: the 30 days that the interface promises."""

ROUND_S = 3600.0
"""Seconds between two removals of old tries. Older tries are no longer shown, so an hour more harms
nobody."""

PAGE = 500
"""Rows looked at in one go, and so at most in one transaction: a few milliseconds of the writer."""

LOOK_AGAIN_S = 60.0
"""Seconds until an endpoint is disabled whose disabling was cut short. Rare enough that a minute
does not matter."""

log = structlog.get_logger("pgs.clerk")


async def keep_pruning(parts: Parts) -> None:
    """Remove what the attempt log need not hold any more, partner by partner, once an hour, for ever."""
    while True:
        try:
            await prune(parts)
        except (StoreOutage, WriterFull):
            parts.on_event("pruning_failed")
            log.exception("pruning_failed")
        await trio.sleep(ROUND_S)


async def prune(parts: Parts) -> None:
    """Remove tries made `KEEP_ATTEMPTS_S` ago or earlier, the oldest first. Raises what the store raises."""
    until = parts.clock.now() - KEEP_ATTEMPTS_S
    while oldest := await read_in_bulk(
        parts.database, lambda reader: attempts.oldest_attempts(reader, until, PAGE)
    ):
        for partner_id, environment, seq in oldest:
            stmt = attempts.delete_old_attempts(partner_id, environment, seq, until)
            await parts.database.writer.submit(Tx(partner_id, (stmt,)))


async def keep_disabling(parts: Parts, directory: PartnerDirectory) -> None:
    """Wake the couriers of endpoints that are on after too many failures, for ever: a crash came between the count and its consequence."""
    while True:
        try:
            for partner_id, environment in await read_in_bulk(
                parts.database, lambda reader: failing_endpoints(reader, FAILURES_TO_DISABLE, PAGE)
            ):
                directory.partner(partner_id).courier(environment).tell(EndpointChanged())
        except StoreOutage:
            parts.on_event("failing_endpoints_unreadable")
            log.exception("failing_endpoints_unreadable")
        await trio.sleep(LOOK_AGAIN_S)
