"""What no committed file may hold."""

import re

from tests.conventions.tree import texts

# In pieces, or this file would be the first to break its rule.
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
    """`file:line: text` of every committed line that the pattern matches."""
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
