"""The issuer's key, and the tokens that it signs."""

from collections.abc import Mapping
from typing import Any, Final

from joserfc import jwt
from joserfc.jwk import RSAKey

from pgs.clock import Clock
from pgs.devissuer.people import Person

ALGORITHM: Final = "RS256"  # an algorithm that every OpenID Connect client knows

LIFETIME_S: Final = 3600
"""Seconds that a token of the development issuer is valid: an hour, as with common issuers."""

_RSA_BITS: Final = 2048
"""Bits of the development issuer's RSA key: the least that RFC 7518, section 3.3, allows."""


def new_key() -> RSAKey:
    """Return a new key to sign with. Making one takes a tenth of a second."""
    return RSAKey.generate_key(_RSA_BITS, auto_kid=True)


class Signer:
    """Signs tokens of `issuer` for `audience` with a key, which never leaves memory."""

    def __init__(self, issuer: str, audience: str, clock: Clock, key: RSAKey) -> None:
        self.issuer = issuer
        self._audience = audience
        self._clock = clock
        self._key = key

    def key_set(self) -> dict[str, Any]:
        """Return the public half of the key as a JWK set."""
        return {"keys": [self._key.as_dict(private=False, alg=ALGORITHM, use="sig")]}

    def token(self, person: Person, claims: Mapping[str, object]) -> str:
        """Return a signed token about `person`. `claims` replace the usual ones.

        A claim that is None is left out.
        """
        now = self._clock.now()
        usual: dict[str, object] = {
            "iss": self.issuer,
            "sub": person.uid,
            "aud": self._audience,
            "iat": now,
            "exp": now + LIFETIME_S,
            "name": person.name,
            "email": person.email,
            "email_verified": person.email_verified,
        }
        final: dict[str, Any] = {
            name: value for name, value in {**usual, **claims}.items() if value is not None
        }
        return jwt.encode({"alg": ALGORITHM, "kid": self._key.kid}, final, self._key)
