"""Codes that expire, tokens without a sign-in, and the addresses where the issuer listens."""

from urllib.parse import parse_qs, urlsplit

import pytest
import trio

from pgs.clock import SystemRng
from pgs.devissuer.grants import CODE_LIFETIME_S, CODES_MAX, Grants, SignIn
from pgs.devissuer.issuer import NotLoopback, development_issuer
from pgs.devissuer.signing import Signer, new_key
from tests.devissuer.browser import (
    ANN,
    BACK,
    REFUSED,
    browser_at_issuer,
    form,
    identity_of,
    query,
    verifier_of,
)
from tests.virtual import START, SeededRng, TrioClock

# Codes


def _grants(clock: TrioClock) -> Grants:
    grants = Grants(
        "pgs-portal",
        Signer("http://127.0.0.1:9", "pgs-portal", clock, new_key()),
        clock,
        SeededRng(),
    )
    grants.allow_redirects(BACK)
    return grants


def _code_of(grants: Grants) -> str:
    location = dict(grants.decide(query(), SignIn(ANN, "sid-1")).headers)["Location"]
    return parse_qs(urlsplit(location).query)["code"][0]


async def test_a_code_expires(autojump_clock: trio.abc.Clock) -> None:
    grants = _grants(TrioClock(START))
    young, old = _code_of(grants), _code_of(grants)
    await trio.sleep(CODE_LIFETIME_S - 1)
    assert grants.redeem(form(young)).status == 200
    await trio.sleep(1)
    assert grants.redeem(form(old)).body["error"] == "invalid_grant"


async def test_the_oldest_code_is_dropped_when_there_are_too_many(
    autojump_clock: trio.abc.Clock,
) -> None:
    grants = _grants(TrioClock(START))
    codes = [_code_of(grants) for _ in range(CODES_MAX + 1)]
    assert grants.redeem(form(codes[0])).body["error"] == "invalid_grant"
    assert grants.redeem(form(codes[1])).status == 200


# Tokens without a sign-in, and where the issuer listens


async def test_a_token_can_be_minted_with_other_claims_or_without_some() -> None:
    async with browser_at_issuer() as browser:
        issuer, checked = browser.issuer, verifier_of(browser.issuer)
        assert identity_of(await checked.verify(issuer.mint_token(ANN))) == (
            "ann",
            "ann@example.com",
        )
        assert identity_of(
            await checked.verify(issuer.mint_token(ANN, lifetime_s=1, sub="other"))
        ) == (
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


async def test_a_token_signed_by_another_issuer_is_refused() -> None:
    async with browser_at_issuer() as first, browser_at_issuer() as second:
        theirs = second.issuer.mint_token(ANN, iss=first.issuer.issuer)
        assert await verifier_of(first.issuer).verify(theirs) == REFUSED


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
async def test_an_issuer_does_not_listen_where_other_machines_could_reach_it(listen: str) -> None:
    with pytest.raises(NotLoopback):
        async with development_issuer([ANN], TrioClock(START), SystemRng(), listen=listen):
            pass


async def test_an_issuer_can_listen_at_localhost_with_another_audience() -> None:
    async with development_issuer(
        [ANN], TrioClock(START), SystemRng(), listen="localhost:0", audience="pgs-admin"
    ) as issuer:
        assert urlsplit(issuer.issuer).hostname in ("127.0.0.1", "::1")
        assert identity_of(await verifier_of(issuer).verify(issuer.mint_token(ANN))) == (
            "ann",
            "ann@example.com",
        )
