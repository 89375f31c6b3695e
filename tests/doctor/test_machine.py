"""What `pgs doctor` says of the machine and of the files that the service keeps."""

import os
import resource
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from pgs.clock import SystemRng
from pgs.config import Config
from pgs.doctor import data, machine
from pgs.http.embed import assets
from pgs.keyfile import KeyFile
from pgs.storage.database_mark import Mark, write_mark
from pgs.storage.sqlite.database import SqliteDatabase
from tests.postgres import Server

Usage = namedtuple("Usage", "total used free")


def _config(folder: Path, **fields: object) -> Config:
    return Config(data_dir=folder, **fields)  # type: ignore[arg-type]  # what a test gives


def test_a_folder_that_the_first_start_can_make_is_fine(tmp_path: Path) -> None:
    finding = machine.data_folder(_config(tmp_path / "a" / "b"))
    assert (finding.status, finding.next_step) == ("ok", "")
    assert "the first start makes it" in finding.found
    assert not (tmp_path / "a").exists()


def test_a_folder_that_nobody_here_can_make_or_use_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may do everything
    assert machine.data_folder(_config(tmp_path / "new")).status == "problem"
    used = machine.data_folder(_config(tmp_path))
    assert used.status == "problem"
    assert "chown" in used.next_step


def test_a_file_in_place_of_the_data_folder_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    finding = machine.data_folder(_config(tmp_path / "data"))
    assert (finding.status, "is no folder" in finding.found) == ("problem", True)


def test_files_that_others_may_open_are_named_with_the_command_that_closes_them(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o700)
    keys = tmp_path / "keys"
    KeyFile(keys, SystemRng())
    assert machine.file_modes(_config(tmp_path)).status == "ok"
    keys.chmod(0o640)
    finding = machine.file_modes(_config(tmp_path))
    assert finding.status == "warning"
    assert finding.next_step == f"chmod go= {keys}"


@pytest.mark.parametrize(
    ("free", "status"),
    [
        (machine.FREE_MIN - 1, "problem"),
        (machine.FREE_MIN, "warning"),
        (machine.FREE_LOW - 1, "warning"),
        (machine.FREE_LOW, "ok"),
    ],
)
def test_a_disk_with_little_room_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, status: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(2**40, 2**40 - free, free))
    assert machine.free_space(_config(tmp_path / "new")).status == status


def test_sqlite_on_a_network_disk_is_a_problem_and_postgresql_is_not(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/data {tmp_path} nfs4 rw 0 0\n")
    folder = tmp_path / "data"
    finding = machine.disk_kind(_config(folder), mounts)
    assert finding.status == "problem"
    assert "PGS_DATABASE_URL" in finding.next_step
    elsewhere = _config(folder, database_url="postgresql://db.example/pgs")
    assert machine.disk_kind(elsewhere, mounts).status == "skipped"
    mounts.write_text("/dev/vda / ext4 rw 0 0\n")
    assert machine.disk_kind(_config(folder), mounts).found == "ext4 at /"
    assert machine.disk_kind(_config(folder), tmp_path / "none").status == "skipped"


def test_a_limit_of_open_files_that_leaves_few_connections_is_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda what: (1024, 1024))
    finding = machine.open_files()
    assert finding.status == "warning"
    assert "room for only 512 connections" in finding.found
    monkeypatch.setattr(resource, "getrlimit", lambda what: (1024, resource.RLIM_INFINITY))
    assert machine.open_files().status == "ok"


@pytest.mark.parametrize(("state", "status"), [(0, "ok"), (5, "warning"), (-1, "skipped")])
def test_a_clock_that_nothing_keeps_right_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, state: int, status: str
) -> None:
    class Library:
        def __init__(self, name: None) -> None:
            pass

        def adjtimex(self, buffer: object) -> int:
            return state

    monkeypatch.setattr("ctypes.CDLL", Library)
    assert machine.clock_kept().status == status


def test_a_key_ring_is_counted_and_a_damaged_one_is_a_problem(tmp_path: Path) -> None:
    config = _config(tmp_path)
    assert data.key_ring(config).status == "ok"  # a new database comes with one
    KeyFile(config.key_file, SystemRng()).rotate()
    assert data.key_ring(config).found.endswith("has 2 keys")
    config.key_file.write_text("nothing of ours")
    assert (data.key_ring(config).status, data.key_ring(config).found.count("damaged")) == (
        "problem",
        1,
    )
    config.key_file.unlink()
    config.key_file.mkdir()
    assert "cannot be read" in data.key_ring(config).found


def test_a_database_is_looked_at_and_left_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    config = _config(folder)
    assert data.database(config).found.endswith("is new: the first start makes it")
    assert not folder.exists()
    KeyFile(config.key_file, SystemRng())
    write_mark(folder, Mark("making"))
    SqliteDatabase(folder, inline=True).close()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert data.database(config).found.endswith("belongs to this folder")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_database_that_a_start_would_refuse_is_a_problem_with_the_same_words(
    tmp_path: Path,
) -> None:
    config = _config(tmp_path)
    KeyFile(config.key_file, SystemRng())  # a key ring without its database
    finding = data.database(config)
    assert finding.status == "problem"
    assert f"{tmp_path / 'pgs.db'} is missing" in finding.found


def test_a_package_without_its_frame_is_a_problem_unless_the_frame_comes_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "packaged_assets", lambda: assets.read_assets(tmp_path))
    finding = data.pages(_config(tmp_path))
    assert finding.status == "problem"
    assert "scripts/web" in finding.next_step
    elsewhere = _config(tmp_path, frame_url="https://frame.example/")
    assert data.pages(elsewhere).status == "ok"


@pytest.mark.postgres
def test_a_postgresql_tells_its_version_and_whether_it_is_in_use(
    tmp_path: Path, postgres: Server
) -> None:
    config = _config(tmp_path, database_url=postgres.new_database())
    finding = data.database(config)
    assert finding.status == "ok"
    assert "PostgreSQL" in finding.found
    assert finding.found.endswith("its database is new")


def test_a_postgresql_that_does_not_answer_is_a_problem(tmp_path: Path) -> None:
    config = _config(tmp_path, database_url=f"postgresql:///pgs?host={tmp_path}")
    finding = data.database(config)
    assert finding.status == "problem"
    assert "cannot be reached" in finding.found
