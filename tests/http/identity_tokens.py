"""Tokens as an issuer would sign them, and the ones that must be refused."""

from collections.abc import Callable

import msgspec
from joserfc.jwk import RSAKey

from pgs.domain.errors import Refusal, refuse
from pgs.http.identity.tokens import (
    ISSUED_AHEAD_S,
    LIFETIME_S,
    NOT_BEFORE_LEEWAY_S,
    TOKEN_MAX,
    Identity,
)
from tests.http.identity import (
    AUDIENCE,
    ISSUER,
    SIGN_IN,
    Web,
    claims,
    jwk,
    key,
    part,
    sign,
    sign_hmac,
    token,
    verifier,
)
from tests.virtual import START

ANN = Identity("user-1", "ann@example.com", START + 3600, SIGN_IN)


REFUSED = refuse("sign_in_required")


HEADER = {"alg": "RS256", "kid": "RS256-first"}


async def verify(text: str, web: Web | None = None) -> Identity | Refusal:
    return await verifier(web or Web()).verify(text)


def public_pem() -> bytes:
    signer = key("RS256")
    assert isinstance(signer, RSAKey)
    return signer.as_pem(private=False)


def hmac_of_public_key(secret: bytes) -> str:
    return sign_hmac({"alg": "HS256", "kid": "RS256-first", "typ": "JWT"}, claims(), secret)


def token_with(header: bytes | None = None, payload: bytes | None = None) -> str:
    """Return a token with a good signature over odd bytes."""
    return sign(
        header or b'{"alg":"RS256","kid":"RS256-first"}',
        claims() if payload is None else payload,
        "RS256",
        key("RS256"),
    )


def token_parts(change: Callable[[list[str]], object]) -> str:
    parts = token().split(".")
    change(parts)
    return ".".join(parts)


def claims_text(more: str) -> bytes:
    """Return a good token's claims as JSON text, with further members."""
    return msgspec.json.encode(claims())[:-1] + b"," + more.encode() + b"}"


def flip(text: str) -> str:
    """Return a wrong signature, still in canonical base64url, from a right one."""
    return ("B" if text[0] == "A" else "A") + text[1:]


# Refused tokens

