"""An issuer whose keys the tests publish and withdraw."""

from pgs.domain.errors import refuse
from pgs.http.identity.tokens import Identity
from tests.http.identity import (
    JWKS_URL,
    SIGN_IN,
    Web,
    jwk,
    key_set,
    token,
)
from tests.virtual import START

LONG = START + 23 * 3600


ANN = Identity("user-1", "ann@example.com", LONG, SIGN_IN)


REFUSED = refuse("sign_in_required")


OUTAGE = refuse("registry_unavailable")


def publish(web: Web, *names: str) -> None:
    web.documents[JWKS_URL] = key_set(*[jwk("ES256", name) for name in names])


def mint_token(name: str = "first") -> str:
    """Return a token that is valid for longer than any of these tests runs."""
    return token("ES256", name, exp=LONG)
