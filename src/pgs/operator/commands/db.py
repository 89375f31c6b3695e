"""`db.…`: the database and its folder."""

from pathlib import Path
from typing import Annotated

import trio
from msgspec import Meta

from pgs.actors.core import Core
from pgs.domain.errors import BadRequest
from pgs.operator.command import Args, NoArgs, OperatorCommand
from pgs.operator.records import DatabaseBackedUp, DatabaseChecked, DatabaseMigrated
from pgs.storage.backup import BadTarget, back_up
from pgs.storage.integrity import check_integrity


class BackupFolder(Args, frozen=True):
    """The folder for a backup: an absolute path; the folder must be empty or not exist yet."""

    folder: Annotated[str, Meta(min_length=1, max_length=4096)]


async def check_the_database(core: Core, args: NoArgs) -> DatabaseChecked:
    """Return the faults that the database's own check finds. The ledgers are not checked."""
    problems = await check_integrity(core.parts.database)
    return DatabaseChecked(not problems, core.parts.database.migrations(), problems)


async def migrate_the_database(core: Core, args: NoArgs) -> DatabaseMigrated:
    """Return the applied migrations. Opening the database has already applied missing ones."""
    return DatabaseMigrated(core.parts.database.migrations())


async def back_up_the_database(core: Core, args: BackupFolder) -> DatabaseBackedUp | BadRequest:
    """Copy the database and the key ring into a folder. A restore needs both."""
    folder = Path(args.folder)
    if not folder.is_absolute():
        return BadRequest("the folder must be an absolute path")

    at = core.parts.clock.now()
    try:
        copy = await back_up(core.parts.database, folder, core.parts.keys.copy_to)
    except BadTarget as error:
        return BadRequest(str(error))
    except Exception:
        core.parts.on_event("backup_failed")
        raise
    core.parts.on_event("backup_made")
    return DatabaseBackedUp(str(folder), (await trio.Path(copy).stat()).st_size, at)


DB_CHECK = OperatorCommand("db.check", NoArgs, DatabaseChecked, check_the_database)
DB_MIGRATE = OperatorCommand(
    "db.migrate", NoArgs, DatabaseMigrated, migrate_the_database, starts_a_folder=True
)
DB_BACKUP = OperatorCommand("db.backup", BackupFolder, DatabaseBackedUp, back_up_the_database)

COMMANDS = (DB_CHECK, DB_MIGRATE, DB_BACKUP)
