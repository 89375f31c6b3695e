"""Verifies identity tokens."""

from collections.abc import Sequence
from typing import Final

from pgs.clock import Clock
from pgs.domain.errors import Refusal, refuse
from pgs.http.identity.discovery import discover, is_issuer, may_hold_keys
from pgs.http.identity.jwks import KeyCache, PublicKey, read_keys
from pgs.http.identity.tokens import Identity, check_claims, parse_token
from pgs.http.outbound.fetch import Fetch
from pgs.http.transport.asgi import OnEvent, ignore_event

_SIGN_IN_REQUIRED: Final = refuse("sign_in_required")
# Without the issuer's keys no token can be verified. This outage has the same reason code as a
# registry of accounts that cannot be read.
_UNAVAILABLE: Final = refuse("registry_unavailable")


class IdentityVerifier:
    """Verifies the tokens of one issuer for one audience.

    `issuer` is spelled as in its tokens. Its keys are fetched from `jwks_url`; if that is None,
    from the URL that its discovery document names. `fetch` is `JsonClient.get` or a stand-in.
    Raises ValueError for an empty audience, and for URLs that `is_issuer` or `may_hold_keys`
    refuses.
    """

    def __init__(
        self,
        issuer: str,
        audience: str,
        jwks_url: str | None,
        fetch: Fetch,
        clock: Clock,
        on_event: OnEvent = ignore_event,
    ) -> None:
        if not is_issuer(issuer):
            raise ValueError(
                "the issuer must be an https address, or http on loopback, without a query"
            )
        if jwks_url is not None and not may_hold_keys(jwks_url, issuer):
            raise ValueError(
                "the keys' address must be https, or http on loopback where the issuer's is"
            )
        if not audience:
            raise ValueError("the audience must not be empty")
        self._issuer = issuer
        self._audience = audience
        self._jwks_url = jwks_url
        self._fetch = fetch
        self._clock = clock
        self._keys = KeyCache(self._load_keys, on_event)

    async def verify(self, token: str) -> Identity | Refusal:
        """Return the person whom the token identifies, or the refusal. Never raises.

        `sign_in_required` means that the token is not valid. `registry_unavailable` means that the
        signature cannot be checked, because the issuer's keys have not been fetched since the
        start. Claims are checked before the signature. That is cheaper, and a forged token causes a
        fetch only if it names our issuer and audience.
        """
        parsed = parse_token(token)
        if parsed is None:
            return _SIGN_IN_REQUIRED
        identity = check_claims(parsed.claims, self._issuer, self._audience, self._clock.now())
        if identity is None:
            return _SIGN_IN_REQUIRED
        keys = await self._keys.find(parsed.alg, parsed.kid)
        if keys is None:
            return _UNAVAILABLE
        return (
            identity
            if any(key.has_signed(parsed.signed, parsed.signature) for key in keys)
            else _SIGN_IN_REQUIRED
        )

    async def _load_keys(self) -> Sequence[PublicKey]:
        return read_keys(
            await self._fetch(self._jwks_url or await discover(self._issuer, self._fetch))
        )
