"""What `db.backup` and `keyring.*` refuse, and that a failure of theirs changes nothing."""

import os
from pathlib import Path

import pytest

from pgs.app import open_core
from pgs.clock import SystemRng
from pgs.config import Config
from pgs.domain.keyring import MAX_KEYS
from pgs.keyfile import BadKeyFile, KeyFile
from pgs.operator.command import NoArgs
from pgs.operator.commands.db import DB_BACKUP, BackupFolder, back_up_the_database
from pgs.operator.commands.keyring import KEYRING_ROTATE
from pgs.operator.messages import Failed
from pgs.storage.transactions import StoreOutage
from tests.operator.support import Operator, prepare


@pytest.fixture
async def operator(tmp_path: Path) -> Operator:
    """An operator of a data folder on which no service runs."""
    await prepare(tmp_path / "data")
    return Operator(tmp_path / "data")


async def test_a_backup_into_a_folder_with_files_is_refused(
    operator: Operator, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "something").write_text("else")
    assert "not empty" in (await operator.refused(DB_BACKUP, BackupFolder(str(taken)))).error
    assert [path.name for path in taken.iterdir()] == ["something"]


async def test_a_backup_that_cannot_be_written_is_refused(
    operator: Operator, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert (
        "cannot be written"
        in (await operator.refused(DB_BACKUP, BackupFolder(str(tmp_path / "file" / "below")))).error
    )


async def test_a_backup_into_a_relative_path_is_refused(operator: Operator) -> None:
    assert "absolute" in (await operator.refused(DB_BACKUP, BackupFolder("backup"))).error


async def test_a_backup_into_the_data_folder_is_refused(operator: Operator) -> None:
    folder = operator.config.data_dir / "backup"
    assert "data folder" in (await operator.refused(DB_BACKUP, BackupFolder(str(folder)))).error
    assert not folder.exists()


async def test_a_backup_includes_a_key_ring_from_outside_the_data_folder(tmp_path: Path) -> None:
    operator, ring = Operator(tmp_path / "data"), tmp_path / "vault" / "ring"
    ring.parent.mkdir()
    operator.config = Config(data_dir=tmp_path / "data", secret_key_file=ring)
    async with open_core(operator.config):
        pass
    await operator.done(KEYRING_ROTATE, NoArgs())
    await operator.done(DB_BACKUP, BackupFolder(str(tmp_path / "backup")))
    assert (tmp_path / "backup" / "keys").read_bytes() == ring.read_bytes()
    async with open_core(Config(data_dir=tmp_path / "backup")) as core:
        assert len(core.parts.ring.keys) == 2


async def test_backups_are_counted_by_how_they_end(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    async with open_core(operator.config, on_event=counted.append) as core:
        await back_up_the_database(core, BackupFolder("relative"))
        await back_up_the_database(core, BackupFolder(str(operator.config.data_dir / "inside")))
        assert counted == []
        await back_up_the_database(core, BackupFolder(str(tmp_path / "good")))
        assert counted == ["backup_made"]

        def full(self: KeyFile, path: Path) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(KeyFile, "copy_to", full)
        with pytest.raises(StoreOutage, match="No space left"):
            await back_up_the_database(core, BackupFolder(str(tmp_path / "bad")))
        assert counted == ["backup_made", "backup_failed"]


async def test_a_backup_whose_key_ring_cannot_be_written_fails_and_leaves_nothing(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: KeyFile, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(KeyFile, "copy_to", full)
    answer = await operator.ask(DB_BACKUP, BackupFolder(str(tmp_path / "backup")))
    assert isinstance(answer, Failed)
    assert "No space left" in answer.error
    assert not (tmp_path / "backup" / "pgs.db").exists()


def test_a_rotation_keeps_every_key_and_the_file_private(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys", SystemRng())
    first = keys.ring
    assert keys.rotate().keys[1:] == first.keys
    assert KeyFile(tmp_path / "keys", SystemRng()).ring == keys.ring
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o600


def test_a_full_ring_refuses_another_key_and_does_not_change(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys", SystemRng())
    while len(keys.ring.keys) < MAX_KEYS:
        keys.rotate()
    full = keys.ring
    with pytest.raises(BadKeyFile):
        keys.rotate()
    assert keys.ring == full == KeyFile(tmp_path / "keys", SystemRng()).ring


def test_a_key_is_accepted_before_it_is_used_and_other_machines_read_the_copied_file(
    tmp_path: Path,
) -> None:
    one = KeyFile(tmp_path / "one", SystemRng())
    one.copy_to(tmp_path / "two")
    two = KeyFile(tmp_path / "two", SystemRng())
    old, new = one.add().keys
    assert (one.ring.current, two.ring.find(new.kid)) == (old, None)
    with pytest.raises(BadKeyFile, match=f"there is no key {new.kid}"):
        two.use(new.kid)
    one.copy_to(two.path)
    assert two.reload() == one.ring
    assert one.use(new.kid).current == new
    assert two.use(new.kid) == one.ring == KeyFile(two.path, SystemRng()).ring


def test_a_ring_that_is_read_anew_goes_on_with_the_key_in_use(tmp_path: Path) -> None:
    """Another machine may already use the new key, and a third one may not have it yet."""
    one = KeyFile(tmp_path / "one", SystemRng())
    one.copy_to(tmp_path / "two")
    two = KeyFile(tmp_path / "two", SystemRng())
    new, old = one.rotate().keys
    one.copy_to(two.path)
    assert two.reload().keys == (old, new)
    assert KeyFile(two.path, SystemRng()).ring.current == old  # as after a restart
    assert two.use(new.kid) == one.ring


def test_a_ring_whose_order_cannot_be_written_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = KeyFile(tmp_path / "one", SystemRng())
    one.copy_to(tmp_path / "two")
    two = KeyFile(tmp_path / "two", SystemRng())
    ring = two.ring
    one.rotate()
    one.copy_to(two.path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pgs.keyfile.os.fsync", full)
    with pytest.raises(BadKeyFile, match="No space left"):
        two.reload()
    assert two.ring == ring


def test_a_ring_that_lacks_a_key_in_use_is_not_taken(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys", SystemRng())
    ring = keys.ring
    keys.path.unlink()
    with pytest.raises(BadKeyFile, match="is missing"):
        keys.reload()
    KeyFile(tmp_path / "other", SystemRng()).copy_to(keys.path)
    with pytest.raises(BadKeyFile, match=f"lacks keys that are in use: {ring.current.kid}"):
        keys.reload()
    assert keys.ring == ring


def test_a_copied_file_that_was_not_read_is_not_overwritten(tmp_path: Path) -> None:
    one, two = (KeyFile(tmp_path / "one", SystemRng()) for _ in range(2))
    added = one.add()
    for change in (two.add, two.rotate, lambda: two.use(two.ring.current.kid)):
        with pytest.raises(BadKeyFile, match="pgs keyring reload"):
            change()
    assert two.reload() == added == KeyFile(one.path, SystemRng()).ring


def test_a_rotation_that_cannot_be_written_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = KeyFile(tmp_path / "keys", SystemRng())
    ring = keys.ring

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pgs.keyfile.os.fsync", full)
    with pytest.raises(BadKeyFile, match="No space left"):
        keys.rotate()
    assert keys.ring == ring == KeyFile(tmp_path / "keys", SystemRng()).ring
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]


def test_two_nodes_write_the_file_that_they_share_at_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = KeyFile(tmp_path / "keys", SystemRng())
    new = one.add().keys[1]
    two = KeyFile(one.path, SystemRng())
    flush = os.fsync
    waiting = [lambda: two.use(new.kid)]

    def while_the_other_writes(number: int) -> None:
        if waiting:
            waiting.pop()()
        flush(number)

    monkeypatch.setattr("pgs.keyfile.os.fsync", while_the_other_writes)
    assert one.use(new.kid) == two.ring == KeyFile(one.path, SystemRng()).ring
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]


def test_a_damaged_ring_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("nonsense")
    with pytest.raises(BadKeyFile):
        KeyFile(tmp_path / "keys", SystemRng())
    assert (tmp_path / "keys").read_text() == "nonsense"
