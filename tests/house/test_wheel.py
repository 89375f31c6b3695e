"""What is built and installed is what is in the tree."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.house.tree import ROOT, SOURCE, files


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of this checkout."""
    folder = tmp_path_factory.mktemp("built")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_ships_every_file_of_the_package(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
    assert {str(path.relative_to(SOURCE.parent)) for path in files(SOURCE)} - shipped == set()


def test_the_sdist_holds_the_package_and_not_the_sources_of_the_frame(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {str(path.relative_to(ROOT)) for path in files(SOURCE)} - names == set()
    made_by_hatchling = {"PKG-INFO", "pyproject.toml", ".gitignore"}
    others = {name for name in names if not name.startswith("src/pgs/")}
    assert others - made_by_hatchling == {"LICENSE", "README.md", "CHANGELOG.md"}
