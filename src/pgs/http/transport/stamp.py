"""Which headers every response carries, and under which paths."""

from typing import Final

from pgs.http.transport.asgi import Headers

REQUEST_ID: Final = b"x-request-id"
API_VERSION: Final = b"x-service-api-version"


def is_under(path: str, root: str) -> bool:
    """Return whether `path` is `root` or lies below it; `/partners` does not lie below `/partner`."""
    return path == root or path.startswith(root + "/")


def stamp(headers: Headers, *, path: str, request_id: str, current_version: int) -> Headers:
    """Return a response's headers with those that the edge owes it.

    The request id is always ours. The API version is the application's, else the current one, under `/partner` and `/embed`, and on no
    other path even if the application set it. Below `/partner` nothing is stored by caches unless the application said otherwise.
    """
    partner = is_under(path, "/partner")
    versioned = partner or is_under(path, "/embed")
    kept: Headers = []
    seen = set()
    for name, value in headers:
        lowered = bytes(name).lower()
        if lowered == REQUEST_ID or (lowered == API_VERSION and not versioned):
            continue
        seen.add(lowered)
        kept.append((lowered, value))
    kept.append((REQUEST_ID, request_id.encode("ascii")))
    if versioned and API_VERSION not in seen:
        kept.append((API_VERSION, b"%d" % current_version))
    if b"x-content-type-options" not in seen:
        kept.append((b"x-content-type-options", b"nosniff"))
    if partner and b"cache-control" not in seen:
        kept.append((b"cache-control", b"no-store"))
    return kept
