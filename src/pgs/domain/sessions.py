"""Player session tokens: signed, self-contained, checked without a look-up.

A token is `pgs1.<slot>.<kid>.<payload>.<mac>`. The mac is an HMAC-SHA256 of the text before it. The
mac is compared as text, so each token has exactly one valid spelling, including the spare bits of
its base64. Browsers send a token as the name of a WebSocket subprotocol, so it has only characters
that are allowed there.
"""

from typing import Final

import msgspec

from pgs.domain import base64url
from pgs.domain.environments import Environment
from pgs.domain.keyring import KeyRing, same, sign
from pgs.domain.keys import slot_of

TTL_MIN: Final = 60
"""Seconds of the shortest session token, as the interface promises. A shorter one would expire
while its frame loads."""

TTL_MAX: Final = 3600
"""Seconds of the longest session token: the hour that the interface promises."""

TTL_DEFAULT: Final = TTL_MAX
"""Seconds of a session token if the call names no time: the longest, so that a frame seldom needs a
new token."""

AHEAD_MAX: Final = 60
"""Seconds by which a token may have been minted in the future, because the machine's clock has been
corrected since then. A token that is further ahead was minted by a wrong clock, and could be valid
for longer than `TTL_MAX`."""

LISTED_MAX: Final = 100
"""Matches that a session lists, the oldest first. Its list of seats that are in no match yet has
the same limit. Live players have far fewer at the same time, because each seat costs money."""

TOKEN_MAX: Final = 1024
"""Characters of the longest token that is read. The longest names, at four UTF-8 bytes a character,
make about 630."""

FORMAT: Final = "pgs1"
"""The first part of every token. It names the format of the rest."""
_PURPOSE = "session"


class SessionClaims(msgspec.Struct, frozen=True, array_like=True):
    """The contents of a token. Times are epoch seconds.

    `generation`: the environment's count of emergency stops when the token was minted. The order of
    the fields is the format of the payload: new fields go to the end and have a default.
    """

    partner_id: str
    environment: Environment
    game_id: str
    player_id: str
    display_name: str | None
    issued_at: int
    expires_at: int
    generation: int


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(SessionClaims)


def sign_session(claims: SessionClaims, ring: KeyRing) -> str:
    """Return the token for `claims`, signed with the ring's current key."""
    key = ring.current
    head = (
        f"{FORMAT}.{slot_of(claims.partner_id)}.{key.kid}."
        f"{base64url.encode(_ENCODER.encode(claims))}"
    )
    return f"{head}.{sign(key, _PURPOSE, head)}"


def read_session(token: str, ring: KeyRing) -> SessionClaims | None:
    """Return the claims of a token that this ring signed, or None. Takes any string.

    The caller checks expiry, the account and the generation.
    """
    if len(token) > TOKEN_MAX or not token.isascii():
        return None
    parts = token.split(".")
    if len(parts) != 5 or parts[0] != FORMAT:
        return None
    _, slot, kid, payload, mac = parts
    key = ring.find(kid)
    if key is None or not same(sign(key, _PURPOSE, token[: -len(mac) - 1]), mac):
        return None
    data = base64url.decode(payload)
    try:
        claims = None if data is None else _DECODER.decode(data)
    except msgspec.DecodeError:
        return None
    return claims if claims is not None and slot_of(claims.partner_id) == slot else None


def is_expired(claims: SessionClaims, now: int) -> bool:
    """Return whether the token has expired at `now`, the real time in epoch seconds.

    A token is valid until the second before `expires_at`. A token from the future counts as expired
    (`AHEAD_MAX`).
    """
    return now >= claims.expires_at or claims.issued_at > now + AHEAD_MAX


def player_uid(claims: SessionClaims) -> str:
    """Return the player's identity across the whole service.

    The same player id in two environments is two players.
    """
    return f"ptr:{claims.environment}:{claims.partner_id}:{claims.player_id}"
