"""Makes an issuer's keys and published documents, and good and bad tokens."""

import functools
import hmac
from collections.abc import Mapping
from typing import Any

import msgspec
import trio
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from pgs.domain import base64url
from pgs.http.identity.tokens import sign_in_name
from pgs.http.identity.verifier import IdentityVerifier
from pgs.http.outbound.fetch import Json, NotFetched
from pgs.http.transport.asgi import OnEvent, ignore_event
from tests.virtual import START, clock

ISSUER = "https://id.example.com/realms/pgs"
AUDIENCE = "pgs-portal"
JWKS_URL = "https://keys.example.com/jwks.json"
DISCOVERY = ISSUER + "/.well-known/openid-configuration"
ALGORITHMS = ("RS256", "ES256", "EdDSA")
SIGN_IN = sign_in_name("sid", "one")
"""The sign-in of good tokens."""


def key(alg: str, name: str = "first") -> Key:
    """Return a private key for an algorithm. The same name gives the same key.

    All RSA algorithms share the key of a name.
    """
    return _key("RSA" if alg.startswith(("RS", "PS")) else alg, name)


@functools.cache
def _key(kind: str, name: str) -> Key:
    if kind == "RSA":
        return RSAKey.generate_key(2048)
    if kind == "ES256":
        return ECKey.generate_key("P-256")
    if kind == "ES512":
        return ECKey.generate_key("P-521")
    if kind == "ES384":
        return ECKey.generate_key("P-384")
    return OKPKey.generate_key("Ed448" if kind == "Ed448" else "Ed25519")


def jwk(alg: str, name: str = "first", /, **members: object) -> Json:
    """Return a published key with the id `<alg>-<name>`. Members that are None are left out."""
    published = {**key(alg, name).as_dict(private=False), "kid": f"{alg}-{name}", **members}
    return {member: value for member, value in published.items() if value is not None}


def key_set(*keys: Json) -> Json:
    return {"keys": list(keys or [jwk(alg) for alg in ALGORITHMS])}


def claims(**others: object) -> Json:
    """Return a good token's claims, changed by `others`. Claims that are None are left out."""
    good: Json = {
        "iss": ISSUER,
        "sub": "user-1",
        "aud": AUDIENCE,
        "exp": START + 3600,
        "nbf": START - 60,
        "iat": START - 60,
        "email": "ann@example.com",
        "email_verified": True,
        "sid": "one",
    }
    return {name: value for name, value in {**good, **others}.items() if value is not None}


def part(value: object) -> str:
    return base64url.encode(value if isinstance(value, bytes) else msgspec.json.encode(value))


def sign(header: object, payload: object, alg: str, signer: Key) -> str:
    """Return a token of any header and payload (values or bytes), signed with `alg`."""
    signed = f"{part(header)}.{part(payload)}"
    return f"{signed}.{base64url.encode(JWSRegistry.algorithms[alg].sign(signed.encode(), signer))}"


def token(
    alg: str = "RS256",
    name: str = "first",
    header: Mapping[str, object] | None = None,
    **others: object,
) -> str:
    """Return a good token, changed by `header` and `others` (None omits a member)."""
    full: dict[str, Any] = {"alg": alg, "kid": f"{alg}-{name}", "typ": "JWT", **(header or {})}
    kept = {member: value for member, value in full.items() if value is not None}
    return sign(kept, claims(**others), alg, key(alg, name))


def sign_hmac(header: object, payload: object, secret: bytes) -> str:
    """Return a token that is signed with HS256."""
    signed = f"{part(header)}.{part(payload)}"
    return f"{signed}.{base64url.encode(hmac.digest(secret, signed.encode(), 'sha256'))}"


class Web:
    """Replaces `fetch`: returns documents by their URL, and records the requests.

    It can be down, be slow, or wait until `may_answer` is set.
    """

    def __init__(self, **documents: Json) -> None:
        self.documents: dict[str, Json] = {
            DISCOVERY: {"issuer": ISSUER, "jwks_uri": JWKS_URL},
            JWKS_URL: key_set(),
            **documents,
        }
        self.asked: list[str] = []
        self.asked_at: list[float] = []
        self.down = False
        self.takes_s = 0.0
        self.may_answer: trio.Event | None = None

    async def fetch(self, url: str) -> Json:
        self.asked.append(url)
        self.asked_at.append(trio.current_time())
        await trio.sleep(self.takes_s)
        if self.may_answer is not None:
            await self.may_answer.wait()
        if self.down or url not in self.documents:
            raise NotFetched("down")
        return self.documents[url]

    @property
    def key_fetches(self) -> int:
        return self.asked.count(JWKS_URL)


def verifier(
    web: Web,
    jwks_url: str | None = JWKS_URL,
    on_event: OnEvent = ignore_event,
    client_id: str = "",
) -> IdentityVerifier:
    """Return a verifier that takes the time from the virtual clock."""
    return IdentityVerifier(ISSUER, AUDIENCE, jwks_url, web.fetch, clock(), on_event, client_id)
