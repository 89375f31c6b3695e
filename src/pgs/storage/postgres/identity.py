"""Decides whether a database is complete, and is the one that the data folder's mark names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import structlog

from pgs.domain.plurals import the_last
from pgs.storage.data_folder import BadSource, DataLock, DataRefused
from pgs.storage.database_mark import Mark, write_mark
from pgs.storage.postgres.connection import Connection, Lost, StatementRefused
from pgs.storage.postgres.migrating import has_schema, migrate
from pgs.storage.postgres.session import WriterSession
from pgs.storage.postgres.statements import PLAIN, bound, literals
from pgs.storage.restored_feeds import advance_params
from pgs.storage.transactions import StoreOutage

_ACCEPT: Final = (
    "If the loss is accepted, run `pgs db accept-loss`: it advances every feed past all positions "
    "ever read."
)

# Two rows beside the writer's count: `database`, a random number drawn when the database was made,
# and `server`, a number computed from the server and the database's id there. A restored dump has
# both rows of its original, so its `server` differs from the number that a start computes.
_DRAW: Final = (
    "insert into heartbeat (name, beats) "
    "select 'database', 1 + floor(random() * 2147483646)::bigint "
    "on conflict (name) do nothing"
)
_NUMBER: Final = "select beats from heartbeat where name = 'database'"
_HERE: Final = (
    "select ('x' || substr(md5(s.system_identifier::text || '/' || d.oid::text), 1, 15))"
    "::bit(60)::bigint from pg_control_system() s, pg_database d "
    "where d.datname = current_database()"
)
_THEN: Final = "select beats from heartbeat where name = 'server'"
_SETTLE: Final = (
    "insert into heartbeat (name, beats) values ('server', $1::bigint) "
    "on conflict (name) do update set beats = excluded.beats"
)

log = structlog.get_logger("pgs.storage")


class DatabaseIdentity(msgspec.Struct, frozen=True):
    """Which database this is, and whether it is a restored copy that no service has used yet."""

    number: int
    is_copy: bool

    @classmethod
    def of(cls, connection: Connection) -> DatabaseIdentity:
        """Return the identity of a database that has a schema.

        Stores a new number for the database, and the number of its server, where there is none yet.
        Raises `Lost` and `StatementRefused`.
        """
        connection.command(_DRAW)
        ((number,),) = connection.command(_NUMBER)
        then, here = connection.command(_THEN), _server_of(connection)
        if here is not None and not then:
            connection.command(_SETTLE, *literals([here]))
        return cls(number, here is not None and bool(then) and then[0][0] != here)


def _server_of(connection: Connection) -> int | None:
    """Return the number of the server and its database; None if this role may not read it."""
    try:
        ((number,),) = connection.command(_HERE)
    except StatementRefused as error:
        log.warning("server_untold", found=str(error))
        return None
    return int(number)


def judge_new(mark: Mark | None, key_file: Path) -> None:
    """Raise `DataRefused` for an empty database if this data folder had a database before."""
    if (mark is not None and mark.state != "making") or (mark is None and key_file.exists()):
        raise DataRefused(
            "the database is empty, but the data folder tells of one that was in use. Check "
            "PGS_DATABASE_URL, or restore the database there. For a new service, name a new "
            "folder (--data), and another key ring (PGS_SECRET_KEY_FILE)"
        )


def judge(mark: Mark | None, identity: DatabaseIdentity, commits: int) -> None:
    """Raise `DataRefused` if the mark names another database, or more commits than this one has."""
    if mark is None or mark.state == "making":
        return
    if identity.number != mark.database:
        raise DataRefused(
            "this is not the database that was last open with this data folder. "
            f"Check PGS_DATABASE_URL. {_ACCEPT}"
        )
    if commits < mark.commits:
        raise DataRefused(
            f"the database lacks {the_last(mark.commits - commits, 'commit')}: it was restored, "
            f"or it fell back to an older state. {_ACCEPT}"
        )


def advance_feeds(connection: Connection, now: int) -> None:
    """Advance every feed's head, and record the number of the server that holds the database.

    `now` is in epoch seconds. Raises `Lost` and `StatementRefused`.
    """
    # The number is read before the transaction: if the role may not read it, the error would abort
    # the transaction, and its commit would change nothing.
    here = _server_of(connection)
    connection.command("begin")
    try:
        for name, params in (
            ("backup.add_missing_heads", {}),
            ("backup.advance_feed_heads", advance_params(now)),
        ):
            connection.read(PLAIN[name], bound(name, params))
        if here is not None:
            connection.command(_SETTLE, *literals([here]))
        connection.command("commit")
    except StatementRefused:
        connection.command("rollback")
        raise


def accept_loss(url: str, folder: Path, now: int) -> int:
    """Accept the database as it is, and advance every feed; return how many commits it holds.

    Raises `BadSource`, `DataFolderInUse`, `DatabaseInUse`, `SchemaNewer` and `StoreOutage`.
    """
    lock = DataLock(folder)
    try:
        session = WriterSession(url, "pgs db accept-loss", 1)
        try:
            if not has_schema(session.connection):
                raise BadSource("the database of PGS_DATABASE_URL is empty")
            migrate(session.connection)
            advance_feeds(session.connection, now)
            ((commits,),) = session.connection.read(PLAIN["heartbeat.count_write"], [])
            write_mark(
                folder, Mark("closed", DatabaseIdentity.of(session.connection).number, commits)
            )
        except (Lost, StatementRefused) as error:
            raise StoreOutage(str(error)) from error
        except OSError as error:
            raise StoreOutage(f"the mark cannot be written: {error}") from error
        finally:
            session.end()
    finally:
        lock.release()
    return int(commits)
