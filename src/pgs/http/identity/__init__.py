"""Who is calling the admin API: tokens of an OpenID Connect issuer, checked against the keys that it publishes."""

from pgs.http.identity.tokens import Identity
from pgs.http.identity.verifier import IdentityVerifier

__all__ = ["Identity", "IdentityVerifier"]
