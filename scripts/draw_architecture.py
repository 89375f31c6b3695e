#!/usr/bin/env python3
"""Draws the pictures of docs/architecture.md from the code and from the steps listed here.

scripts/draw_architecture.py            writes docs/architecture/*.svg
scripts/draw_architecture.py --check    changes nothing; exit code 1 if a picture is out of date
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import sys
from pathlib import Path
from typing import Annotated

import typer
from drawings.names import ACTORS, PACKAGES
from drawings.packages import draw_packages, package_graph
from drawings.sequences import draw_sequence
from drawings.steps import LAUNCH, MOVE, NUDGE

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "pgs"
FOLDER = ROOT / "docs" / "architecture"


def pictures() -> dict[str, str]:
    """Return the text of every picture by its file name."""
    packages = package_graph(SOURCE, "pgs", PACKAGES)
    actors = package_graph(SOURCE / "actors", "pgs.actors", ACTORS)
    return {
        "packages.svg": draw_packages(packages, PACKAGES, "Packages and their imports").render(),
        "actors.svg": draw_packages(actors, ACTORS, "Inside actors").render(),
        "launch.svg": draw_sequence(*LAUNCH).render(),
        "move.svg": draw_sequence(*MOVE).render(),
        "nudge.svg": draw_sequence(*NUDGE).render(),
    }


def main(
    check: Annotated[bool, typer.Option("--check", help="Only say what is out of date.")] = False,
) -> None:
    """Write the pictures, or say which of them are out of date."""
    stale = [
        name
        for name, text in pictures().items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    if check:
        if stale:
            print(f"out of date: {', '.join(stale)}. Run scripts/draw_architecture.py")
            sys.exit(1)
        return
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"wrote {len(stale)} new pictures to {FOLDER.relative_to(ROOT)}")


if __name__ == "__main__":
    typer.run(main)
