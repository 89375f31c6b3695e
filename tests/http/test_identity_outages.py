"""The cache of the issuer's keys while the issuer is down or publishes what cannot be used."""

from collections.abc import Sequence

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.http.identity.jwks import FRESH_S, REFETCH_S, RETRY_S, KeyCache, PublicKey, read_keys
from pgs.http.identity.verifier import IdentityVerifier
from pgs.http.outbound.fetch import Json
from tests.http.identity import (
    AUDIENCE,
    DISCOVERY,
    ISSUER,
    JWKS_URL,
    Web,
    jwk,
    key_set,
    token,
    verifier,
)
from tests.http.identity_keys import ANN, LONG, OUTAGE, REFUSED, mint_token, publish
from tests.virtual import clock

# Outages


async def test_without_keys_a_token_with_valid_claims_is_answered_as_an_outage(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    web.down = True
    checked = verifier(web)
    assert await checked.verify(mint_token()) == OUTAGE
    assert await checked.verify(token("ES256", sub=None)) == REFUSED


async def test_the_issuer_is_tried_again_soon_while_there_are_no_keys(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    web.down = True
    checked = verifier(web)
    for _ in range(10):
        assert await checked.verify(mint_token()) == OUTAGE
    assert web.key_fetches == 1
    web.down = False
    await trio.sleep(RETRY_S)
    assert await checked.verify(mint_token()) == ANN
    assert web.key_fetches == 2


async def test_the_last_good_keys_serve_while_the_issuer_is_down(autojump_clock: MockClock) -> None:
    web = Web()
    checked = verifier(web, jwks_url=None)
    assert await checked.verify(mint_token()) == ANN
    web.down = True
    for _ in range(50):
        await trio.sleep(FRESH_S)
        assert await checked.verify(mint_token()) == ANN
        assert await checked.verify(mint_token("unknown")) == REFUSED
    web.down = False
    publish(web, "second")
    await trio.sleep(REFETCH_S)
    assert await checked.verify(mint_token("second")) == ANN


async def test_an_issuer_that_is_down_is_asked_at_most_every_30_seconds(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    checked = verifier(web)
    assert await checked.verify(mint_token()) == ANN
    web.down = True
    await trio.sleep(FRESH_S)
    for _ in range(60):
        assert await checked.verify(mint_token()) == ANN
        await wait_all_tasks_blocked()
        await trio.sleep(1)
    assert web.key_fetches == 1 + 2


@pytest.mark.parametrize(
    "document",
    [{}, {"keys": []}, {"keys": [{"kty": "oct", "k": "AAAA"}]}, {"keys": None}, {"error": "moved"}],
)
async def test_a_set_without_a_usable_key_replaces_nothing(
    document: Json, autojump_clock: MockClock
) -> None:
    web = Web()
    checked = verifier(web)
    assert await checked.verify(mint_token()) == ANN
    web.documents[JWKS_URL] = document
    await trio.sleep(REFETCH_S)
    assert await checked.verify(mint_token("unknown")) == REFUSED
    assert await checked.verify(mint_token()) == ANN
    assert web.key_fetches == 2


async def test_a_fetch_that_breaks_ends_neither_the_process_nor_later_fetches(
    autojump_clock: MockClock,
) -> None:
    events = list[str]()
    broken = True

    async def load() -> Sequence[PublicKey]:
        if broken:
            raise RuntimeError("a bug")
        return read_keys(key_set())

    cache = KeyCache(load, events.append)
    assert await cache.find("ES256", "ES256-first") is None
    broken = False
    await trio.sleep(RETRY_S)
    assert [key.kid for key in await cache.find("ES256", "ES256-first") or ()] == ["ES256-first"]
    assert events == ["identity_keys_failed", "identity_keys_fetched"]


# Discovery


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://evil.example"},
        {"issuer": ISSUER + "/"},
        {"issuer": None},
        {"issuer": [ISSUER]},
        {"jwks_uri": None},
        {"jwks_uri": 7},
        {"jwks_uri": ""},
        {"jwks_uri": "/jwks.json"},
        {"jwks_uri": "http://keys.example.com/jwks.json"},
        {"jwks_uri": "http://127.0.0.1/jwks.json"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "https://user@keys.example.com/jwks.json"},
    ],
)
async def test_a_discovery_document_that_does_not_fit_gives_no_keys(
    change: Json, autojump_clock: MockClock
) -> None:
    web = Web()
    web.documents[DISCOVERY].update(change)
    assert await verifier(web, jwks_url=None).verify(mint_token()) == OUTAGE
    assert web.asked == [DISCOVERY]


async def test_keys_at_a_new_url_are_found_by_the_next_fetch(autojump_clock: MockClock) -> None:
    web = Web()
    checked = verifier(web, jwks_url=None)
    assert await checked.verify(mint_token()) == ANN
    web.documents = {
        DISCOVERY: {"issuer": ISSUER, "jwks_uri": "https://new.example.com/"},
        "https://new.example.com/": key_set(jwk("EdDSA")),
    }
    await trio.sleep(REFETCH_S)
    assert await checked.verify(token("EdDSA", "first", exp=LONG)) == ANN
    await trio.sleep(FRESH_S)
    await checked.verify(mint_token())
    await wait_all_tasks_blocked()
    assert await checked.verify(mint_token()) == REFUSED


async def test_an_issuer_that_ends_in_a_slash_has_one_slash_before_its_document(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    web.documents[DISCOVERY]["issuer"] = ISSUER + "/"
    checked = IdentityVerifier(ISSUER + "/", AUDIENCE, None, web.fetch, clock())
    assert await checked.verify(token(iss=ISSUER + "/", exp=LONG)) == ANN
    assert web.asked == [DISCOVERY, JWKS_URL]


async def test_an_issuer_on_this_machine_may_have_its_keys_here_too(
    autojump_clock: MockClock,
) -> None:
    web, here = Web(), "http://127.0.0.1:9000"
    web.documents = {
        f"{here}/.well-known/openid-configuration": {
            "issuer": here,
            "jwks_uri": f"{here}/jwks.json",
        },
        f"{here}/jwks.json": key_set(),
    }
    assert (
        await IdentityVerifier(here, AUDIENCE, None, web.fetch, clock()).verify(
            token(iss=here, exp=LONG)
        )
        == ANN
    )


@pytest.mark.parametrize(
    ("issuer", "audience", "jwks_url"),
    [
        ("http://id.example.com", "a", None),
        ("https://id.example.com?a", "a", None),
        ("id.example.com", "a", None),
        ("", "a", None),
        ("https://id.example.com", "", None),
        ("https://id.example.com", "a", "http://127.0.0.1/jwks.json"),
        ("https://id.example.com", "a", "keys"),
        ("https://id.example.com", "a", ""),
    ],
)
def test_a_verifier_with_settings_that_cannot_be_trusted_is_a_value_error(
    issuer: str, audience: str, jwks_url: str | None
) -> None:
    with pytest.raises(ValueError, match="must"):
        IdentityVerifier(issuer, audience, jwks_url, Web().fetch, clock())
