"""The files that these tests check."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "pgs"

# The committed folders. Walking them needs no git, so that an unpacked archive is checked as well.
_ROOMS = (".ci", "docs", "examples", "scripts", "src", "tests", "web")
_MADE = {"__pycache__", "node_modules", "dist", "build"}


def files(folder: Path, suffix: str = "") -> Iterator[Path]:
    """Every file under `folder` whose name ends in `suffix`, in order.

    What tools and builds have made is left out.
    """
    for path in sorted(folder.rglob(f"*{suffix}")):
        inner = path.relative_to(folder).parts
        if (
            path.is_file()
            and not _MADE.intersection(inner)
            and not any(
                part.endswith((".pyc", ".egg-info")) or part.startswith(".") for part in inner
            )
        ):
            yield path


def texts() -> Iterator[tuple[Path, str]]:
    """Every committed text file, relative to the checkout, with its text."""
    # In a git worktree, .git is a file that names a path of this machine.
    at_the_top = [path for path in sorted(ROOT.iterdir()) if path.is_file() and path.name != ".git"]
    for path in [*at_the_top, *(path for room in _ROOMS for path in files(ROOT / room))]:
        try:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
