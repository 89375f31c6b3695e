"""Reads plain heads of requests, and no others.

A head is plain if every parser reads it in the same way: a usual method, a path without percent
signs, HTTP/1.1, lines that end with CR LF, visible characters and spaces only, no header twice, one
Host, no header that changes how the connection is used. Everything else is left to h11 and to
`pgs.http.transport.heads`, which refuse or accept it. A plain head passes all their checks, and
they read it in the same way; a test compares the results.
"""

import re
from typing import Final

import msgspec

from pgs.domain.secrets import HidesSecrets
from pgs.http.transport.asgi import Headers
from pgs.http.transport.heads import FORWARDED, HOST, PRIVATE_PREFIX

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")

MAX_PLAIN_BYTES: Final = 8 * 1024
"""Bytes of a plain head. It is within every limit of `heads`, and no usual client sends more."""

MAX_PLAIN_HEADERS: Final = 64
"""Headers of a plain head, which is within the limit of `heads`."""

NAMES_MAX: Final = 1024
"""Spellings of header names that are kept, so that a name is checked once. Clients in use send a
few dozen."""

HOSTS_MAX: Final = 64
"""Values of Host that are kept, so that a value is checked once. A deployment has one or two."""

LENGTH_DIGITS: Final = 15
"""Digits of a plain Content-Length, as in `heads.LENGTH`."""

END: Final = b"\r\n\r\n"

_LINE_END: Final = b"\r\n"
_VISIBLE: Final = bytes(range(0x20, 0x7F))
_REQUEST_LINE = re.compile(rb"(GET|POST|PUT|PATCH|DELETE) (/[!-$&->@-~]*)(?:\?([!-~]*))? HTTP/1\.1")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_STARTS: Final = tuple(f"{method} /".encode() for method in METHODS)

# Headers that change how a connection is used, or that ask for such a change.
_UNUSUAL: Final = frozenset(
    {
        b"expect",
        b"http2-settings",
        b"keep-alive",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)

_names: dict[bytes, bytes] = {}
"""Header names in lower case, by their spelling."""

_hosts: set[bytes] = set()
"""Values of Host that were checked and are valid."""

_METHODS: Final = {method.encode(): method for method in METHODS}


class PlainHead(HidesSecrets, msgspec.Struct, frozen=True):
    """A plain head. `length`: the bytes of the body, 0 if there is none.

    `forwarded` is the unchecked value of the header `FORWARDED`, which is not in `headers`.
    """

    SECRETS = frozenset({"headers"})

    method: str
    path: bytes
    query: bytes
    headers: Headers
    length: int
    forwarded: bytes | None = None


def read_plain_head(head: bytes) -> PlainHead | None:
    """Return what a head says, or None if it is not plain. `head` lacks the empty line."""
    first, *lines = head.split(_LINE_END)
    if (
        len(head) > MAX_PLAIN_BYTES
        or len(lines) > MAX_PLAIN_HEADERS
        or head.translate(None, _VISIBLE) != _LINE_END * len(lines)
    ):
        return None
    asked = _REQUEST_LINE.fullmatch(first)
    if asked is None:
        return None
    headers: dict[bytes, bytes] = {}
    for line in lines:
        spelling, colon, value = line.partition(b":")
        name = _names.get(spelling) or _name(spelling)
        if name is None or name in headers or not colon:
            return None
        headers[name] = value.strip(b" ")
    length = headers.get(b"content-length", b"0")
    if not _is_host(headers.get(b"host")) or not length.isdigit() or len(length) > LENGTH_DIGITS:
        return None
    if headers.get(b"connection", b"keep-alive").lower() != b"keep-alive":
        return None
    method, path, query = asked.groups(b"")
    forwarded = headers.pop(FORWARDED, None)
    return PlainHead(_METHODS[method], path, query, [*headers.items()], int(length), forwarded)


def _is_host(value: bytes | None) -> bool:
    """Return whether there is a value of Host, and it names at most one host."""
    if value in _hosts:
        return True
    if value is None or not HOST.fullmatch(value):
        return False
    if len(_hosts) < HOSTS_MAX:
        _hosts.add(value)
    return True


def may_become_plain(start: bytes) -> bool:
    """Return whether bytes without a whole head may be the beginning of a plain one."""
    if len(start) > MAX_PLAIN_BYTES:
        return False
    known = start.startswith(_STARTS) or any(full.startswith(start) for full in _STARTS)
    return known and start.replace(_LINE_END, b"").translate(None, _VISIBLE) in (b"", b"\r")


def _name(spelling: bytes) -> bytes | None:
    """Return a header's name in lower case; None if a plain head must not have it."""
    name = spelling.lower()
    private = name.startswith(PRIVATE_PREFIX) and name != FORWARDED
    if not _NAME.fullmatch(name) or name in _UNUSUAL or private:
        return None
    if len(_names) < NAMES_MAX:
        _names[spelling] = name
    return name
