"""One process uses one SQLite library: two drop each other's locks on a file."""

import re
from pathlib import Path

from tests.conventions.tree import ROOT

OF_ITS_OWN = {Path("scripts/bench_cases/fastapi_peer.py")}  # what users would write instead
IMPORT = re.compile(r"^\s*(import|from) sqlite3\b", re.MULTILINE)


def test_nothing_that_opens_the_services_database_imports_sqlite3() -> None:
    found = {
        path.relative_to(ROOT)
        for folder in ("src", "tests", "scripts")
        for path in (ROOT / folder).rglob("*.py")
        if "node_modules" not in path.parts and IMPORT.search(path.read_text(encoding="utf-8"))
    }
    assert found == OF_ITS_OWN
