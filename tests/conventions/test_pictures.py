"""The pictures of the architecture page agree with the code."""

import subprocess
import sys

from tests.conventions.tree import ROOT, SOURCE


def test_the_pictures_of_the_architecture_page_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "draw_architecture.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_package_of_actors_is_in_the_picture() -> None:
    picture = (ROOT / "docs" / "architecture" / "actors.svg").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (SOURCE / "actors").glob("*/__init__.py")]
    assert [name for name in packages if f">{name}</text>" not in picture] == []
