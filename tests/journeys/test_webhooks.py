"""Nudges from a match to a partner's endpoint: the whole service, and real TLS on loopback."""

import pytest
import trio

from pgs.actors.messages.account.webhooks import SaveWebhook
from pgs.actors.messages.courier import (
    SendTest,
)
from pgs.storage.attempts import Attempt
from tests.journeys.client import ok
from tests.journeys.partners import seat_body
from tests.journeys.places import Place
from tests.journeys.service import in_process, until
from tests.journeys.webhook_partner import (
    BUSY,
    GONE,
    NO_CONTENT,
    check_nudge,
    listening,
    served,
)
from tests.loopback import LoopbackNames
from tests.patience import PATIENCE_S


async def test_a_match_sends_nudges_at_its_start_at_its_end_and_for_its_payout(
    place: Place,
) -> None:
    async with listening() as endpoint, served(place, endpoint) as hooked:
        match_id = await hooked.play()
        await hooked.until_logged(3)
        assert len(endpoint.requests) == 3
        for request in endpoint.requests:
            check_nudge(request, hooked)
            assert match_id.encode() not in request
        assert [
            (a.match_id, a.try_number, a.delivered, a.status_code) for a in await hooked.attempts()
        ] == [(match_id, 1, True, 204)] * 3
        shown = await hooked.webhook()
        assert shown.keys() == {
            "url",
            "enabled",
            "consecutiveFailures",
            "createdAt",
            "secretRotatedAt",
            "disabledAt",
        }
        assert (
            shown["url"],
            shown["enabled"],
            shown["consecutiveFailures"],
            shown["disabledAt"],
        ) == (endpoint.url, True, 0, None)
        assert await hooked.webhook(hooked.partner.live) is None


async def test_an_endpoint_that_keeps_its_connections_gets_many_nudges_over_each(
    place: Place,
) -> None:
    async with listening() as endpoint, served(place, endpoint) as hooked:
        endpoint.keeps = True
        endpoint.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        for number in range(6):
            await hooked.play(number)
        await hooked.until_logged(18)
        for request in endpoint.requests:
            check_nudge(request, hooked)
        assert all(attempt.delivered for attempt in await hooked.attempts())
        assert len(endpoint.requests) == 18
        assert endpoint.connections < 18
        await until(lambda: endpoint.open == 0)  # nobody uses them any more


async def test_ten_failed_nudges_disable_the_webhook_also_after_a_restart(
    place: Place,
) -> None:
    async with listening() as endpoint:
        async with served(place, endpoint) as hooked:
            endpoint.answer = GONE
            for number in range(4):
                await hooked.play(number)

            async def is_disabled() -> bool:
                return (
                    len(await hooked.attempts()) >= 10
                    and not hooked.core.parts.registry.account("acme").webhook_on
                )

            await until(is_disabled)
            shown = await hooked.webhook()
            assert (shown["enabled"], shown["consecutiveFailures"]) == (False, 10)
            assert shown["disabledAt"] >= shown["createdAt"]
            await hooked.play(4)
        failed = len(endpoint.requests)
        assert failed in (10, 11, 12)  # tries in flight during the tenth failure may still arrive
        async with served(place, endpoint, hooked.partner, hooked.secret) as again:
            assert await again.webhook() == shown
            assert {a.response_body for a in await again.attempts()} == {"not here!"}
            await again.play(5)
            await again.account(SaveWebhook("ops", "test", endpoint.url))
            saved = await again.webhook()
            assert saved == shown | {"enabled": True, "consecutiveFailures": 0, "disabledAt": None}
            endpoint.answer = NO_CONTENT
            await again.play(6)
            await until(lambda: len(endpoint.requests) == failed + 3)
            check_nudge(endpoint.requests[-1], again)


