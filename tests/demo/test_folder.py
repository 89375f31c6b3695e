"""The demo's data folder is emptied for each run, and is refused if it holds other files."""

import json
import stat
from pathlib import Path

import pytest

from pgs.demo.folder import (
    DEMO_FILE,
    LOG_FILE,
    MARK,
    DemoFile,
    FolderRefused,
    claim,
    open_log,
    write_demo_file,
)
from pgs.storage.data_folder import DataLock


def test_an_absent_folder_is_created_for_its_owner_only(tmp_path: Path) -> None:
    claim(tmp_path / "a" / "demo-data")
    assert stat.S_IMODE((tmp_path / "a" / "demo-data").stat().st_mode) == 0o700


def test_an_earlier_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    claim(tmp_path)
    (tmp_path / "pgs.db").write_text("old")
    claim(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} <= {MARK, "lock"}


def test_a_folder_that_no_demo_made_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(FolderRefused, match="not empty"):
        claim(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_demo_folder_with_a_folder_in_it_is_refused_untouched(
    tmp_path: Path,
) -> None:
    claim(tmp_path)
    (tmp_path / "pgs.db").write_text("old")
    (tmp_path / "thesis").mkdir()
    with pytest.raises(FolderRefused, match="thesis"):
        claim(tmp_path)
    assert (tmp_path / "pgs.db").exists()


def test_the_folder_of_a_running_demo_is_refused(tmp_path: Path) -> None:
    claim(tmp_path)
    lock = DataLock(tmp_path)
    try:
        with pytest.raises(FolderRefused, match="running"):
            claim(tmp_path)
    finally:
        lock.release()


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "demo-data").write_text("")
    with pytest.raises(FolderRefused, match="cannot be used"):
        claim(tmp_path / "demo-data")


def test_only_the_owner_can_read_the_log_and_it_is_appended_to(tmp_path: Path) -> None:
    for line in (b"one\n", b"two\n"):
        with open_log(tmp_path) as log:
            log.write(line)
    assert stat.S_IMODE((tmp_path / LOG_FILE).stat().st_mode) == 0o600
    assert (tmp_path / LOG_FILE).read_text() == "one\ntwo\n"


def test_only_the_owner_can_read_the_demo_file(tmp_path: Path) -> None:
    write_demo_file(
        tmp_path,
        DemoFile(
            "http://a", "http://b", "demo", "t", "l", "http://i", "a", "s", "https://c", "http://s"
        ),
    )
    written = tmp_path / DEMO_FILE
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    expected = {"baseUrl": "http://a", "internalUrl": "http://b", "partnerId": "demo"}
    expected |= {"testKey": "t", "liveKey": "l", "webhookUrl": "https://c"}
    expected |= {"issuer": "http://i", "adminToken": "a", "totpSecret": "s", "siteUrl": "http://s"}
    assert json.loads(written.read_text()) == expected
