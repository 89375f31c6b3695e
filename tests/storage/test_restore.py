"""A restore puts a sound copy in place, keeps what was there, and changes nothing when it fails."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from pgs.clock import SystemRng
from pgs.keyfile import KeyFile
from pgs.storage.accounts import insert_partner
from pgs.storage.backup import back_up
from pgs.storage.data_folder import BadSource, DataFolderInUse, DataRefused
from pgs.storage.database_mark import read_mark
from pgs.storage.migrations import SchemaNewer
from pgs.storage.restored_feeds import FEED_GAP
from pgs.storage.seats import Head, find_head, move_head
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.sqlite.restore import accept_loss, restore
from pgs.storage.sqlite_driver import copy_all
from pgs.storage.transactions import StoreOutage, Tx
from tests.beside import open_beside
from tests.making import account
from tests.storage.writing import lock, locked_games, tx_of
from tests.virtual import START, open_store


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A data folder with a head and a key ring, beside a backup of it and a plain copy."""
    folder = tmp_path / "data"
    with open_store(folder) as database:
        keys = KeyFile(folder / "keys", SystemRng())
        stmts = (insert_partner(account()), move_head("acme", "test", Head(), Head(7, 12)))
        await database.writer.submit(Tx("acme", stmts))
        await back_up(database, tmp_path / "backup", keys.copy_to)
        with (
            closing(open_beside(database.path)) as source,
            closing(open_beside(tmp_path / "plain.db")) as copy,
        ):
            copy_all(source, copy)  # what the `.backup` of the sqlite3 shell does
        # A snapshot of the disk has the log beside the database.
        shutil.copytree(folder, tmp_path / "snapshot")
        await database.writer.submit(tx_of(lock("later")))
    return folder


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("copy", ["backup", "plain.db", "snapshot"])
async def test_every_kind_of_copy_is_restored_and_raises_the_feeds(
    folder: Path, tmp_path: Path, copy: str
) -> None:
    told = restore(tmp_path / copy, folder, folder / "keys", START)
    assert told.replaced is not None
    assert (Path(told.replaced) / "pgs.db").is_file()
    with open_store(folder) as database:
        assert await locked_games(database) == set()
        assert database.take_over(0)
        assert (await find_head(database.reader, "acme", "test")).feed_position == 12 + FEED_GAP
    assert restore(tmp_path / copy, folder, folder / "keys", START).replaced != told.replaced


async def test_a_backup_is_restored_into_a_new_folder_with_its_key_ring(
    folder: Path, tmp_path: Path
) -> None:
    new, ring = tmp_path / "new", tmp_path / "vault" / "ring"
    assert restore(tmp_path / "backup", new, ring, START).replaced is None
    assert ring.read_bytes() == (folder / "keys").read_bytes()
    assert ring.stat().st_mode & 0o777 == 0o600
    SqliteDatabase(new, key_file=ring).close()


async def test_a_ring_that_was_rotated_since_the_backup_stays(folder: Path, tmp_path: Path) -> None:
    rotated = KeyFile(folder / "keys", SystemRng()).rotate()
    restore(tmp_path / "backup", folder, folder / "keys", START)
    assert KeyFile(folder / "keys", SystemRng()).ring == rotated


@pytest.mark.parametrize("elsewhere", [True, False])
async def test_a_foreign_ring_is_replaced_and_kept(
    folder: Path, tmp_path: Path, elsewhere: bool
) -> None:
    ring = tmp_path / "vault" / "ring" if elsewhere else folder / "keys"
    ring.unlink(missing_ok=True)
    foreign = KeyFile(ring, SystemRng()).ring
    told = restore(tmp_path / "backup", folder, ring, START)
    assert ring.read_bytes() == (tmp_path / "backup" / "keys").read_bytes()
    assert KeyFile(Path(told.replaced or "") / "keys", SystemRng()).ring == foreign


