"""The first rake terms: a file of the package, on offer until other terms are published."""

from pathlib import Path
from typing import Final

FIRST_TERMS: Final = Path(__file__).parent / "terms" / "1.md"


def first_terms() -> str:
    """Return the text of version 1 of the terms."""
    return FIRST_TERMS.read_text(encoding="utf-8")
