"""A browser and a client that sign in at a development issuer over real sockets."""

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpcore
import trio

from pgs.clock import SystemRng
from pgs.demo.pool import ConnectionPool
from pgs.devissuer.issuer import DevelopmentIssuer, development_issuer
from pgs.devissuer.people import Person
from pgs.domain.errors import refuse
from pgs.http.identity.tokens import Identity
from pgs.http.identity.verifier import IdentityVerifier
from pgs.http.outbound.fetch import JsonClient
from tests.http.internet import client_context
from tests.patience import PATIENCE_S
from tests.virtual import START, TrioClock

ANN = Person("ann", "Ann <Admin>", "ann@example.com")
BOB = Person("bob", "Bob & Co", "bob@example.com", email_verified=False)
BACK = "http://127.0.0.1:9/portal/signed-in"
VERIFIER = "v" * 43
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)
REFUSED = refuse("sign_in_required")


class Browser:
    """Sends the requests of a sign-in with valid parameters.

    `changes` replace parameters by name; None omits one.
    """

    def __init__(self, issuer: DevelopmentIssuer, pool: ConnectionPool) -> None:
        self.issuer = issuer
        self._pool = pool
        self.cookie = ""

    async def ask(
        self, method: str, path: str, query: str = "", form: str | None = None
    ) -> httpcore.Response:
        url = f"{self.issuer.issuer}{path}{'?' if query else ''}{query}"
        headers = [("Content-Type", "application/x-www-form-urlencoded")]
        if self.cookie:
            headers.append(("Cookie", self.cookie))
        return await self._pool.request(
            method, url, headers=headers, content=None if form is None else form.encode()
        )

    async def authorize(self, **changes: str | None) -> httpcore.Response:
        return await self.ask("GET", "/authorize", query(**changes))

    async def choose(self, person: str, **changes: str | None) -> httpcore.Response:
        return await self.ask("POST", "/authorize", query(**changes), urlencode({"person": person}))

    async def code(self, person: str = "ann", **changes: str | None) -> str:
        return returned(await self.choose(person, **changes))["code"]

    async def redeem(self, code: str, /, **changes: str | None) -> tuple[int, dict[str, Any]]:
        response = await self.ask("POST", "/token", form=form(code, **changes))
        return response.status, json.loads(response.content)


def _kept(values: Mapping[str, str | None]) -> str:
    return urlencode({name: value for name, value in values.items() if value is not None})


def query(**changes: str | None) -> str:
    good = {
        "response_type": "code",
        "client_id": "pgs-portal",
        "redirect_uri": BACK,
        "scope": "openid email profile",
        "state": 'st"até ',
        "nonce": "nonce-1",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    return _kept({**good, **changes})


def form(code: str, /, **changes: str | None) -> str:
    good = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": BACK,
        "client_id": "pgs-portal",
        "code_verifier": VERIFIER,
    }
    return _kept({**good, **changes})


def returned(response: httpcore.Response) -> dict[str, str]:
    """Return the parameters of a redirect to the client."""
    assert response.status == 302
    location = dict(response.headers)[b"location"].decode()
    assert location.startswith(BACK + "?")
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


@asynccontextmanager
async def browser_at_issuer() -> AsyncIterator[Browser]:
    with trio.fail_after(PATIENCE_S):
        async with (
            ConnectionPool() as pool,
            development_issuer(
                [ANN, BOB], TrioClock(START), SystemRng(), redirect_uris=[BACK]
            ) as issuer,
        ):
            yield Browser(issuer, pool)


def verifier_of(issuer: DevelopmentIssuer) -> IdentityVerifier:
    return IdentityVerifier(
        issuer.issuer, issuer.audience, None, JsonClient(client_context()).get, TrioClock(START)
    )


def identity_of(verified: object) -> tuple[str, str]:
    assert isinstance(verified, Identity)
    assert verified.expires_at > START
    return verified.uid, verified.email


def claims_of(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    decoded: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return decoded
