"""Every SQL statement of the product by its name, `<noun>.<query>`: the noun is a file under `queries/`, the query a block in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiosql

FOLDER = Path(__file__).parent / "queries"


def load(folder: Path = FOLDER) -> dict[str, Callable[..., Any]]:
    """Return the queries of a folder by name. Each is called with a connection and named parameters."""
    # A file at a time: two files loaded as one folder would overwrite each other's queries of the same name (aiosql 15).
    named: dict[str, Callable[..., Any]] = {}
    for path in sorted(folder.glob("*.sql")):
        queries = aiosql.from_path(path, "sqlite3", mandatory_parameters=False)
        for name in queries.available_queries:
            if not name.endswith("_cursor"):
                named[f"{path.stem}.{name}"] = getattr(queries, name)
    return named


QUERIES = load()
