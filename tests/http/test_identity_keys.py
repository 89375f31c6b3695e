"""The cache of the issuer's keys, on a virtual clock: fetching, rotation, outages."""

from collections.abc import Sequence

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.domain.errors import Refusal, refuse
from pgs.http.identity.jwks import FRESH_S, REFETCH_S, RETRY_S, KeyCache, PublicKey, read_keys
from pgs.http.identity.tokens import Identity
from pgs.http.identity.verifier import IdentityVerifier
from pgs.http.outbound.fetch import Json
from tests.http.identity import (
    ALGORITHMS,
    AUDIENCE,
    DISCOVERY,
    ISSUER,
    JWKS_URL,
    SIGN_IN,
    Web,
    jwk,
    key_set,
    token,
    verifier,
)
from tests.virtual import START, clock

LONG = START + 23 * 3600
ANN = Identity("user-1", "ann@example.com", LONG, SIGN_IN)
REFUSED = refuse("sign_in_required")
OUTAGE = refuse("registry_unavailable")


def _publish(web: Web, *names: str) -> None:
    web.documents[JWKS_URL] = key_set(*[jwk("ES256", name) for name in names])


def _token(name: str = "first") -> str:
    """Return a token that is valid for longer than any of these tests runs."""
    return token("ES256", name, exp=LONG)


# Fetching


async def test_keys_are_fetched_once_for_many_tokens(autojump_clock: MockClock) -> None:
    web = Web()
    checked = verifier(web)
    for _ in range(5):
        for alg in ALGORITHMS:
            assert await checked.verify(token(alg, exp=LONG)) == ANN
    assert web.asked == [JWKS_URL]


async def test_without_a_key_url_the_discovery_document_gives_it(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    assert await verifier(web, jwks_url=None).verify(_token()) == ANN
    assert web.asked == [DISCOVERY, JWKS_URL]


async def test_nothing_is_fetched_before_a_token_needs_it(autojump_clock: MockClock) -> None:
    web = Web()
    checked = verifier(web)
    for bad in (
        "",
        "a.b.c",
        token(iss="https://evil.example"),
        token(aud="another"),
        token(exp=1),
        token(header={"crit": ["x"]}),
    ):
        assert await checked.verify(bad) == REFUSED
    assert web.asked == []


async def test_a_hundred_at_once_share_one_fetch(autojump_clock: MockClock) -> None:
    web, verdicts = Web(), list[Identity | Refusal]()
    web.takes_s = 1.0
    checked = verifier(web, jwks_url=None)

    async def one() -> None:
        verdicts.append(await checked.verify(_token()))

    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(one)
    assert verdicts == [ANN] * 100
    assert web.asked == [DISCOVERY, JWKS_URL]


async def test_a_hundred_at_once_share_one_failure(autojump_clock: MockClock) -> None:
    web, verdicts = Web(), list[Identity | Refusal]()
    web.takes_s, web.down = 1.0, True
    checked = verifier(web)

    async def one() -> None:
        verdicts.append(await checked.verify(_token()))

    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(one)
    assert verdicts == [OUTAGE] * 100
    assert web.asked == [JWKS_URL]


async def test_a_caller_that_leaves_does_not_end_the_fetch_of_others(
    autojump_clock: MockClock,
) -> None:
    web, verdicts = Web(), list[Identity | Refusal]()
    web.may_answer = trio.Event()
    checked = verifier(web)

    async def one(scope: trio.CancelScope) -> None:
        with scope:
            verdicts.append(await checked.verify(_token()))

    first, second = trio.CancelScope(), trio.CancelScope()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one, first)
        await wait_all_tasks_blocked()
        nursery.start_soon(one, second)
        await wait_all_tasks_blocked()
        first.cancel()
        await wait_all_tasks_blocked()
        web.may_answer.set()
    assert verdicts == [ANN]
    assert web.asked == [JWKS_URL]


