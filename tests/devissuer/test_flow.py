"""Signing in at the development issuer over real sockets, as a browser and the portal do it."""

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpcore
import pytest
import trio

from pgs.clock import SystemRng
from pgs.demo.pool import ConnectionPool
from pgs.devissuer.grants import CODE_LIFETIME_S, CODES_MAX, Grants
from pgs.devissuer.issuer import DevelopmentIssuer, NotLoopback, development_issuer
from pgs.devissuer.people import Person
from pgs.devissuer.signing import Signer
from pgs.domain.errors import refuse
from pgs.http.identity.tokens import Identity
from pgs.http.identity.verifier import IdentityVerifier
from pgs.http.outbound.fetch import JsonClient
from tests.http.internet import client_context
from tests.virtual import START, SeededRng, TrioClock

ANN = Person("ann", "Ann <Admin>", "ann@example.com")
BOB = Person("bob", "Bob & Co", "bob@example.com", email_verified=False)
BACK = "http://127.0.0.1:9/portal/signed-in"
VERIFIER = "v" * 43
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)
REFUSED = refuse("sign_in_required")


class Browser:
    """Goes through the flow with good parameters; a test may change some (None omits one)."""

    def __init__(self, issuer: DevelopmentIssuer, pool: ConnectionPool) -> None:
        self.issuer = issuer
        self._pool = pool

    async def ask(
        self, method: str, path: str, query: str = "", form: str | None = None
    ) -> httpcore.Response:
        url = f"{self.issuer.issuer}{path}{'?' if query else ''}{query}"
        headers = [("Content-Type", "application/x-www-form-urlencoded")]
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
async def _browser() -> AsyncIterator[Browser]:
    with trio.fail_after(30):
        async with (
            ConnectionPool() as pool,
            development_issuer(
                [ANN, BOB], TrioClock(START), SystemRng(), redirect_uris=[BACK]
            ) as issuer,
        ):
            yield Browser(issuer, pool)


def _verifier(issuer: DevelopmentIssuer) -> IdentityVerifier:
    return IdentityVerifier(
        issuer.issuer, issuer.audience, None, JsonClient(client_context()).get, TrioClock(START)
    )


def _who(verified: object) -> tuple[str, str]:
    assert isinstance(verified, Identity)
    assert verified.expires_at > START
    return verified.uid, verified.email


