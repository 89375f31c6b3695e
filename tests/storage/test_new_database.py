"""A new database is made completely or not at all, and never in an existing file."""

from pathlib import Path

import pytest

from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.transactions import StoreOutage
from tests.virtual import open_store


def test_an_empty_file_is_not_taken_for_a_new_database(tmp_path: Path) -> None:
    (tmp_path / "pgs.db").touch()
    for _ in range(2):
        with pytest.raises(StoreOutage, match="empty file"):
            SqliteDatabase(tmp_path)
    assert (tmp_path / "pgs.db").stat().st_size == 0
    (tmp_path / "pgs.db").unlink()
    SqliteDatabase(tmp_path).close()


def test_a_start_after_one_that_was_killed_makes_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            SqliteDatabase(tmp_path)
    assert (tmp_path / "pgs.db.new").stat().st_size > 0
    assert not (tmp_path / "pgs.db").exists()
    with open_store(tmp_path):
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "lock",
            "pgs.db",
            "pgs.db-shm",
            "pgs.db-wal",
            "pgs.mark",
        ]
