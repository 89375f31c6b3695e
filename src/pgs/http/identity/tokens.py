"""Parses identity tokens and checks their claims. `verifier` checks their signatures.

Parsing is strict: canonical base64url, no `NaN` or `Infinity`. Some things that the standards
(RFC 7515, 7519, 8725) let a reader ignore are refused: repeated names, headers that carry a key or
link to one, and other types of tokens.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Final, Literal, NoReturn, TypeGuard

import msgspec

from pgs.domain import base64url
from pgs.domain.emails import EMAIL_MAX
from pgs.domain.members import UID_MAX
from pgs.domain.secrets import HidesSecrets

TOKEN_MAX: Final = 8 * 1024
"""Characters of an identity token: half of the bytes of the longest head of a request. Tokens of
large issuers with many groups have about 6,000."""

NOT_BEFORE_LEEWAY_S: Final = 5
"""Seconds that `nbf` may be in the future, because the issuer writes it by its own clock.
Synchronized clocks differ by less than one second, and rounding adds another. `exp` has no leeway:
a clock that is ahead only makes a token expire some seconds early."""

ISSUED_AHEAD_S: Final = 60
"""Seconds that `iat` may be in the future. The interface promises this bound."""

LIFETIME_S: Final = 24 * 3600
"""Seconds from `iat` to `exp` of the longest token, as the interface promises. A stolen token can
be used for a day at most."""

ALGORITHMS: Final = frozenset({"RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"})

TokenFault = Literal[
    "not_a_jwt",
    "malformed",
    "algorithm",
    "issuer",
    "issuer_slash",
    "audience",
    "expired",
    "not_yet_valid",
    "issued_in_future",
    "lifetime",
    "client",
    "email_missing",
    "email_unverified",
    "subject",
    "unknown_key",
    "signature",
]
"""Why a token is refused: the label of the metric, and the reason in the log."""

ADVICE: Final[Mapping[TokenFault, str]] = {
    "not_a_jwt": "an opaque access token: send the ID token, or let the issuer give JWTs",
    "malformed": "a part of the token is not what RFC 7519 asks for",
    "algorithm": f"the issuer must sign with one of {', '.join(sorted(ALGORITHMS))}",
    "issuer": "another issuer's token: compare its `iss` with PGS_IDENTITY_ISSUER",
    "issuer_slash": "PGS_IDENTITY_ISSUER differs from `iss` only by the slash at the end",
    "audience": "`aud` lacks PGS_IDENTITY_AUDIENCE: set it to what the issuer's tokens name",
    "expired": "the client must get a new token; if all are expired, compare the clocks",
    "not_yet_valid": "`nbf` is in the future: compare the clocks",
    "issued_in_future": "`iat` is in the future: compare the clocks",
    "lifetime": "let the issuer give tokens of 24 hours or less",
    "client": "`azp` or `client_id` names another client than PGS_IDENTITY_CLIENT_ID",
    "email_missing": "let the issuer put `email` and `email_verified` into this token",
    "email_unverified": "`email_verified` is not true: the person verifies the address first",
    "subject": "`sub` is not a printable text of at most 255 characters",
    "unknown_key": "the issuer does not publish the key that the token names",
    "signature": "the token was not signed by the issuer's key",
}
"""What an operator can do about each fault, for the log."""

SIGN_IN_CHARS: Final = 32
"""Characters of a sign-in's name: 128 bits of a hash, so that no two sign-ins share one."""