BAD = {
    # Shapes
    "nothing": "",
    "no dots": "token",
    "two parts": token_parts(lambda parts: parts.pop()),
    "four parts": token() + ".AAAA",
    "five parts, an encrypted token's": "AAAA.AAAA.AAAA.AAAA.AAAA",
    "empty parts": "..",
    "a space before": " " + token(),
    "a line feed after": token() + "\n",
    "the scheme": "Bearer " + token(),
    "NUL": "\0" * 10,
    "not ASCII": token().replace("e", "é", 1),
    "full-width": token()[:-1] + "\uff21",
    "half of a surrogate pair": token() + "\ud800",
    "padding": token_parts(lambda parts: parts.__setitem__(1, parts[1] + "=")),
    "base64 of the other alphabet": token_parts(
        lambda parts: parts.__setitem__(2, "+/" + parts[2][2:])
    ),
    "spare bits in the base64": token_parts(
        lambda parts: parts.__setitem__(0, part(b'{"alg":"RS256","kid":"RS256-first"} ')[:-1] + "B")
    ),
    "no header": token_parts(lambda parts: parts.__setitem__(0, "")),
    "no signature": token_parts(lambda parts: parts.__setitem__(2, "")),
    "huge": token(filler="x" * TOKEN_MAX),
    "very huge": "A" * 5_000_000,
    "a million dots": "." * 1_000_000,
    # JSON
    "a header that is no JSON": token_with(b"RS256"),
    "a header that is a list": token_with(b'["RS256"]'),
    "a header that is a text": token_with(b'"RS256"'),
    "a header that is null": token_with(b"null"),
    "a header in UTF-16": token_with('{"alg":"RS256"}'.encode("utf-16")),
    "a header that is not UTF-8": token_with(b'{"alg":"RS256","x":"\xff"}'),
    "a header with a byte order mark": token_with(b'\xef\xbb\xbf{"alg":"RS256"}'),
    "a duplicated header": token_with(b'{"alg":"RS256","kid":"RS256-first","alg":"RS256"}'),
    "a duplicated header, escaped": token_with(b'{"alg":"none","\\u0061lg":"RS256"}'),
    "claims that are a list": token_with(payload=b"[]"),
    "claims that are no JSON": token_with(payload=b"{"),
    "no claims": token_with(payload=b""),
    "duplicated claims": token_with(payload=claims_text('"sub":"user-2"')),
    "duplicated claims further in": token_with(payload=claims_text('"x":{"a":1,"a":2}')),
    "NaN": token_with(payload=claims_text('"x":NaN')),
    "a tower of lists": token_with(payload=claims_text('"x":' + "[" * 5000)),
    "a tower of objects": token_with(payload=claims_text('"x":' + '{"a":' * 1000)),
    "a number of 5,000 digits": token_with(payload=claims_text('"x":' + "9" * 5000)),
    # Algorithms
    "none": f"{part({'alg': 'none', 'kid': 'RS256-first'})}.{part(claims())}.",
    "none with a signature": sign(
        {"alg": "none", "kid": "RS256-first"}, claims(), "RS256", key("RS256")
    ),
    "None": sign({"alg": "None", "kid": "RS256-first"}, claims(), "RS256", key("RS256")),
    "HMAC with the public key's PEM": hmac_of_public_key(public_pem()),
    "HMAC with the public key's JSON": hmac_of_public_key(msgspec.json.encode(jwk("RS256"))),
    "HMAC with the modulus": hmac_of_public_key(str(jwk("RS256")["n"]).encode()),
    "HMAC called RS256": sign_hmac({"alg": "RS256", "kid": "RS256-first"}, claims(), public_pem()),
    "RS512": token("RS512", header={"kid": "RS256-first"}),
    "PS512": token("PS512", header={"kid": "RS256-first"}),
    "ES384 with a key that is not published": token("ES384"),
    "lower case": sign({"alg": "rs256", "kid": "RS256-first"}, claims(), "RS256", key("RS256")),
    "no algorithm": sign({"kid": "RS256-first"}, claims(), "RS256", key("RS256")),
    "an algorithm that is a number": sign(
        {"alg": 256, "kid": "RS256-first"}, claims(), "RS256", key("RS256")
    ),
    "an algorithm that is a list": sign(
        {"alg": ["RS256"], "kid": "RS256-first"}, claims(), "RS256", key("RS256")
    ),
    "an RSA key's id with ES256": token("ES256", header={"kid": "RS256-first"}),
    "an EC key's id with RS256": token("RS256", header={"kid": "ES256-first"}),
    "an EC key's id with EdDSA": token("EdDSA", header={"kid": "ES256-first"}),
    # Headers
    "crit": token(header={"crit": ["exp"], "exp": START}),
    "crit, empty": token(header={"crit": []}),
    "crit, null": token_with(b'{"alg":"RS256","kid":"RS256-first","crit":null}'),
    "b64": token(header={"b64": False, "crit": ["b64"]}),
    "jku": token(header={"jku": "https://keys.example.com/jwks.json"}),
    "jku, and a key from there": token(
        "RS256", "theirs", header={"jku": "https://evil.example/jwks.json"}
    ),
    "jwk": token("RS256", "theirs", header={"jwk": jwk("RS256", "theirs"), "kid": None}),
    "x5u": token(header={"x5u": "https://evil.example/cert.pem"}),
    "x5c": token(header={"x5c": ["MIIB"]}),
    "a logout token": token(header={"typ": "logout+jwt"}),
    "a type that is a number": token(header={"typ": 1}),
    "an unknown kid": token(header={"kid": "nobody"}),
    "an empty kid": token(header={"kid": ""}),
    "a kid that is a number": token(header={"kid": 1}),
    "a kid that is null": token_with(b'{"alg":"RS256","kid":null}'),
    "a kid that is a path": token(header={"kid": "../../dev/null"}),
    "a long kid": token(header={"kid": "k" * 256}),
    "a kid with half of a surrogate pair": token_with(b'{"alg":"RS256","kid":"\\ud800"}'),
    # Signatures
    "another's key under our kid": sign(
        {"alg": "RS256", "kid": "RS256-first"}, claims(), "RS256", key("RS256", "theirs")
    ),
    "another's EC key": sign(
        {"alg": "ES256", "kid": "ES256-first"}, claims(), "ES256", key("ES256", "theirs")
    ),
    "another's Ed25519 key": sign(
        {"alg": "EdDSA", "kid": "EdDSA-first"}, claims(), "EdDSA", key("EdDSA", "theirs")
    ),
    "another's key without a kid": sign(
        {"alg": "RS256"}, claims(), "RS256", key("RS256", "theirs")
    ),
    "a signature with a flipped bit": token_parts(
        lambda parts: parts.__setitem__(2, flip(parts[2]))
    ),
    "a short signature": token_parts(lambda parts: parts.__setitem__(2, "AAAA")),
    "a long signature": token_parts(lambda parts: parts.__setitem__(2, parts[2] + "AAAA")),
    "an ES256 signature of zeros": ".".join([*token("ES256").split(".")[:2], part(bytes(64))]),
    "an ES256 signature in DER": ".".join(
        [*token("ES256").split(".")[:2], part(bytes.fromhex("3006020101020101"))]
    ),
    "an EdDSA signature of zeros": ".".join([*token("EdDSA").split(".")[:2], part(bytes(64))]),
    "other claims under the signature": token_parts(
        lambda parts: parts.__setitem__(1, part(claims(sub="admin")))
    ),
    # Issuer and audience
    "another issuer": token(iss="https://evil.example"),
    "the issuer with a slash more": token(iss=ISSUER + "/"),
    "the issuer in upper case": token(iss=ISSUER.upper()),
    "no issuer": token(iss=None),
    "an issuer in a list": token(iss=[ISSUER]),
    "another audience": token(aud="another"),
    "other audiences": token(aud=["another", "and-another"]),
    "no audience": token(aud=None),
    "an empty audience": token(aud=""),
    "an empty list of audiences": token(aud=[]),
    "an audience within another's name": token(aud=f"{AUDIENCE}-2 {AUDIENCE}"),
    "an audience in an object": token(aud={AUDIENCE: True}),
    "an audience among what is none": token(aud=[AUDIENCE, 1]),
    "an audience in a list in a list": token(aud=[[AUDIENCE]]),
    # Times
    "no expiry": token(exp=None),
    "a day and a second": token(exp=START - 60 + LIFETIME_S + 1),
    "a day and a second without iat": token(iat=None, exp=START + LIFETIME_S + 1),
    "an expiry beyond floats": token(exp=10**4000),
    "issued in the future": token(iat=START + ISSUED_AHEAD_S + 1),
    "an iat that is a text": token(iat=str(START)),
    "expired long ago": token(exp=START - 86_400),
    "expired by one second": token(exp=START - 1),
    "expired this second": token(exp=START),
    "an expiry that is a text": token(exp=str(START + 3600)),
    "an expiry that is true": token(exp=True),
    "an expiry that is null": token_with(payload=msgspec.json.encode({**claims(), "exp": None})),
    "an endless expiry": token_with(payload=claims_text('"z":1').replace(b"1800003600", b"1e999")),
    "an expiry in milliseconds, negative": token(exp=-(START + 3600) * 1000),
    "not before in an hour": token(nbf=START + 3600),
    "not before just past the leeway": token(nbf=START + NOT_BEFORE_LEEWAY_S + 1),
    "not before some text": token(nbf="now"),
    "not before true": token(nbf=True),
    "not before null": token_with(payload=msgspec.json.encode({**claims(), "nbf": None})),
    # Subject and address
    "an address not verified": token(email_verified=False),
    "an address verified in words": token(email_verified="true"),
    "an address verified as a number": token(email_verified=1),
    "an address verified or not": token(email_verified=None),
    "no address": token(email=None),
    "an empty address": token(email=""),
    "an address that is none": token(email="ann"),
    "an address with a line feed": token(email="ann@example.com\nbcc"),
    "an address with two ats": token(email="ann@example.com@evil.example"),
    "an address in a list": token(email=["ann@example.com"]),
    "a long address": token(email="a" * 250 + "@b.c" + "d"),
    "no subject": token(sub=None),
    "an empty subject": token(sub=""),
    "a subject of 256 characters": token(sub="u" * 256),
    "a subject that is a number": token(sub=1),
    "a subject with NUL": token(sub="user\0"),
    "a subject with half of a surrogate pair": token_with(
        payload=claims_text('"z":1').replace(b"user-1", b"\\ud800")
    ),
}
