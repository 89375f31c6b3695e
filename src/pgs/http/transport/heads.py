"""Checks the heads of requests before anything else reads them, and completes response headers.

The rules keep two readers of one request, a proxy and this service for example, from reading it
differently.

hypercorn's parser (h11 0.16) refuses the following by itself, and has the edge answer
(`Edge.refuse`): a request line or header that is not HTTP, a Content-Length that is not a number of
at most 20 digits, several Content-Length headers that differ (it merges equal ones), any
Transfer-Encoding except a single `chunked`, a second Host, no Host in HTTP/1.1, control and 8-bit
characters in the target, a head that is unfinished after `ServerLimits.head_bytes`. It accepts
everything else that this module refuses. This module checks the parser's rules again, since the
edge may be used with another parser.
"""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

import msgspec

from pgs.domain.secrets import HidesSecrets
from pgs.http.transport.asgi import Headers, Scope

MAX_HEADERS: Final = 100
"""Headers of one request. Browsers behind two proxies send about 40."""

MAX_HEAD_BYTES: Final = 16 * 1024
"""Bytes of target and headers together, with `: ` and line ends: twice the limit of common
proxies."""

MAX_TARGET_BYTES: Final = 8 * 1024
"""Bytes of path and query. RFC 9110, section 4.1, asks for at least 8,000."""

MAX_METHOD_CHARS: Final = 16
"""Characters of a method. The longest method in use here has 6; the longest in the registry,
UPDATEREDIRECTREF, is not served."""

PRIVATE_PREFIX: Final = b"x-pgs-"
"""The prefix of headers that are reserved for this service. They are removed from requests."""

FORWARDED: Final = b"x-pgs-forwarded"
"""The one private header of a request that is read: the proof that another node forwarded it. It is
removed from the headers like the others. The code that uses the proof also checks it."""

REQUEST_ID: Final = b"x-request-id"
API_VERSION: Final = b"x-service-api-version"

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_VISIBLE = re.compile(rb"[!-~]*")
HOST: Final = re.compile(rb"(?:[0-9A-Za-z._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")
LENGTH: Final = re.compile(rb"[0-9]{1,15}")
_ABSOLUTE = re.compile(rb"[Hh][Tt][Tt][Pp][Ss]?://[0-9A-Za-z._:@\[\]%-]{1,255}(/[!-~]*)?")


class Fault(msgspec.Struct, frozen=True):
    """The refusal of a request: the status, and a sentence for people."""

    status: int
    message: str


class Head(HidesSecrets, msgspec.Struct, frozen=True):
    """An accepted head: its headers without the private ones, and which body follows.

    `content_length` is None if the head states none, as for a chunked body. `forwarded` is the
    unchecked value of `FORWARDED`.
    """

    SECRETS = frozenset({"headers"})

    headers: Headers
    has_body: bool
    content_length: int | None
    forwarded: bytes | None = None


_FRAMING: Final = Fault(400, "The length of the request body is not stated in one clear way.")
_TARGET: Final = Fault(
    400, "The request target must be a path, with an optional query, in visible ASCII characters."
)
_METHOD: Final = Fault(400, "The request method is not one that is served.")
_VERSION: Final = Fault(400, "Only HTTP/1.0 and HTTP/1.1 are supported.")
_HOST_FAULT: Final = Fault(
    400, "A request must have one Host header: a host's name or address, with or without a port."
)
_TOO_LONG: Final = Fault(414, "The request target is too long.")
_TOO_LARGE: Final = Fault(431, "The request headers are too many or too large.")
NOT_HTTP: Final = Fault(
    400,
    "The request is not well-formed HTTP/1.1, it has no Host header or several, or its method is "
    "not in capitals.",
)
UNREAD: Final = {431: _TOO_LARGE, 501: _FRAMING}
"""The fault to answer with, by the status of the parser's refusal; `NOT_HTTP` for all others."""


def in_origin_form(scope: Scope) -> Scope:
    """Return the scope, with an absolute target reduced to its path and query.

    Every server must accept absolute targets (RFC 9112, section 3.2.2). Their host is ignored.
    """
    found = _ABSOLUTE.fullmatch(scope.get("raw_path") or b"")
    if found is None:
        return scope
    raw_path = found[1] or b"/"
    path = unquote_to_bytes(raw_path).decode("utf-8", "replace")
    return {**scope, "raw_path": raw_path, "path": path}


def check_head(scope: Scope) -> Head | Fault:
    """Return the accepted head of an HTTP or WebSocket scope, or the first fault found in it."""
    method: str = scope.get("method", "GET")
    path: bytes = scope.get("raw_path") or b""
    query: bytes = scope.get("query_string", b"")
    version: str = scope["http_version"]
    if version not in ("1.0", "1.1"):
        return _VERSION
    if len(method) > MAX_METHOD_CHARS or method == "CONNECT" or not _TOKEN.fullmatch(method):
        return _METHOD
    size = len(path) + len(query)
    if size > MAX_TARGET_BYTES:
        return _TOO_LONG
    if path[:1] != b"/" or not _VISIBLE.fullmatch(path) or not _VISIBLE.fullmatch(query):
        return _TARGET
    headers: Headers = scope["headers"]
    if len(headers) > MAX_HEADERS:
        return _TOO_LARGE
    return _check_headers(headers, version, size)


def _check_headers(headers: Headers, version: str, size: int) -> Head | Fault:
    hosts: list[bytes] = []
    lengths: list[bytes] = []
    codings: list[bytes] = []
    private = False
    for name, value in headers:
        size += len(name) + len(value) + 4
        if name == b"host":
            hosts.append(value)
        elif name == b"content-length":
            lengths.append(value)
        elif name == b"transfer-encoding":
            codings.append(value)
        elif name.startswith(PRIVATE_PREFIX):
            private = True
    if size > MAX_HEAD_BYTES:
        return _TOO_LARGE
    if (
        len(hosts) > 1
        or (not hosts and version == "1.1")
        or (hosts and not HOST.fullmatch(hosts[0]))
    ):
        return _HOST_FAULT
    if codings and (
        lengths or version == "1.0" or len(codings) > 1 or codings[0].lower() != b"chunked"
    ):
        return _FRAMING
    if lengths and (len(lengths) > 1 or not LENGTH.fullmatch(lengths[0])):
        return _FRAMING
    length = int(lengths[0]) if lengths else None
    forwarded = None
    if private:
        forwarded = next((value for name, value in headers if name == FORWARDED), None)
        headers = [item for item in headers if not item[0].startswith(PRIVATE_PREFIX)]
    return Head(headers, bool(codings or length), length, forwarded)


def is_under(path: str, root: str) -> bool:
    """Return whether `path` is `root` or below it. `/partners` is not below `/partner`."""
    return path == root or path.startswith(root + "/")


def takes_coding(accepted: bytes, coding: bytes) -> bool:
    """Return whether Accept-Encoding lists a coding with a weight above 0 (RFC 9110, 12.5.3)."""
    for part in accepted.lower().split(b","):
        listed, _, weight = part.partition(b";")
        if listed.strip() == coding:
            return weight.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False


def stamp(headers: Headers, *, path: str, request_id: str, current_version: int) -> Headers:
    """Return a response's headers together with those that every response carries.

    The request id is always the edge's. Under `/partner` and `/embed` the API version is the
    application's, else the current one. On other paths it is removed. Under `/partner` and
    `/portal`, caches store nothing unless the application has set Cache-Control.
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
    if (partner or is_under(path, "/portal")) and b"cache-control" not in seen:
        kept.append((b"cache-control", b"no-store"))
    return kept
