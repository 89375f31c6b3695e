"""Chores that watch over the database: its files every second, its content once a day."""

from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.shared.database_watch import CheckResult
from pgs.storage.integrity import check_everything


async def watch_files(parts: Parts, _: PartnerDirectory) -> None:
    """Report once that the database has lost data.

    With SQLite this compares the open files with those in the folder.
    """
    lost = parts.database.lost()
    if parts.database_watch.note_lost(lost):
        parts.system.report("database_file_lost", found=lost)


async def check_database(parts: Parts, directory: PartnerDirectory) -> None:
    """Check the database and all ledgers, and report every fault. Raises `StoreOutage`.

    One of several nodes checks the database for all of them.
    """
    if not directory.leads:
        return
    faults = await check_everything(parts.database)
    parts.database_watch.last_check = CheckResult(parts.clock.now(), tuple(faults))
    if faults:
        parts.system.report("database_unsound", faults=faults)
