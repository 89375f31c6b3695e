"""Guesses which path a request for an unknown path was meant for."""

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Final

from pgs.http.api.routes import Routes
from pgs.http.endpoint_table import ENDPOINTS

_ROUTES: Final = Routes(ENDPOINTS)
_CHANGES: Final[tuple[Callable[[str], str], ...]] = (
    lambda path: path.rstrip("/"),
    str.lower,
    lambda path: re.sub(r"/{2,}", "/", path),
    lambda path: re.sub(r"^/(?:api/)?(?:v[0-9]+/)?", "/", path),
    lambda path: re.sub(r"^/partner/v[0-9]+/", "/partner/", path),
    lambda path: path if path.startswith(("/partner", "/game/")) else f"/partner{path}",
    lambda path: path.replace("_", "-"),
    lambda path: re.sub(r"^(/partner/(?:session|seat|tier|result|invoice))(?=/|$)", r"\1s", path),
    lambda path: re.sub(r"^/partner/match(?=/|$)", "/partner/matches", path),
)
"""Corrections of the most common mistakes, in the order in which they are applied."""

_ALIKE: Final = 0.8
"""Points, from 0 to 1, for the similarity of two addresses, as difflib computes it. An unknown
address below `/docs/` counts as a misspelling of a page's address if the similarity of the two is
at least this high."""

_ALIKE_CHARS: Final = 64
"""Characters of the longest address that is compared with the pages: a comparison costs time."""


def guess_path(path: str, others: frozenset[str] = frozenset()) -> str | None:
    """Return the declared path that was most likely meant, or None.

    `others` are paths besides those of the calls. A call's path is returned with its `{names}`, so
    no id of the request appears in the result.
    """
    for changed in (f"{path}/", *_put_right(path)):
        if changed in others:
            return changed
        found = _ROUTES.find(changed.encode())
        if found is not None:
            return next(iter(found[0].values())).path
    if path.startswith("/docs/") and len(path) <= _ALIKE_CHARS:
        return next(iter(get_close_matches(path, sorted(others), 1, _ALIKE)), None)
    return None


def _put_right(path: str) -> Iterator[str]:
    for change in _CHANGES:
        changed = change(path)
        if changed != path:
            path = changed
            yield path
