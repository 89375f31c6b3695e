"""`pgs db …`: checking, copying and restoring the database."""

from pathlib import Path
from typing import Annotated

import typer

from pgs.cli import tables
from pgs.cli.errors import REFUSED, expected, stop
from pgs.cli.options import ConfigFile, DataDir, Json, ask, settings, show
from pgs.clock import SystemClock
from pgs.operator.command import NoArgs
from pgs.operator.commands.db import DB_BACKUP, DB_CHECK, DB_MIGRATE, BackupFolder
from pgs.storage.data_folder import BadSource

db = typer.Typer(no_args_is_help=True, help="Check, copy and restore the database.")


@db.command("migrate")
def migrate(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """Bring the database up to date, or create a new one. A service does the same at its start."""
    show(ask(DB_MIGRATE, NoArgs(), config, data), tables.migrated, as_json=as_json)


@db.command("check")
def check_database(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """Run the database's integrity check. The exit code is 1 when it finds a fault."""
    report = ask(DB_CHECK, NoArgs(), config, data)
    show(report, tables.database, as_json=as_json)
    if not report.sound:
        raise stop(
            "the database is damaged. Stop the service, keep a copy of the data folder (or of the "
            "database in PostgreSQL), and go back to a backup.",
            REFUSED,
        )


@db.command("backup")
def back_up(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A new or empty folder for the copy.")
    ],
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Copy the database and the key ring of a data folder, even while the service runs.

    `pgs db restore FOLDER` puts the copy back.
    """
    show(
        ask(DB_BACKUP, BackupFolder(str(folder.absolute())), config, data),
        tables.backed_up,
        as_json=as_json,
    )


@db.command("restore")
def restore(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="COPY",
            help="A backup's folder, a folder with pgs.db, or the file of a database.",
        ),
    ],
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Replace the database by a copy, while no service runs. The copy is not changed.

    The replaced files are kept. The next start advances every feed past all positions ever read.
    """
    with expected():
        # Imported here, because most commands need no database.
        from pgs.storage.sqlite.restore import restore as put_back

        loaded = settings(config, data)
        if loaded.database_url:
            raise BadSource(
                "this service keeps its database in PostgreSQL: restore it there, with the tools "
                "of the server. docs/operations.md says what the next start does"
            )
        told = put_back(source, loaded.data_dir, loaded.key_file, SystemClock().now())
    aside = f" What was there is in {told.replaced}." if told.replaced else ""
    show(
        told,
        lambda told: (
            f"The copy is in {told.folder}.{aside} Start the service, then run `pgs ledger check`."
        ),
        as_json=as_json,
    )


@db.command("copy")
def copy_database(
    target: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="URL|FOLDER",
            help="An empty database of PostgreSQL, or with --from a new data folder.",
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="URL", help="The PostgreSQL database to copy from."),
    ] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Copy the database of the data folder into PostgreSQL, or back, while no service runs.

    Every row is compared and the ledgers are checked. Keys, cursors and feed positions stay valid.
    """
    with expected():
        from pgs.storage.engines import copy_to_folder, copy_to_server

        loaded = settings(config, data)
        if source is None:
            told = copy_to_server(loaded, target)
            then = "Set PGS_DATABASE_URL, and keep the data folder: it has the key ring."
        else:
            told = copy_to_folder(loaded, source, Path(target))
            then = f"Leave PGS_DATABASE_URL out, and start with --data {target}."
    show(
        told,
        lambda told: f"All {told.tables} tables are the same in both; rows: {told.rows}. {then}",
        as_json=as_json,
    )


@db.command("accept-loss")
def accept_loss(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """Accept a database that has lost commits, after a start has refused it.

    What was lost stays lost. Every feed is advanced past all positions ever read: on SQLite by the
    next start, on PostgreSQL by this command.
    """
    with expected():
        from pgs.storage.engines import accept_loss as accept

        told = accept(settings(config, data), SystemClock().now())
    show(
        told,
        lambda told: (
            f"The loss is accepted: the next start on {told.folder} goes on with what the database "
            "holds."
        ),
        as_json=as_json,
    )
