"""From a path to the endpoints on it."""

from collections.abc import Iterable, Mapping
from urllib.parse import unquote_to_bytes

from pgs.http.endpoint import Endpoint

Methods = Mapping[str, Endpoint]


class Routes:
    """The endpoint table, indexed. Paths are matched before they are decoded, so that an encoded slash separates nothing."""

    def __init__(self, table: Iterable[Endpoint]) -> None:
        self._fixed: dict[bytes, dict[str, Endpoint]] = {}
        self._open: dict[int, list[tuple[tuple[str, ...], dict[str, Endpoint]]]] = {}
        for endpoint in table:
            self._methods(endpoint.path)[endpoint.method] = endpoint

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
        """Return the endpoints on a path, by method, and what its names stand for (never nothing); None where there is no such path."""
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
                if expected.startswith("{") and word:
                    names[expected[1:-1]] = word
                elif expected != word:
                    break
            else:
                return methods, names
        return None
