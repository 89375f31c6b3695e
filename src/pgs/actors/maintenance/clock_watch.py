"""The chore that compares the machine's clock with the newest row."""

import structlog

from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.storage.bulk import read_in_bulk
from pgs.storage.heartbeat import newest_row_at

log = structlog.get_logger("pgs.clock")


async def watch_clock(parts: Parts, _: PartnerDirectory) -> None:
    """If the newest row is from the future, log this once. Raises `StoreOutage`."""
    watch = parts.clock_watch
    if watch.note_newest_row(await read_in_bulk(parts.database, newest_row_at)):
        parts.on_event("clock_contradicts_rows")
        log.error("clock_contradicts_rows", rows_ahead_s=watch.rows_ahead_s)
