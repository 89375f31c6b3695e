"""Page cursors: opaque to clients and signed.

A cursor is valid only for one list of one partner in one environment, and it never expires. Its
text is `pgc1.<kid>.<payload>.<mac>`. The mac is compared as text, as in a session token, so each
cursor has exactly one valid spelling.
"""

from typing import Final

import msgspec

from pgs.domain import base64url
from pgs.domain.environments import Environment
from pgs.domain.keyring import KeyRing, same, sign

CURSOR_MAX: Final = 512
"""Characters of the longest cursor that is read. A cursor with a position of 64 characters has
about 200."""

FORMAT: Final = "pgc1"
"""The first part of every cursor. It names the format of the rest."""
_PURPOSE = "cursor"

_MAC_BYTES = 16
"""Bytes of a cursor's signature. 128 bits cannot be guessed, and the cursor stays short enough for
a query string."""


class _Payload(msgspec.Struct, frozen=True, array_like=True):
    kind: str
    partner_id: str
    environment: Environment
    position: str | int


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Payload)


def make_cursor(
    ring: KeyRing, kind: str, partner_id: str, environment: Environment, position: str | int
) -> str:
    """Return the cursor for `position` in the list `kind`, such as `results`; URL-safe ASCII."""
    key = ring.current
    payload = _Payload(kind, partner_id, environment, position)
    head = f"{FORMAT}.{key.kid}.{base64url.encode(_ENCODER.encode(payload))}"
    return f"{head}.{sign(key, _PURPOSE, head, _MAC_BYTES)}"


def read_cursor(
    ring: KeyRing, text: str, kind: str, partner_id: str, environment: Environment
) -> str | int | None:
    """Return the cursor's position, or None if the cursor was not issued for exactly this list.

    Takes any string. The position has the type that `make_cursor` was given.
    """
    if len(text) > CURSOR_MAX or not text.isascii():
        return None
    parts = text.split(".")
    if len(parts) != 4 or parts[0] != FORMAT:
        return None
    _, kid, encoded, mac = parts
    key = ring.find(kid)
    if key is None or not same(sign(key, _PURPOSE, text[: -len(mac) - 1], _MAC_BYTES), mac):
        return None
    data = base64url.decode(encoded)
    try:
        payload = None if data is None else _DECODER.decode(data)
    except msgspec.DecodeError:
        return None
    if payload is None or (payload.kind, payload.partner_id, payload.environment) != (
        kind,
        partner_id,
        environment,
    ):
        return None
    return payload.position
