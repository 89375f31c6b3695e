"""The lock files name exact versions with hashes, and no address to download from."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.conventions.tree import ROOT

LOCKS = [
    ROOT / "requirements.txt",
    ROOT / "requirements-dev.txt",
    ROOT / "requirements-node.txt",
    ROOT / "requirements-chess.txt",
    ROOT / "requirements-examples.txt",
    ROOT / "requirements-fuzz.txt",
    ROOT / "requirements-bench.txt",
    ROOT / "requirements-postgres.txt",
]


def _requirements(lock: Path) -> list[str]:
    """Return the logical lines of a lock: a requirement, its marker and its hashes on each."""
    return [line for line in lock.read_text().replace("\\\n", " ").splitlines() if line.strip()]


def _pins(lock: Path) -> dict[str, str]:
    """Return the line of each requirement by its normalized name."""
    return {line.partition("==")[0]: line for line in _requirements(lock)}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_locked_requirement_is_one_version_with_hashes(lock: Path) -> None:
    loose = [
        line
        for line in _requirements(lock)
        if not re.fullmatch(
            r"[a-z0-9-]+==[^\s;@]+( ;[^@]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*", line
        )
    ]
    assert not loose


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_address_to_download_from(lock: Path) -> None:
    assert "://" not in lock.read_text()
    assert not re.search(r"^\s*(#|-(?!-hash=))", lock.read_text(), re.MULTILINE), (
        "an option or a comment in a lock"
    )


def test_development_locks_the_same_versions_as_the_service() -> None:
    assert _pins(LOCKS[0]).items() <= _pins(LOCKS[1]).items()


def test_every_declared_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups, extras = project["dependency-groups"], project["project"]["optional-dependencies"]
    every = [project["project"]["dependencies"], groups["dev"], groups["web"], extras["chess"]]
    every += [groups["examples"], groups["fuzz"], groups["bench"], extras["postgres"]]
    for lock, declared in zip(LOCKS, every, strict=True):
        names = {
            re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")
            for requirement in declared
        }
        assert names <= _pins(lock).keys(), "run scripts/lock"


def test_the_service_installs_no_driver_of_postgresql_unless_it_is_asked_for() -> None:
    assert [lock.name for lock in LOCKS if "psycopg" in _pins(lock)] == [
        "requirements-dev.txt",
        "requirements-postgres.txt",
    ]


def test_only_the_chess_lock_holds_the_gpl_package() -> None:
    assert [lock.name for lock in LOCKS if "chess" in _pins(lock)] == ["requirements-chess.txt"]
