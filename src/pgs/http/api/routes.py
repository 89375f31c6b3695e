"""Finds the endpoints of a path."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from urllib.parse import unquote_to_bytes

from pgs.domain.environments import is_environment
from pgs.http.api.endpoint import Endpoint

Methods = Mapping[str, Endpoint]


class Routes:
    """The endpoint table, indexed by path.

    Paths are split before they are decoded, so that an encoded slash does not separate two
    segments.
    """

    def __init__(self, table: Iterable[Endpoint]) -> None:
        self._fixed: dict[bytes, dict[str, Endpoint]] = {}
        self._open: dict[int, list[tuple[tuple[str, ...], dict[str, Endpoint]]]] = {}
        for endpoint in table:
            self._methods(endpoint.path)[endpoint.method] = endpoint

    @property
    def fixed_paths(self) -> Collection[bytes]:
        """The paths without variable parts."""
        return self._fixed.keys()

    def _methods(self, path: str) -> dict[str, Endpoint]:
        if "{" not in path:
            return self._fixed.setdefault(path.encode(), {})
        words = tuple(path.split("/"))
        same_length = self._open.setdefault(len(words), [])
        for known, methods in same_length:
            if known == words:
                return methods
        same_length.append((words, {}))
        return same_length[-1][1]

    def find(self, raw_path: bytes) -> tuple[Methods, dict[str, str]] | None:
        """Return a path's endpoints by method, and the values of its variable parts.

        No value is empty. Return None if there is no such path. `{env}` only matches `live` and
        `test`.
        """
        fixed = self._fixed.get(raw_path)
        if fixed is not None:
            return fixed, {}
        try:
            words = [unquote_to_bytes(word).decode() for word in raw_path.split(b"/")]
        except UnicodeDecodeError:
            return None
        for pattern, methods in self._open.get(len(words), ()):
            names = {}
            for expected, word in zip(pattern, words, strict=True):
                if expected == "{env}" and not is_environment(word):
                    break
                if expected.startswith("{") and word:
                    names[expected[1:-1]] = word
                elif expected != word:
                    break
            else:
                return methods, names
        return None


def body_limits(
    table: Iterable[Endpoint], default: int, others: Mapping[str, int] | None = None
) -> Callable[[str], int]:
    """Return a function that takes a path and returns how many bytes a body sent to it may have.

    That is the greatest `body_bytes` of the path's endpoints, or `default` if they have none.
    `others` are limits of paths that are not in the table.
    """
    greatest: dict[str, int] = dict(others or {})
    for endpoint in table:
        if endpoint.body_bytes is not None:
            greatest[endpoint.path] = max(endpoint.body_bytes, greatest.get(endpoint.path, 0))
    fixed = {path: limit for path, limit in greatest.items() if "{" not in path}
    patterns = [
        (re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), limit)
        for path, limit in greatest.items()
        if "{" in path
    ]
    if not patterns:
        return lambda path: fixed.get(path, default)

    def limit_of(path: str) -> int:
        if path in fixed:
            return fixed[path]
        return next((limit for pattern, limit in patterns if pattern.fullmatch(path)), default)

    return limit_of