# Headers that carry a key or link to one. A token that has one is refused, since a key that comes
# with a token proves nothing.
_OWN_KEY: Final = frozenset({"jku", "jwk", "x5u", "x5c"})
# An issuer may sign other tokens with the same key (logout tokens, security events). Those name
# another type (RFC 8725, section 3.11) and are refused.
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
_UID = re.compile(rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{{1,{UID_MAX}}}")
_EMAIL = re.compile(r"[^\x00-\x20\x7f-\xa0\ud800-\udfff@]+@[^\x00-\x20\x7f-\xa0\ud800-\udfff@]+")


class Identity(msgspec.Struct, frozen=True):
    """A person with a verified token.

    `uid` is the token's `sub`; `email` is spelled as in the token. `expires_at` is in epoch
    seconds. `sign_in` names the sign-in from which the token comes. It is a hash, so nobody can
    derive the contents of the token from it.
    """

    uid: str
    email: str
    expires_at: int | float
    sign_in: str = ""


class Expected(msgspec.Struct, frozen=True):
    """What tokens must name: the issuer and the audience.

    Tokens that name a client must name `client_id`, unless that is empty.
    """

    issuer: str
    audience: str
    client_id: str = ""


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


def parse_token(text: str) -> ParsedToken | TokenFault:
    """Return the parsed token, or the fault that makes it invalid. Takes any string.

    The token's signature and claims are not checked.
    """
    parts = text.split(".") if len(text) <= TOKEN_MAX else []
    if len(parts) != 3:
        return "not_a_jwt"
    header, claims = _object(parts[0]), _object(parts[1])
    signature = base64url.decode(parts[2])
    if header is None or claims is None or signature is None:
        return "malformed"
    alg, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    # `crit` lists extensions that a reader must support. None is supported here.
    if (
        "crit" in header
        or not _OWN_KEY.isdisjoint(header)
        or not isinstance(kind, str)
        or kind.lower() not in _TYPES
        or ("kid" in header and not isinstance(kid, str))
    ):
        return "malformed"
    if not isinstance(alg, str) or alg not in ALGORITHMS:
        return "algorithm"
    if not signature:
        return "malformed"
    return ParsedToken(
        "EdDSA" if alg == "Ed25519" else alg,  # RFC 9864 gives the same algorithm a second name
        kid if isinstance(kid, str) else None,
        claims,
        f"{parts[0]}.{parts[1]}".encode("ascii"),
        signature,
    )


def check_claims(token: ParsedToken, expected: Expected, now: int) -> Identity | TokenFault:
    """Return the person whom a token identifies, or the first fault of its claims.

    The claims must name what is expected, be valid at `now` (epoch seconds), and state a verified
    e-mail address.
    """
    claims = token.claims
    fault = _check_names(claims, expected) or _check_times(claims, now)
    if fault is not None:
        return fault
    uid, email, expires = claims.get("sub"), claims.get("email"), claims.get("exp")
    if not isinstance(uid, str) or _UID.fullmatch(uid) is None:
        return "subject"
    if not isinstance(email, str) or len(email) > EMAIL_MAX or _EMAIL.fullmatch(email) is None:
        return "email_missing"
    if claims.get("email_verified") is not True:
        return "email_unverified"
    if not _is_date(expires):
        return "malformed"
    return Identity(uid, email, expires, sign_in_of(token))


def sign_in_of(token: ParsedToken) -> str:
    """Return the name of the sign-in from which a token comes.

    All tokens of one sign-in have the same name if the issuer tells sign-ins apart, by `sid` or
    else by `auth_time`. Otherwise each token counts as one sign-in, named by `jti`, else by its
    text.
    """
    for name in ("sid", "auth_time", "jti"):
        value = token.claims.get(name)
        if (isinstance(value, str) and value) or _is_date(value):
            return sign_in_name(name, value)
    return sign_in_name("token", token.signed.decode("ascii"))


def sign_in_name(claim: str, value: object) -> str:
    """Return the name of the sign-in whose tokens have this value of a claim."""
    return hashlib.sha256(json.dumps([claim, value]).encode()).hexdigest()[:SIGN_IN_CHARS]


def _check_names(claims: Mapping[str, object], expected: Expected) -> TokenFault | None:
    issuer = claims.get("iss")
    if issuer != expected.issuer:
        alike = isinstance(issuer, str) and issuer.rstrip("/") == expected.issuer.rstrip("/")
        return "issuer_slash" if alike else "issuer"
    if not _is_for(claims.get("aud"), expected.audience):
        return "audience"
    if expected.client_id and any(
        name in claims and claims[name] != expected.client_id for name in ("azp", "client_id")
    ):
        return "client"
    return None


def _check_times(claims: Mapping[str, object], now: int) -> TokenFault | None:
    expires, begins, issued = claims.get("exp"), claims.get("nbf", now), claims.get("iat", now)
    if not _is_date(expires) or not _is_date(begins) or not _is_date(issued):
        return "malformed"
    if now >= expires:
        return "expired"
    if begins > now + NOT_BEFORE_LEEWAY_S:
        return "not_yet_valid"
    if issued > now + ISSUED_AHEAD_S:
        return "issued_in_future"
    return "lifetime" if expires > issued + LIFETIME_S else None


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