async def test_keys_are_fetched_at_the_start_and_kept_fresh_without_a_token(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    checked = verifier(web, jwks_url=None)
    web.documents[DISCOVERY]["issuer"] = ISSUER + "/"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(checked.keep_keys)
        await wait_all_tasks_blocked()
        assert "differs by the slash at the end alone" in str(checked.fault)
        web.documents[DISCOVERY]["issuer"] = ISSUER
        await trio.sleep(REFETCH_S + 1)
        assert str(checked.fault) == "None"
        assert web.key_fetches == 1
        await trio.sleep(2 * FRESH_S)
        assert web.key_fetches == 3
        nursery.cancel_scope.cancel()


# Rotation, and the 30 seconds


async def test_a_new_key_is_found_when_a_token_names_it(autojump_clock: MockClock) -> None:
    web = Web()
    _publish(web, "first")
    checked = verifier(web)
    assert await checked.verify(_token()) == ANN
    await trio.sleep(REFETCH_S)
    _publish(web, "first", "second")
    assert await checked.verify(_token("second")) == ANN
    assert await checked.verify(_token("first")) == ANN
    assert web.key_fetches == 2


async def test_a_withdrawn_key_is_refused_once_the_new_set_is_known(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    _publish(web, "first")
    checked = verifier(web)
    assert await checked.verify(_token()) == ANN
    await trio.sleep(REFETCH_S)
    _publish(web, "second")
    assert await checked.verify(_token("second")) == ANN
    assert await checked.verify(_token("first")) == REFUSED


async def test_an_unknown_key_is_asked_for_at_most_every_30_seconds(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    checked = verifier(web)
    assert await checked.verify(_token()) == ANN
    for second in range(100):
        assert await checked.verify(token(header={"kid": f"unknown-{second}"}, exp=LONG)) == REFUSED
        await trio.sleep(1)
    assert web.key_fetches == 4
    assert (
        min(later - earlier for earlier, later in zip(web.asked_at, web.asked_at[1:], strict=False))
        >= 30
    )


async def test_a_key_published_within_the_30_seconds_is_found_only_after_them(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    _publish(web, "first")
    checked = verifier(web)
    assert await checked.verify(_token()) == ANN
    _publish(web, "first", "second")
    await trio.sleep(REFETCH_S - 0.1)
    assert await checked.verify(_token("second")) == REFUSED
    await trio.sleep(0.1)
    assert await checked.verify(_token("second")) == ANN


async def test_a_token_with_an_unknown_key_does_not_delay_tokens_with_known_keys(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    checked = verifier(web)
    assert await checked.verify(_token()) == ANN
    await trio.sleep(REFETCH_S)
    web.may_answer = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(checked.verify, _token("unknown"))
        await wait_all_tasks_blocked()
        with trio.fail_after(1):
            assert await checked.verify(_token()) == ANN
        web.may_answer.set()


async def test_a_token_without_a_kid_causes_no_fetches(autojump_clock: MockClock) -> None:
    web = Web()
    checked = verifier(web)
    assert await checked.verify(_token()) == ANN
    await trio.sleep(REFETCH_S)
    assert await checked.verify(token("ES256", "theirs", header={"kid": None})) == REFUSED
    assert web.key_fetches == 1


async def test_keys_are_fetched_again_after_five_minutes_while_the_old_ones_answer(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    _publish(web, "first")
    checked = verifier(web)
    assert await checked.verify(_token()) == ANN
    await trio.sleep(FRESH_S - 1)
    assert await checked.verify(_token()) == ANN
    assert web.key_fetches == 1
    _publish(web, "second")
    await trio.sleep(1)
    web.may_answer = trio.Event()
    assert await checked.verify(_token()) == ANN
    web.may_answer.set()
    await wait_all_tasks_blocked()
    assert web.key_fetches == 2
    assert await checked.verify(_token()) == REFUSED


# Outages


async def test_without_keys_a_token_with_valid_claims_is_answered_as_an_outage(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    web.down = True
    checked = verifier(web)
    assert await checked.verify(_token()) == OUTAGE
    assert await checked.verify(token("ES256", sub=None)) == REFUSED


async def test_the_issuer_is_tried_again_soon_while_there_are_no_keys(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    web.down = True
    checked = verifier(web)
    for _ in range(10):
        assert await checked.verify(_token()) == OUTAGE
    assert web.key_fetches == 1
    web.down = False
    await trio.sleep(RETRY_S)
    assert await checked.verify(_token()) == ANN
    assert web.key_fetches == 2


async def test_the_last_good_keys_serve_while_the_issuer_is_down(autojump_clock: MockClock) -> None:
    web = Web()
    checked = verifier(web, jwks_url=None)
    assert await checked.verify(_token()) == ANN
    web.down = True
    for _ in range(50):
        await trio.sleep(FRESH_S)
        assert await checked.verify(_token()) == ANN
        assert await checked.verify(_token("unknown")) == REFUSED
    web.down = False
    _publish(web, "second")
    await trio.sleep(REFETCH_S)
    assert await checked.verify(_token("second")) == ANN


async def test_an_issuer_that_is_down_is_asked_at_most_every_30_seconds(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    checked = verifier(web)
    assert await checked.verify(_token()) == ANN
    web.down = True
    await trio.sleep(FRESH_S)
    for _ in range(60):
        assert await checked.verify(_token()) == ANN
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
    assert await checked.verify(_token()) == ANN
    web.documents[JWKS_URL] = document
    await trio.sleep(REFETCH_S)
    assert await checked.verify(_token("unknown")) == REFUSED
    assert await checked.verify(_token()) == ANN
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
    assert await verifier(web, jwks_url=None).verify(_token()) == OUTAGE
    assert web.asked == [DISCOVERY]


async def test_keys_at_a_new_url_are_found_by_the_next_fetch(autojump_clock: MockClock) -> None:
    web = Web()
    checked = verifier(web, jwks_url=None)
    assert await checked.verify(_token()) == ANN
    web.documents = {
        DISCOVERY: {"issuer": ISSUER, "jwks_uri": "https://new.example.com/"},
        "https://new.example.com/": key_set(jwk("EdDSA")),
    }
    await trio.sleep(REFETCH_S)
    assert await checked.verify(token("EdDSA", "first", exp=LONG)) == ANN
    await trio.sleep(FRESH_S)
    await checked.verify(_token())
    await wait_all_tasks_blocked()
    assert await checked.verify(_token()) == REFUSED


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
