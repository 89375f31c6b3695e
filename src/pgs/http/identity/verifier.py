"""Verifies identity tokens."""

from collections.abc import Sequence
from typing import Final

import structlog
import trio

from pgs.clock import Clock
from pgs.domain.errors import Refusal, refuse
from pgs.http.identity.discovery import discover, is_issuer, may_hold_keys
from pgs.http.identity.jwks import FRESH_S, REFETCH_S, KeyCache, PublicKey, read_keys
from pgs.http.identity.tokens import (
    ADVICE,
    Expected,
    Identity,
    TokenFault,
    check_claims,
    parse_token,
)
from pgs.http.outbound.fetch import Fetch
from pgs.http.transport.asgi import OnEvent, ignore_event
from pgs.http.transport.log_budget import LogBudget

_SIGN_IN_REQUIRED: Final = refuse("sign_in_required")
# Without the issuer's keys no token can be verified. This outage has the same reason code as a
# registry of accounts that cannot be read.
_UNAVAILABLE: Final = refuse("registry_unavailable")

_log = structlog.get_logger("pgs.identity")


class IdentityVerifier:
    """Verifies the tokens of one issuer for one audience.

    `issuer` is spelled as in its tokens. Its keys are fetched from `jwks_url`; if that is None,
    from the URL that its discovery document names. `fetch` is `JsonClient.get` or a stand-in.
    Tokens that name a client must name `client_id`, unless that is empty. Each invalid token
    is counted as `identity_refused_<fault>`, and logged as far as `LogBudget` allows, without any
    of the token's text. Raises ValueError for an empty audience, and for URLs that `is_issuer` or
    `may_hold_keys` refuses.
    """

    def __init__(
        self,
        issuer: str,
        audience: str,
        jwks_url: str | None,
        fetch: Fetch,
        clock: Clock,
        on_event: OnEvent = ignore_event,
        client_id: str = "",
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
        self._expected = Expected(issuer, audience, client_id)
        self._on_event = on_event
        self._told = LogBudget(on_event)
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
        if isinstance(parsed, str):
            return self._refuse(parsed)
        identity = check_claims(parsed, self._expected, self._clock.real())
        if isinstance(identity, str):
            return self._refuse(identity)
        keys = await self._keys.find(parsed.alg, parsed.kid)
        if keys is None:
            return _UNAVAILABLE
        if not keys:
            return self._refuse("unknown_key")
        if not any(key.has_signed(parsed.alg, parsed.signed, parsed.signature) for key in keys):
            return self._refuse("signature")
        return identity

    async def keep_keys(self) -> None:
        """Fetch the keys now, and again from time to time, until this is cancelled.

        A wrong setting is therefore reported at the start, not when somebody first signs in.
        """
        while True:
            await self._keys.refresh()
            await trio.sleep(REFETCH_S if self._keys.fault else FRESH_S)

    @property
    def fault(self) -> str | None:
        """Why the issuer's keys could not be fetched at the latest try, or None."""
        return self._keys.fault

    def _refuse(self, fault: TokenFault) -> Refusal:
        self._on_event(f"identity_refused_{fault}")
        if self._told.may_log(fault, trio.current_time()):
            _log.info("identity_refused", fault=fault, advice=ADVICE[fault])
        return _SIGN_IN_REQUIRED

    async def _load_keys(self) -> Sequence[PublicKey]:
        return read_keys(
            await self._fetch(self._jwks_url or await discover(self._issuer, self._fetch))
        )