async def test_a_copy_without_a_ring_needs_the_one_of_its_service(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadSource, match="no key ring at"):
        restore(tmp_path / "plain.db", tmp_path / "new", tmp_path / "nowhere", START)
    (tmp_path / "backup" / "keys").write_text("nonsense")
    with pytest.raises(BadSource, match="cannot be read"):
        restore(tmp_path / "backup", folder, folder / "keys", START)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing", "there is no database"),
        ("data", "is the database of the data folder itself"),
        ("other.db", "is not a database of this service"),
        ("text.db", "not a database"),
        ("damaged.db", "malformed"),
    ],
)
async def test_what_is_no_sound_copy_is_refused_and_changes_nothing(
    folder: Path, tmp_path: Path, name: str, why: str
) -> None:
    (tmp_path / "text.db").write_text("no database " * 100)
    with closing(open_beside(tmp_path / "other.db")) as other:
        other.execute("create table a (x)")
    damaged = bytearray((tmp_path / "plain.db").read_bytes())
    damaged[4096 * 3 : 4096 * 60] = bytes(4096 * 57)
    (tmp_path / "damaged.db").write_bytes(damaged)
    was = (folder / "pgs.db").read_bytes(), _names(folder)
    with pytest.raises((BadSource, StoreOutage), match=why):
        restore(tmp_path / name, folder, folder / "keys", START)
    assert was == ((folder / "pgs.db").read_bytes(), _names(folder))


async def test_a_copy_whose_ledger_was_altered_is_refused(folder: Path, tmp_path: Path) -> None:
    with closing(open_beside(tmp_path / "plain.db")) as copy:
        copy.execute("update head set ledger_seq = 3")
    with pytest.raises(StoreOutage, match="ledger is not sound: acme test: row 1 is missing"):
        restore(tmp_path / "plain.db", folder, folder / "keys", START)


async def test_a_copy_that_a_newer_version_wrote_is_refused(folder: Path, tmp_path: Path) -> None:
    with closing(open_beside(tmp_path / "plain.db")) as copy:
        copy.execute("insert into migration (name) values ('9999_later')")
    with pytest.raises(SchemaNewer):
        restore(tmp_path / "plain.db", folder, folder / "keys", START)


async def test_a_folder_in_use_is_neither_restored_nor_accepted(
    folder: Path, tmp_path: Path
) -> None:
    with open_store(folder):
        with pytest.raises(DataFolderInUse):
            restore(tmp_path / "backup", folder, folder / "keys", START)
        with pytest.raises(DataFolderInUse):
            accept_loss(folder)


async def test_a_restore_that_runs_out_of_disk_changes_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pgs.storage.sqlite.restore.shutil.copyfileobj", full)
    for work in (
        lambda: restore(tmp_path / "backup", folder, folder / "keys", START),
        lambda: accept_loss(folder),
    ):
        with pytest.raises(StoreOutage, match="No space left"):
            work()
    SqliteDatabase(folder).close()


async def test_a_database_whose_loss_is_accepted_starts_and_raises_the_feeds(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copyfile(tmp_path / "plain.db", folder / "pgs.db")
    with pytest.raises(DataRefused, match="older copy"):
        SqliteDatabase(folder)
    assert accept_loss(folder).folder == str(folder)
    with open_store(folder) as database:
        assert database.take_over(0)
        assert (await find_head(database.reader, "acme", "test")).feed_position == 12 + FEED_GAP


async def test_a_loss_without_a_database_cannot_be_accepted(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="no database"):
        accept_loss(tmp_path)


async def test_a_database_that_comes_without_a_mark_counts_as_a_copy(
    folder: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new"
    new.mkdir()
    shutil.copyfile(tmp_path / "plain.db", new / "pgs.db")
    with open_store(new) as database:
        assert database.take_over(0)
    mark = read_mark(new)
    assert mark is not None
    assert mark.state == "closed"
    with open_store(new) as database:
        assert not database.take_over(0)