def _claims(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    decoded: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return decoded


# The way that works


async def test_a_person_is_picked_and_the_client_gets_tokens_that_the_service_accepts() -> None:
    async with _browser() as browser:
        page = await browser.authorize()
        assert page.status == 200
        told = returned(await browser.choose("ann"))
        assert told["state"] == 'st"até '
        status, tokens = await browser.redeem(told["code"])
        assert (status, tokens["token_type"], tokens["expires_in"]) == (200, "Bearer", 3600)
        checked = _verifier(browser.issuer)
        for name in ("id_token", "access_token"):
            assert _who(await checked.verify(tokens[name])) == ("ann", "ann@example.com")
        claims = _claims(tokens["id_token"])
        assert (claims["nonce"], claims["aud"], claims["exp"] - claims["iat"]) == (
            "nonce-1",
            "pgs-portal",
            3600,
        )


async def test_somebody_with_an_unverified_address_can_sign_in_but_the_service_refuses_them() -> (
    None
):
    async with _browser() as browser:
        status, tokens = await browser.redeem(await browser.code("bob"))
        assert status == 200
        assert await _verifier(browser.issuer).verify(tokens["id_token"]) == REFUSED


async def test_without_the_openid_scope_there_is_no_identity_token() -> None:
    async with _browser() as browser:
        status, tokens = await browser.redeem(await browser.code(scope="email"))
        assert (status, tokens["scope"], "id_token" in tokens) == (200, "email", False)


async def test_the_page_shows_everybody_says_what_it_is_and_runs_no_markup_of_names() -> None:
    async with _browser() as browser:
        page = await browser.authorize()
    text, headers = page.content.decode(), dict(page.headers)
    assert "Ann &lt;Admin&gt;" in text
    assert "Bob &amp; Co" in text
    assert "(not verified)" in text
    assert "development sign-in" in text
    assert b"default-src 'none'" in headers[b"content-security-policy"]
    assert headers[b"cache-control"] == b"no-store"


async def test_whoever_cancels_is_sent_back_without_a_code() -> None:
    async with _browser() as browser:
        assert returned(await browser.choose("")) == {
            "error": "access_denied",
            "state": 'st"até ',
        } | returned(await browser.choose(""))
        assert "code" not in returned(await browser.choose(""))


async def test_pages_of_another_origin_may_read_documents_and_tokens() -> None:
    async with _browser() as browser:
        for method, path in (
            ("GET", "/.well-known/openid-configuration"),
            ("GET", "/jwks.json"),
            ("POST", "/token"),
        ):
            response = await browser.ask(method, path, form="" if method == "POST" else None)
            assert dict(response.headers)[b"access-control-allow-origin"] == b"*"


async def test_the_published_key_is_the_public_half_alone() -> None:
    async with _browser() as browser:
        (key,) = json.loads((await browser.ask("GET", "/jwks.json")).content)["keys"]
    assert key.keys() == {"kty", "n", "e", "kid", "alg", "use"}


# Ways that do not


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"code_verifier": CHALLENGE}, "invalid_grant"),
        ({"code_verifier": "short"}, "invalid_request"),
        ({"redirect_uri": BACK + "/"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"client_id": "another"}, "invalid_client"),
        ({"client_id": None}, "invalid_client"),
        ({"client_secret": "secret"}, "invalid_client"),
        ({"code": "guessed"}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": None}, "unsupported_grant_type"),
    ],
)
async def test_a_code_is_not_redeemed_unless_everything_fits(
    changes: dict[str, str | None], error: str
) -> None:
    async with _browser() as browser:
        status, body = await browser.redeem(await browser.code(), **changes)
    assert (400 <= status < 500, body["error"]) == (True, error)


async def test_a_code_works_once_and_one_wrong_try_uses_it_up() -> None:
    async with _browser() as browser:
        code = await browser.code()
        assert (await browser.redeem(code))[0] == 200
        assert (await browser.redeem(code))[1]["error"] == "invalid_grant"
        code = await browser.code()
        assert (await browser.redeem(code, code_verifier="w" * 43))[0] == 400
        assert (await browser.redeem(code))[1]["error"] == "invalid_grant"


async def test_a_parameter_that_is_repeated_is_refused() -> None:
    async with _browser() as browser:
        twice = await browser.ask(
            "POST", "/token", form=form(await browser.code()) + "&code=another"
        )
        assert json.loads(twice.content)["error"] == "invalid_request"
        assert (
            await browser.ask(
                "GET", "/authorize", query() + "&redirect_uri=http://127.0.0.1:9/elsewhere"
            )
        ).status == 400


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "http://127.0.0.1:9/elsewhere"},
        {"redirect_uri": BACK + "?more"},
        {"redirect_uri": 'http://127.0.0.1:9/"quoted"'},
        {"redirect_uri": None},
        {"client_id": "another"},
        {"client_id": None},
    ],
)
async def test_nobody_is_sent_to_an_address_that_is_not_the_client_s(
    changes: dict[str, str | None],
) -> None:
    async with _browser() as browser:
        for response in (
            await browser.authorize(**changes),
            await browser.choose("ann", **changes),
        ):
            assert 400 <= response.status < 500
            assert b"location" not in dict(response.headers)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
    ],
)
async def test_a_flow_without_pkce_or_of_another_kind_is_refused_to_the_client(
    changes: dict[str, str | None], error: str
) -> None:
    async with _browser() as browser:
        for response in (
            await browser.authorize(**changes),
            await browser.choose("ann", **changes),
        ):
            told = returned(response)
            assert (told["error"], "code" in told) == (error, False)


