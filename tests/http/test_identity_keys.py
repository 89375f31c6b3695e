"""The cache of the issuer's keys, on a virtual clock: when keys are fetched."""

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.domain.errors import Refusal
from pgs.http.identity.jwks import FRESH_S, REFETCH_S
from pgs.http.identity.tokens import Identity
from tests.http.identity import (
    ALGORITHMS,
    DISCOVERY,
    ISSUER,
    JWKS_URL,
    Web,
    token,
    verifier,
)
from tests.http.identity_keys import ANN, LONG, OUTAGE, REFUSED, mint_token, publish

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
    assert await verifier(web, jwks_url=None).verify(mint_token()) == ANN
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


async def test_a_hundred_tokens_at_once_share_one_fetch(autojump_clock: MockClock) -> None:
    web, verdicts = Web(), list[Identity | Refusal]()
    web.takes_s = 1.0
    checked = verifier(web, jwks_url=None)

    async def one() -> None:
        verdicts.append(await checked.verify(mint_token()))

    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(one)
    assert verdicts == [ANN] * 100
    assert web.asked == [DISCOVERY, JWKS_URL]


async def test_a_hundred_tokens_at_once_share_one_failure(autojump_clock: MockClock) -> None:
    web, verdicts = Web(), list[Identity | Refusal]()
    web.takes_s, web.down = 1.0, True
    checked = verifier(web)

    async def one() -> None:
        verdicts.append(await checked.verify(mint_token()))

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
            verdicts.append(await checked.verify(mint_token()))

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
        assert "differs only by the slash at the end" in str(checked.fault)
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
    publish(web, "first")
    checked = verifier(web)
    assert await checked.verify(mint_token()) == ANN
    await trio.sleep(REFETCH_S)
    publish(web, "first", "second")
    assert await checked.verify(mint_token("second")) == ANN
    assert await checked.verify(mint_token("first")) == ANN
    assert web.key_fetches == 2


async def test_a_withdrawn_key_is_refused_once_the_new_set_is_known(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    publish(web, "first")
    checked = verifier(web)
    assert await checked.verify(mint_token()) == ANN
    await trio.sleep(REFETCH_S)
    publish(web, "second")
    assert await checked.verify(mint_token("second")) == ANN
    assert await checked.verify(mint_token("first")) == REFUSED


async def test_an_unknown_key_is_asked_for_at_most_every_30_seconds(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    checked = verifier(web)
    assert await checked.verify(mint_token()) == ANN
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
    publish(web, "first")
    checked = verifier(web)
    assert await checked.verify(mint_token()) == ANN
    publish(web, "first", "second")
    await trio.sleep(REFETCH_S - 0.1)
    assert await checked.verify(mint_token("second")) == REFUSED
    await trio.sleep(0.1)
    assert await checked.verify(mint_token("second")) == ANN


async def test_a_token_with_an_unknown_key_does_not_delay_tokens_with_known_keys(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    checked = verifier(web)
    assert await checked.verify(mint_token()) == ANN
    await trio.sleep(REFETCH_S)
    web.may_answer = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(checked.verify, mint_token("unknown"))
        await wait_all_tasks_blocked()
        with trio.fail_after(1):
            assert await checked.verify(mint_token()) == ANN
        web.may_answer.set()


async def test_a_token_without_a_kid_causes_no_fetches(autojump_clock: MockClock) -> None:
    web = Web()
    checked = verifier(web)
    assert await checked.verify(mint_token()) == ANN
    await trio.sleep(REFETCH_S)
    assert await checked.verify(token("ES256", "theirs", header={"kid": None})) == REFUSED
    assert web.key_fetches == 1


async def test_keys_are_fetched_again_after_five_minutes_while_the_old_ones_answer(
    autojump_clock: MockClock,
) -> None:
    web = Web()
    publish(web, "first")
    checked = verifier(web)
    assert await checked.verify(mint_token()) == ANN
    await trio.sleep(FRESH_S - 1)
    assert await checked.verify(mint_token()) == ANN
    assert web.key_fetches == 1
    publish(web, "second")
    await trio.sleep(1)
    web.may_answer = trio.Event()
    assert await checked.verify(mint_token()) == ANN
    web.may_answer.set()
    await wait_all_tasks_blocked()
    assert web.key_fetches == 2
    assert await checked.verify(mint_token()) == REFUSED
