"""A ring that was being written when its process was killed is removed, and nothing else is."""

import fcntl
from pathlib import Path

import pytest

from pgs.clock import SystemRng
from pgs.keyfile import KeyFile

LEFT = "keys.0123456789abcdef.new"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a key ring's file, beside which a killed process has left another one."""
    path = tmp_path / "keys"
    KeyFile(path, SystemRng())
    (tmp_path / LEFT).write_text("pgs-keyring 1\nhalf a")
    return path


def names(path: Path) -> set[str]:
    return {one.name for one in path.parent.iterdir()}


def test_a_start_removes_what_a_killed_process_has_left(path: Path) -> None:
    before = path.read_text()
    KeyFile(path, SystemRng(), make=False)
    assert names(path) == {"keys"}
    assert path.read_text() == before


def test_a_change_of_the_ring_removes_what_a_killed_process_has_left(path: Path) -> None:
    (path.parent / LEFT).unlink()
    keys = KeyFile(path, SystemRng(), make=False)
    (path.parent / LEFT).write_text("")
    keys.add()
    assert names(path) == {"keys"}
    assert KeyFile(path, SystemRng(), make=False).ring == keys.ring


def test_a_ring_that_another_process_is_writing_is_left_alone(path: Path) -> None:
    with (path.parent / LEFT).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        KeyFile(path, SystemRng(), make=False).add()
        assert LEFT in names(path)
    KeyFile(path, SystemRng(), make=False)
    assert LEFT not in names(path)


def test_files_with_other_names_are_left_alone(path: Path) -> None:
    others = {"keys.new", "keys.0123.new", f"x{LEFT}", f"{LEFT}.old", "keys.old", "keysX0123.new"}
    for name in others:
        (path.parent / name).touch()
    KeyFile(path, SystemRng(), make=False).add()
    assert names(path) == {"keys", *others}


def test_a_link_with_the_name_of_a_leftover_leads_to_no_other_file(path: Path) -> None:
    (path.parent / LEFT).unlink()
    (path.parent / LEFT).symlink_to(path)
    KeyFile(path, SystemRng(), make=False)
    assert path.exists()


def test_a_ring_that_was_removed_before_it_was_locked_is_made_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = fcntl.flock
    removed: list[Path] = []

    def remove_first(file: int, how: int) -> None:
        parts = [one for one in path.parent.glob("keys.*.new") if one.name != LEFT]
        if not removed and parts:
            removed.extend(parts)
            parts[0].unlink()
        locked(file, how)

    keys = KeyFile(path, SystemRng(), make=False)
    monkeypatch.setattr(fcntl, "flock", remove_first)
    keys.add()
    assert len(removed) == 1
    assert KeyFile(path, SystemRng(), make=False).ring == keys.ring
