"""No committed text names a registry or a private path, and no line is too wide."""

import re
from pathlib import Path

from tests.conventions.tree import texts

# Written in pieces, because otherwise this file would break the rule that it checks.
_REGISTRIES = re.compile(
    "|".join(
        rf"\b{re.escape(host)}\b"
        for host in (
            "pypi" + ".org",
            "python" + "hosted.org",
            "npm" + "js.org",
            "npm" + "js.com",
            "yarn" + "pkg.com",
            "ana" + "conda.org",
            "crates" + ".io",
            "docker" + ".io",
            "ghcr" + ".io",
            "quay" + ".io",
            "deb.debian" + ".org",
        )
    ),
    re.IGNORECASE,
)
_PRIVATE_PATHS = re.compile(r"(?<![\w./-])/(?:work|root)(?![\w-])")


def _lines_with(pattern: re.Pattern[str]) -> list[str]:
    """Return `file:line: text` for every committed line that the pattern matches."""
    return [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_names_a_package_registry() -> None:
    assert _lines_with(_REGISTRIES) == []


def test_no_file_names_a_path_of_one_machine() -> None:
    assert _lines_with(_PRIVATE_PATHS) == []


LINE_MAX = 100  # columns

NOT_YET_NARROW = ("src/pgs/storage/migrations/", "src/pgs/storage/queries/")


def _wide_lines(path: Path, text: str) -> list[str]:
    """Return `file:line` for each line that is too wide, except those that cannot be wrapped."""
    found, in_fence = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix == ".md":
            in_fence ^= line.lstrip().startswith("```")
            if in_fence or line.startswith(("|", "![")) or "://" in line:
                continue
        if len(line) > LINE_MAX:
            found.append(f"{path}:{number}")
    return found


def test_no_line_of_a_document_a_script_a_query_or_the_frame_is_too_wide() -> None:
    """Ruff checks the width of Python's lines. Some shell scripts have no suffix."""
    wide = [
        place
        for path, text in texts()
        if path.suffix in {".md", ".sql", ".ts", ".sh"} or text.startswith("#!/usr/bin/env bash")
        for place in _wide_lines(path, text)
        if not place.startswith(NOT_YET_NARROW)
    ]
    assert wide == []