async def test_a_person_who_is_not_there_cannot_be_picked() -> None:
    async with _browser() as browser:
        assert (await browser.choose("mallory")).status == 400


async def test_hostile_forms_are_refused_and_the_issuer_goes_on() -> None:
    async with _browser() as browser:
        for body in (
            "%ff%fe=%00",
            "a" * 20_000,
            "&".join(f"a{index}=1" for index in range(100)),
            "=&=",
            "\x00",
        ):
            assert 400 <= (await browser.ask("POST", "/token", form=body)).status < 500
        assert (await browser.ask("GET", "/nothing")).status == 404
        assert (await browser.ask("GET", "/token")).status == 405
        assert (await browser.redeem(await browser.code()))[0] == 200


# What needs no sockets


def _grants(clock: TrioClock) -> Grants:
    grants = Grants(
        "pgs-portal", Signer("http://127.0.0.1:9", "pgs-portal", clock), clock, SeededRng()
    )
    grants.allow_redirects(BACK)
    return grants


def _code_of(grants: Grants) -> str:
    location = dict(grants.decide(query(), ANN).headers)["Location"]
    return parse_qs(urlsplit(location).query)["code"][0]


async def test_a_code_expires(autojump_clock: trio.abc.Clock) -> None:
    grants = _grants(TrioClock(START))
    young, old = _code_of(grants), _code_of(grants)
    await trio.sleep(CODE_LIFETIME_S - 1)
    assert grants.redeem(form(young)).status == 200
    await trio.sleep(1)
    assert grants.redeem(form(old)).body["error"] == "invalid_grant"


async def test_codes_that_nobody_takes_give_way_to_new_ones(autojump_clock: trio.abc.Clock) -> None:
    grants = _grants(TrioClock(START))
    codes = [_code_of(grants) for _ in range(CODES_MAX + 1)]
    assert grants.redeem(form(codes[0])).body["error"] == "invalid_grant"
    assert grants.redeem(form(codes[1])).status == 200


# Tokens without a browser, and where it listens


async def test_a_token_can_be_minted_with_other_claims_or_without_some() -> None:
    async with _browser() as browser:
        issuer, checked = browser.issuer, _verifier(browser.issuer)
        assert _who(await checked.verify(issuer.mint_token(ANN))) == ("ann", "ann@example.com")
        assert _who(await checked.verify(issuer.mint_token(ANN, lifetime_s=1, sub="other"))) == (
            "other",
            "ann@example.com",
        )
        for claims in (
            {"exp": None},
            {"exp": START - 1},
            {"aud": "another"},
            {"email_verified": "true"},
            {"sub": None},
        ):
            assert await checked.verify(issuer.mint_token(ANN, **claims)) == REFUSED
        assert await checked.verify(issuer.mint_token(ANN, lifetime_s=-1)) == REFUSED


async def test_two_issuers_do_not_stand_in_for_each_other() -> None:
    async with _browser() as first, _browser() as second:
        theirs = second.issuer.mint_token(ANN, iss=first.issuer.issuer)
        assert await _verifier(first.issuer).verify(theirs) == REFUSED


@pytest.mark.parametrize(
    "listen",
    [
        "0.0.0.0:0",
        "10.0.0.1:0",
        "[::]:0",
        "example.com:0",
        ":0",
        "127.1:0",
        "127.0.0.1.example.com:0",
    ],
)
async def test_it_refuses_to_start_where_other_machines_could_reach_it(listen: str) -> None:
    with pytest.raises(NotLoopback):
        async with development_issuer([ANN], TrioClock(START), SystemRng(), listen=listen):
            pass


async def test_it_takes_the_port_it_is_given_and_an_audience_of_its_own() -> None:
    async with development_issuer(
        [ANN], TrioClock(START), SystemRng(), listen="localhost:0", audience="pgs-admin"
    ) as issuer:
        assert urlsplit(issuer.issuer).hostname in ("127.0.0.1", "::1")
        assert _who(await _verifier(issuer).verify(issuer.mint_token(ANN))) == (
            "ann",
            "ann@example.com",
        )
