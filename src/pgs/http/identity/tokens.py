"""Parses identity tokens and checks their claims. Their signatures are checked in `verifier`.

Parsing is strict: canonical base64url, no repeated names, no `NaN` or `Infinity`. What the
standards (RFC 7515, 7519, 8725) allow a reader to ignore or to refuse, this module refuses.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Final, NoReturn, TypeGuard

import msgspec

from pgs.domain import base64url
from pgs.domain.emails import EMAIL_MAX
from pgs.domain.members import UID_MAX
from pgs.domain.secrets import HidesSecrets

TOKEN_MAX: Final = 8 * 1024
"""Characters of an identity token: half of what a request's head may hold. Tokens of large issuers
with many groups have about 6,000."""

NOT_BEFORE_LEEWAY_S: Final = 5
"""Seconds that `nbf` may be in the future, because the issuer writes it by its own clock.
Synchronized clocks differ by less than one second, and rounding adds another. `exp` has no leeway:
a wrong clock only makes a token expire some seconds early."""

ALGORITHMS: Final = frozenset({"RS256", "ES256", "EdDSA"})

# Headers that carry a key or link to one. A token that has one is refused, since a key that comes
# with a token proves nothing.
_OWN_KEY: Final = frozenset({"jku", "jwk", "x5u", "x5c"})
# An issuer may sign other tokens with the same key (logout tokens, security events). Those name
# another type (RFC 8725, section 3.11) and are refused.
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
_UID = re.compile(rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{{1,{UID_MAX}}}")
_EMAIL = re.compile(r"[^\x00-\x20\x7f-\xa0\ud800-\udfff@]+@[^\x00-\x20\x7f-\xa0\ud800-\udfff@]+")


class Identity(msgspec.Struct, frozen=True):
    """A person with a verified token. `uid` is the token's `sub`; `email` is spelled as in it.

    `expires_at` is the time in epoch seconds at which the token expires.
    """

    uid: str
    email: str
    expires_at: int | float


class ParsedToken(HidesSecrets, msgspec.Struct, frozen=True):
    """A parsed token: its claims, the bytes that were signed, and the key that it names.

    `kid` is None if the token names no key.
    """

    SECRETS = frozenset({"signed", "signature"})

    alg: str
    kid: str | None
    claims: Mapping[str, object]
    signed: bytes
    signature: bytes


def parse_token(text: str) -> ParsedToken | None:
    """Return the parsed token, or None if no key could make it valid. Takes any string."""
    parts = text.split(".") if len(text) <= TOKEN_MAX else []
    if len(parts) != 3:
        return None
    header, claims = _object(parts[0]), _object(parts[1])
    signature = base64url.decode(parts[2])
    if header is None or claims is None or not signature:
        return None
    alg, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    # No extension is supported, so none may be critical.
    if (
        "crit" in header
        or not _OWN_KEY.isdisjoint(header)
        or not isinstance(kind, str)
        or kind.lower() not in _TYPES
    ):
        return None
    if not isinstance(alg, str) or alg not in ALGORITHMS:
        return None
    if "kid" in header and not isinstance(kid, str):
        return None
    return ParsedToken(
        alg,
        kid if isinstance(kid, str) else None,
        claims,
        f"{parts[0]}.{parts[1]}".encode("ascii"),
        signature,
    )


def check_claims(
    claims: Mapping[str, object], issuer: str, audience: str, now: int
) -> Identity | None:
    """Return the person whom the claims identify, or None if the claims cannot be accepted.

    They must name this issuer and this audience, be valid at `now` (epoch seconds), and state a
    verified email address.
    """
    if claims.get("iss") != issuer or not _is_for(claims.get("aud"), audience):
        return None
    expires, begins = claims.get("exp"), claims.get("nbf", now)
    if (
        not _is_date(expires)
        or now >= expires
        or not _is_date(begins)
        or begins > now + NOT_BEFORE_LEEWAY_S
    ):
        return None
    uid, email = claims.get("sub"), claims.get("email")
    if (
        claims.get("email_verified") is not True
        or not isinstance(uid, str)
        or not isinstance(email, str)
    ):
        return None
    if _UID.fullmatch(uid) is None or len(email) > EMAIL_MAX or _EMAIL.fullmatch(email) is None:
        return None
    return Identity(uid, email, expires)


def _is_date(value: object) -> TypeGuard[int | float]:
    """Return whether `value` is a finite number. A bool, which is an `int` in Python, is not."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_for(aud: object, audience: str) -> bool:
    if isinstance(aud, list):
        return all(isinstance(one, str) for one in aud) and audience in aud
    return aud == audience


def _object(part: str) -> dict[str, object] | None:
    """Return the JSON object that a part of a token encodes, or None for any other text."""
    raw = base64url.decode(part)
    if raw is None:
        return None
    try:
        decoded = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_number
        )
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the members as a dict. Raises ValueError if a name is repeated.

    The standard library's parser is used because msgspec's does not report repeated names.
    """
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("two members of one name")
    return members


def _no_number(constant: str) -> NoReturn:
    raise ValueError("not a number")
