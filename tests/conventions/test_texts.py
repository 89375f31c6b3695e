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

_NARROW = {
    *(".md", ".sql", ".ts", ".tsx", ".js", ".mjs", ".css", ".html"),
    *(".sh", ".service", ".timer", ".conf", ".cfg", ".php", ".rb", ".go"),
}

# scripts/web builds these files, and git does not keep them.
_BUILT = "src/pgs/web"

# A suppressed finding, and what follows it: a reason, or nothing but a closing mark.
_SUPPRESSED = re.compile(
    r"(?:#\s*(?:noqa: [A-Z0-9, ]+|type: ignore\[[a-z-, ]+\]|pragma: no cover)"
    r"|eslint-disable\S*(?: [\w/-]+)?|@ts-(?:ignore|expect-error))(?P<reason>.*)"
)


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


def test_no_line_that_a_person_reads_is_too_wide() -> None:
    """Ruff checks the width of Python's lines. Some scripts have no suffix."""
    wide = [
        place
        for path, text in texts()
        if path.suffix in _NARROW or (not path.suffix and text.startswith("#!"))
        if not path.is_relative_to(_BUILT)
        for place in _wide_lines(path, text)
    ]
    assert wide == []


def _unexplained(text: str) -> list[int]:
    """Return the lines that suppress a finding with no reason beside them or in a comment above."""
    lines, found = text.splitlines(), []
    for number, line in enumerate(lines):
        suppressed = _SUPPRESSED.search(line)
        above = lines[number - 1].lstrip() if number else ""
        if (
            suppressed
            and not re.search(r"[a-z]{2}", suppressed["reason"])
            and not above.startswith(("# ", "// ", "* "))
        ):
            found.append(number + 1)
    return found


def test_every_suppressed_finding_has_its_reason() -> None:
    without = [
        f"{path}:{number}"
        for path, text in texts()
        if path.suffix in {".py", ".ts", ".tsx", ".js", ".mjs"}
        and path.name not in {"test_texts.py", "test_write_limits.py"}
        for number in _unexplained(text)
    ]
    assert without == []


def test_the_search_finds_suppressed_findings_without_a_reason() -> None:
    bare = "x = 1  # noqa: S105\n"
    assert _unexplained(bare) == [1]
    assert _unexplained("y = 2\nx = z  # type: ignore[arg-type]\n") == [2]
    assert _unexplained("# It names no secret.\n" + bare) == []
    assert _unexplained("x = 1  # noqa: S105  names no secret\n") == []
