"""Replaces the database of a data folder by a copy, or accepts a loss of commits.

Both work on a folder that no service uses. The files are checked in a separate folder first.
The next start advances every feed's head, as `pgs.storage.restored_feeds` explains.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from pgs.config import KEY_FILE_NAME
from pgs.domain.keyring import KeyRing, parse_ring
from pgs.storage.data_folder import BadSource, DataLock, LossAccepted
from pgs.storage.database_mark import Mark, sync_folder, write_mark
from pgs.storage.migrations import migrate, migrations_of
from pgs.storage.sqlite.connections import DATABASE_NAME, connect, mark_as_copy
from pgs.storage.sqlite.content import check_copy
from pgs.storage.sqlite.identity import commits_in, header_number
from pgs.storage.sqlite_driver import FAULTS, value_of
from pgs.storage.transactions import StoreOutage

_PART: Final = "restore.part"
_FILES: Final = tuple(DATABASE_NAME + suffix for suffix in ("", "-wal", "-shm"))
_FIRST_MIGRATION = "0001_launch"
_HAS_MIGRATIONS = "select count(*) from sqlite_master where name = 'migration'"


class Restored(msgspec.Struct, frozen=True, rename="camel"):
    """The data folder that was restored, and the folder that holds the replaced files, if any."""

    folder: str
    replaced: str | None


def restore(source: Path, folder: Path, key_file: Path, at: int) -> Restored:
    """Put a copy of the database into `folder`, and move the replaced files away.

    `source` is a backup's folder, another folder with `pgs.db`, or the file of a database, with its
    log if it has one. It is not changed. If it has a key ring, the ring is used too, unless
    `key_file` holds all of its keys. `at`, in epoch seconds, becomes part of the name of the folder
    with the replaced files. Raises `BadSource`, `DataFolderInUse`, `SchemaNewer` and `StoreOutage`.
    """
    lock = DataLock(folder)
    try:
        database = source / DATABASE_NAME if source.is_dir() else source
        if not database.is_file():
            raise BadSource(f"there is no database at {database}")
        if (folder / DATABASE_NAME).exists() and database.samefile(folder / DATABASE_NAME):
            raise BadSource(f"{database} is the database of the data folder itself")
        ring = _new_ring(source / KEY_FILE_NAME if source.is_dir() else None, key_file)
        with _checked(database, folder) as (part, mark):
            aside = _set_aside(folder, key_file if ring else None, at)
            if ring is not None:
                copy_file(ring, key_file)
            part.rename(folder / DATABASE_NAME)
            write_mark(folder, mark)
    except OSError as error:
        raise StoreOutage(f"{error.filename or folder}: {error.strerror}") from error
    finally:
        lock.release()
    return Restored(str(folder), None if aside is None else str(aside))


def accept_loss(folder: Path) -> LossAccepted:
    """Accept the folder's database as it is, even if it holds fewer commits than the mark names.

    Raises `BadSource`, `DataFolderInUse`, `SchemaNewer` and `StoreOutage`.
    """
    path = folder / DATABASE_NAME
    if not path.is_file():
        raise BadSource(f"there is no database in {folder}. `pgs db restore` puts a copy there")
    lock = DataLock(folder)
    try:
        with _checked(path, folder) as (_, mark):
            connection = connect(path)
            try:
                mark_as_copy(connection)
            finally:
                connection.close()
            write_mark(folder, mark)
    except (OSError, *FAULTS) as error:
        raise StoreOutage(f"{path}: {error}") from error
    finally:
        lock.release()
    return LossAccepted(str(folder), mark.commits)


def _new_ring(ring_of_copy: Path | None, key_file: Path) -> Path | None:
    """Return the ring that replaces `key_file`, or None to keep the ring there."""
    have = _ring(key_file)
    bring = None if ring_of_copy is None else _ring(ring_of_copy)
    if bring is None and have is None:
        raise BadSource(
            f"there is no key ring at {key_file}, and the copy brings none. Put the ring of this "
            "database there first"
        )
    if bring is None or (have and all(have.find(key.kid) == key for key in bring.keys)):
        return None
    return ring_of_copy


def _ring(path: Path) -> KeyRing | None:
    if not path.exists():
        return None
    try:
        return parse_ring(path.read_text())
    except (OSError, ValueError) as error:
        raise BadSource(f"the key ring {path} cannot be read: {error}") from error


@contextmanager
def _checked(source: Path, folder: Path) -> Iterator[tuple[Path, Mark]]:
    """Yield a sound copy of a database, in one file, and its mark. Raises like `restore`."""
    place = folder / _PART
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    try:
        part = place / DATABASE_NAME
        copy_file(source, part)
        with suppress(FileNotFoundError):
            copy_file(Path(f"{source}-wal"), Path(f"{part}-wal"))
        commits = _make_sound(part, source)
        yield part, Mark("closed", header_number(part), commits)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file. Only the owner may read the copy, which is on disk when this returns."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = target.with_name(target.name + ".new")
    with (
        source.open("rb") as opened,
        os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file,
    ):
        shutil.copyfileobj(opened, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(target)


def _make_sound(part: Path, source: Path) -> int:
    """Apply the log, update the schema, check everything; return how many commits it holds."""
    header_number(part)
    connection = connect(part)
    try:
        has_schema = value_of(connection, _HAS_MIGRATIONS)
        if not has_schema or _FIRST_MIGRATION not in migrations_of(connection):
            raise BadSource(f"{source} is not a database of this service")
        migrate(connection)
        check_copy(part, connection)
        mark_as_copy(connection)
        commits = commits_in(connection)
        connection.execute("pragma journal_mode=delete")  # keep all in one file, without a log
    except FAULTS as error:
        raise StoreOutage(f"{source} is not sound: {error}") from error
    finally:
        connection.close()
    return commits


def _set_aside(folder: Path, key_file: Path | None, at: int) -> Path | None:
    """Move the folder's files, and a replaced ring, into a new folder; return that folder."""
    paths = [folder / name for name in _FILES]
    found = [path for path in (*paths, *([key_file] if key_file else [])) if path.exists()]
    if not found:
        return None
    aside = folder / f"replaced-{at}"
    number = 1
    while aside.exists():
        number += 1
        aside = folder / f"replaced-{at}-{number}"
    aside.mkdir(mode=0o700)
    for path in found:
        if path.parent == folder:
            path.rename(aside / path.name)
        else:
            copy_file(path, aside / KEY_FILE_NAME)
    sync_folder(folder)
    return aside