async def test_a_redirect_is_not_followed_and_a_delivered_nudge_resets_the_failure_count(
    place: Place,
) -> None:
    async with listening() as endpoint, served(place, endpoint) as hooked:
        endpoint.answer = (
            b"HTTP/1.1 307 Temporary Redirect\r\nLocation: "
            + endpoint.url.encode()
            + b"\r\nContent-Length: 0\r\n\r\n"
        )
        await hooked.play()
        await hooked.until_logged(3)
        assert len(endpoint.requests) == 3
        assert (await hooked.webhook())["consecutiveFailures"] == 3
        endpoint.answer = NO_CONTENT
        attempt = await hooked.core.directory.partner("acme").courier("test").ask(SendTest())
        assert (
            attempt.delivered,
            attempt.test,
            (await hooked.webhook())["consecutiveFailures"],
        ) == (True, True, 3)
        check_nudge(endpoint.requests[-1], hooked)
        await hooked.play(1)
        await hooked.until_logged(7)
        assert (await hooked.webhook())["consecutiveFailures"] == 0


async def test_an_endpoint_without_a_public_address_is_never_connected_to(place: Place) -> None:
    """The real address rule: loopback is refused at each try, and the log says why."""
    async with listening() as endpoint:
        async with in_process(place, resolver=LoopbackNames()) as service:
            await service.partner()
            await service.account("acme", SaveWebhook("ops", "test", endpoint.url))
            attempt = await service.core.directory.partner("acme").courier("test").ask(SendTest())
        assert isinstance(attempt, Attempt)
        assert (attempt.delivered, attempt.status_code) == (False, None)
        assert attempt.error == "this webhook host does not resolve to a public address"
        assert endpoint.requests == []


@pytest.mark.slow  # real seconds: three tries take five
async def test_tries_reach_the_endpoint_after_0_1_and_5_seconds_with_the_same_bytes(
    place: Place,
) -> None:
    async with listening() as endpoint, served(place, endpoint) as hooked:
        endpoint.answer = BUSY
        seat = seat_body("alice", "a"), seat_body("bob", "b")
        for body in seat:
            ok(await hooked.client.call("POST", "/partner/matches", hooked.partner.test, body))
        await hooked.until_logged(3)
        first, second, third = endpoint.times
        assert 0.95 <= second - first < 3  # never early; late only by what the machine delays
        assert 4.95 <= third - first < 9
        (request,) = set(endpoint.requests)
        check_nudge(request, hooked)
        assert [(a.try_number, a.status_code) for a in await hooked.attempts()] == [
            (1, 503),
            (2, 503),
            (3, 503),
        ]
        assert (await hooked.webhook())["consecutiveFailures"] == 1


@pytest.mark.slow  # real seconds: two and five
@pytest.mark.parametrize(
    ("handshakes", "seconds", "error"),
    [(False, 2, "no connection within 2 seconds"), (True, 5, "no response within 5 seconds")],
)
async def test_a_try_at_an_endpoint_that_hangs_ends_after_its_seconds(
    place: Place, handshakes: bool, seconds: float, error: str
) -> None:
    async with listening() as endpoint, served(place, endpoint) as hooked:
        endpoint.answer, endpoint.handshakes = None, handshakes
        began = trio.current_time()
        attempt = await hooked.core.directory.partner("acme").courier("test").ask(SendTest())
        assert (
            seconds - 0.05 <= trio.current_time() - began < seconds + 2
        )  # never early; late only by what the machine delays
        assert (attempt.status_code, attempt.error) == (None, error)
        assert seconds * 1000 - 50 <= attempt.duration_ms < seconds * 1000 + 2000
        assert len(endpoint.requests) == handshakes


@pytest.mark.slow  # a try that hangs takes five seconds
async def test_a_stop_gives_hanging_tries_their_five_seconds_and_no_more(place: Place) -> None:
    async with listening() as endpoint:
        endpoint.answer = None
        with trio.fail_after(PATIENCE_S):
            async with served(place, endpoint) as hooked:
                await hooked.play()
                await until(lambda: len(endpoint.requests) == 3)
                stopped_at = trio.current_time()
        assert trio.current_time() - stopped_at < 10
        async with served(place, endpoint, hooked.partner, hooked.secret) as again:
            ended = [(a.try_number, a.status_code, a.error) for a in await again.attempts()]
            # A node hands the partner over first, and cuts its tries short with that.
            waited = 0 if place.is_among_nodes else 3
            assert ended == [(1, None, "no response within 5 seconds")] * waited
            assert (await again.webhook())[
                "consecutiveFailures"
            ] == 0  # no nudge had made its last try
            assert len(endpoint.requests) == 3
