"""The first rake terms: a file of the package, on offer until other terms are published."""

import sqlite3
from pathlib import Path
from typing import Final

from pgs.storage.queries import QUERIES

FIRST_TERMS: Final = Path(__file__).parents[1] / "terms" / "1.md"


def ship(connection: sqlite3.Connection) -> None:
    """Insert version 1 if there are no terms yet. Raises what SQLite raises."""
    QUERIES["terms.ship_terms"](connection, text=FIRST_TERMS.read_text(encoding="utf-8"))
