"""Reads plain handshakes of WebSockets, and no others."""

import re
from base64 import b64encode
from hashlib import sha1
from typing import Final

import msgspec

from pgs.domain.secrets import HidesSecrets
from pgs.http.transport.asgi import Headers
from pgs.http.transport.plain_heads import read_plain_head

_LINE_END: Final = b"\r\n"
_KEY = re.compile(rb"[0-9A-Za-z+/]{22}==")
_VERSION: Final = b"13"
_CONNECTION: Final = frozenset({b"upgrade", b"keep-alive, upgrade"})
_ACCEPT_SUFFIX: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3


class Upgrade(HidesSecrets, msgspec.Struct, frozen=True):
    """A handshake. `accept` is the value of the answer's `Sec-WebSocket-Accept`."""

    SECRETS = frozenset({"headers", "subprotocols"})

    path: bytes
    query: bytes
    headers: Headers
    subprotocols: list[str]
    accept: bytes


def read_upgrade(head: bytes) -> Upgrade | None:
    """Return the handshake; None if its head is not plain apart from the upgrade headers.

    `head` lacks the empty line.
    """
    first, *lines = head.split(_LINE_END)
    kept, wishes = [first], {}
    for line in lines:
        name, _, value = line.partition(b":")
        name = name.lower()
        if name in (b"connection", b"upgrade"):
            if name in wishes:
                return None
            wishes[name] = value.strip(b" ").lower()
        else:
            kept.append(line)
    if wishes.get(b"upgrade") != b"websocket" or wishes.get(b"connection") not in _CONNECTION:
        return None
    plain = read_plain_head(_LINE_END.join(kept))
    if plain is None or plain.method != "GET":
        return None
    headers = dict(plain.headers)
    key = headers.get(b"sec-websocket-key", b"")
    if (
        headers.get(b"sec-websocket-version") != _VERSION
        or not _KEY.fullmatch(key)
        or b"content-length" in headers
    ):
        return None
    offered = headers.get(b"sec-websocket-protocol", b"").decode()
    return Upgrade(
        plain.path,
        plain.query,
        [*plain.headers, *wishes.items()],
        [name.strip() for name in offered.split(",")] if offered else [],
        b64encode(sha1(key + _ACCEPT_SUFFIX, usedforsecurity=False).digest()),
    )
