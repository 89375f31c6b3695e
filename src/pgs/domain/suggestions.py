"""Guesses which known name a misspelt name was meant to be."""

import difflib
import re
from collections.abc import Iterable
from typing import Final

LIKENESS_CHARS: Final = 64
"""Characters of the longest name for which a similar known name is looked for. No name of the
interface is longer, and the time of a comparison grows with the product of both lengths."""

LIKENESS_NAMES: Final = 64
"""Names with which one name is compared at most; further ones are left out. A missing field's name
is compared with the names in the request, so a request with very many names would take long without
this bound. No call takes as many fields as this, so proper requests lose nothing. An installation
with more tiers or games gets no guesses from those left out."""

_LEAST_RATIO = 0.75
"""Points, from 0 to 1, for the similarity of two names, as difflib computes it. Two names with at
least this number count as alike: `game` and `gameId` do, `tier` and `type` do not."""


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` was most likely meant to be, or None.

    A name that differs only in case, hyphens, underscores and spaces is preferred.
    """
    if not name or len(name) > LIKENESS_CHARS:
        return None
    by_letters = {letters(other): other for other in list(known)[:LIKENESS_NAMES]}
    found = difflib.get_close_matches(letters(name), by_letters, 1, _LEAST_RATIO)
    return by_letters[found[0]] if found else None


def letters(name: str) -> str:
    """Return a name without case, hyphens, underscores and spaces."""
    return re.sub(r"[-_\s]", "", name).lower()
