"""Every SQL statement of the product by its name, `<noun>.<query>`.

`<noun>` names a file under `queries/`, and `<query>` a block in that file.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiosql

from pgs.storage.columns import expand

FOLDER = Path(__file__).parent / "queries"


def load(folder: Path = FOLDER) -> dict[str, Callable[..., Any]]:
    """Return the queries of a folder by name; each takes a connection and named parameters."""
    # One file at a time: when aiosql 15 loads a whole folder, it keeps only one of two queries
    # that have the same name in different files.
    named: dict[str, Callable[..., Any]] = {}
    for path in sorted(folder.glob("*.sql")):
        queries = aiosql.from_str(
            expand(path.read_text(encoding="utf-8")), "sqlite3", mandatory_parameters=False
        )
        for name in queries.available_queries:
            if not name.endswith("_cursor"):
                named[f"{path.stem}.{name}"] = getattr(queries, name)
    return named


QUERIES = load()
