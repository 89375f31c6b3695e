"""What is installed is what is in the tree."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.house.tree import ROOT, SOURCE, files


def test_the_wheel_ships_every_file_of_the_package(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
    assert {str(path.relative_to(SOURCE.parent)) for path in files(SOURCE)} - shipped == set()
