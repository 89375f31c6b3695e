"""From a token's text to what it claims. Nothing here is proven: the signature is checked elsewhere, over `signed`.

A token is taken apart strictly, by one reading alone: canonical base64url, one member of each name, no number that is none. Where the
standards (RFC 7515, 7519, 8725) leave a choice between ignoring and refusing, this refuses.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Final, NoReturn, TypeGuard

import msgspec

from pgs.domain import base64url

TOKEN_MAX: Final = 8 * 1024
"""Characters of an identity token: half of what a request's head may hold. Tokens of large issuers
with many groups have about 6,000."""

UID_MAX: Final = 255
"""Characters of `sub`: the limit that OpenID Connect sets (Core 1.0, section 2)."""

EMAIL_MAX: Final = 254
"""Characters of an address that mail can be sent to: RFC 5321's path of 256 without its
brackets."""

NOT_BEFORE_LEEWAY_S: Final = 5
"""Seconds that `nbf` may be in the future. An issuer writes it by its own clock; synchronized
clocks differ by less than one second, and rounding adds another. `exp` has no leeway: there, a
wrong clock only costs the last seconds of a token."""

ALGORITHMS: Final = frozenset({"RS256", "ES256", "EdDSA"})

# A key that a token brings along, or says where to find, proves nothing; who sends one is not our issuer.
_OWN_KEY: Final = frozenset({"jku", "jwk", "x5u", "x5c"})
# Other kinds of tokens that one issuer signs with one key (logout tokens, security events) name their kind (RFC 8725, section 3.11).
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
_UID = re.compile(rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{{1,{UID_MAX}}}")
_EMAIL = re.compile(r"[^\x00-\x20\x7f-\xa0\ud800-\udfff@]+@[^\x00-\x20\x7f-\xa0\ud800-\udfff@]+")


class Identity(msgspec.Struct, frozen=True):
    """A verified account of the issuer. `uid` is its `sub`; `email` is as the issuer spells it; its token `expires_at` epoch seconds."""

    uid: str
    email: str
    expires_at: int | float


class ParsedToken(msgspec.Struct, frozen=True):
    """A token taken apart: which key would have signed `signed`, and what is claimed. `kid` is None where the token names none."""

    alg: str
    kid: str | None
    claims: Mapping[str, object]
    signed: bytes
    signature: bytes


def parse_token(text: str) -> ParsedToken | None:
    """Return the token taken apart, or None where it is none that could ever be accepted. Takes any string."""
    parts = text.split(".") if len(text) <= TOKEN_MAX else []
    if len(parts) != 3:
        return None
    header, claims = _object(parts[0]), _object(parts[1])
    signature = base64url.decode(parts[2])
    if header is None or claims is None or not signature:
        return None
    alg, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    # No extension is understood here, so none may be critical.
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
    """Return whom the claims are about, or None where they are not a verified account's, ours, and of this moment (epoch seconds)."""
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
    """Whether this is a NumericDate: seconds, perhaps with a fraction. `true` is an `int` to Python alone."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_for(aud: object, audience: str) -> bool:
    if isinstance(aud, list):
        return all(isinstance(one, str) for one in aud) and audience in aud
    return aud == audience


def _object(part: str) -> dict[str, object] | None:
    """Decode a part of a token into its JSON object, or None. The bound on the token bounds the work."""
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
    """The standard library's parser, and not msgspec's, for this: it tells of every member, also of the second with one name."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("two members of one name")
    return members


def _no_number(constant: str) -> NoReturn:
    raise ValueError("not a number")
