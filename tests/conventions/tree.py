"""Lists the files that these tests check."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "pgs"

# The committed folders. They are walked without git, so an unpacked archive can be checked too.
_FOLDERS = (".ci", "clients", "deploy", "docs", "examples", "scripts", "src", "tests", "web")
_MADE = {"__pycache__", "node_modules", "dist", "build"}


def files(folder: Path, suffix: str = "") -> Iterator[Path]:
    """Yield the files under `folder` whose names end in `suffix`, in order.

    Files that tools and builds make are left out.
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


@cache
def module_of(path: Path) -> ast.Module:
    """Return the syntax tree of a module, parsed once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


def texts() -> Iterator[tuple[Path, str]]:
    """Yield each committed text file, relative to the checkout, with its text."""
    # In a git worktree, .git is a file that names a path of this machine.
    at_the_top = [path for path in sorted(ROOT.iterdir()) if path.is_file() and path.name != ".git"]
    for path in [*at_the_top, *(path for folder in _FOLDERS for path in files(ROOT / folder))]:
        try:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
