"""Nudges from a match to a partner's endpoint: the whole service, and real TLS on loopback."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.actors.messages.account.webhooks import SaveWebhook
from pgs.actors.messages.courier import (
    SendTest,
)
from pgs.domain.nudges import verify_signature
from pgs.http.outbound.tries import Outbound
from pgs.serve import running
from pgs.storage.attempts import NEWEST, Attempt, attempts_before
from pgs.storage.seats import find_match
from tests.http.internet import HOST, client_context, read_request, server_context
from tests.journeys.client import PATIENCE_S, Client, ok
from tests.journeys.partners import Partner, account, make_partner, make_tiers, seat_body
from tests.journeys.service import config_for, until

LOOPBACK = "127.0.0.1"
NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"
GONE = b"HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\nnot here!"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


class Loopback(trio.abc.HostnameResolver):
    """A resolver that resolves every name to this machine."""

    async def getaddrinfo(
        self,
        host: bytes | None,
        port: object,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        return [(trio.socket.AF_INET, trio.socket.SOCK_STREAM, 6, "", (LOOPBACK, port))]

    async def getnameinfo(self, sockaddr: object, flags: int) -> tuple[str, str]:
        raise AssertionError("nobody asks for names")


class Endpoint:
    """A partner's endpoint. It answers requests with `answer`; if that is None, not at all."""

    def __init__(self, port: int) -> None:
        self.url = f"https://{HOST}:{port}/nudges?for=acme"
        self.answer: bytes | None = NO_CONTENT
        self.handshakes = True
        self.requests: list[bytes] = []
        self.times: list[float] = []

    async def serve(self, stream: trio.SocketStream) -> None:
        tls = trio.SSLStream[trio.abc.Stream](
            stream, server_context(), server_side=True, https_compatible=True
        )
        with suppress(trio.BrokenResourceError):
            began = trio.current_time()
            if not self.handshakes:
                await trio.sleep_forever()
            await tls.do_handshake()
            self.requests.append(await read_request(tls))
            self.times.append(began)
            if self.answer is None:
                await trio.sleep_forever()
            else:
                await tls.send_all(self.answer)
        await trio.aclose_forcefully(tls)


class WebhookPartner:
    """A partner with a webhook in test, its endpoint, and a client of the service."""

    def __init__(
        self, core: Any, client: Client, endpoint: Endpoint, partner: Partner, secret: str
    ) -> None:
        self.core, self.client, self.endpoint, self.partner, self.secret = (
            core,
            client,
            endpoint,
            partner,
            secret,
        )

    async def play(self, number: int = 0) -> str:
        """Play a match until its payout is recorded; return its id."""
        match_id = ""
        for player in ("alice", "bob"):
            seat = ok(
                await self.client.call(
                    "POST",
                    "/partner/matches",
                    self.partner.test,
                    seat_body(player, f"{player}-{number}"),
                )
            )
            match_id = seat["matchId"]
        body = {"outcome": "ended", "winnerPlayerId": "alice"}
        ok(
            await self.client.call(
                "POST", f"/partner/test/matches/{match_id}/decide", self.partner.test, body
            )
        )

        async def is_settled() -> bool:
            found = await find_match(
                self.core.parts.database.reader, self.partner.partner_id, match_id
            )
            return found is not None and found.money == "recorded"

        await until(is_settled)
        return match_id

    async def webhook(self, key: str = "") -> Any:
        """Return the endpoint as `GET me` shows it, or None."""
        return ok(await self.client.call("GET", "/partner/me", key or self.partner.test)).get(
            "webhook"
        )

    async def until_logged(self, tries: int) -> None:
        """Return once the attempt log has `tries` tries."""

        async def is_logged() -> bool:
            return len(await self.attempts()) == tries

        await until(is_logged)

    async def attempts(self) -> list[Attempt]:
        """Return the attempt log, the oldest first."""
        reader = self.core.parts.database.reader
        return (await attempts_before(reader, self.partner.partner_id, "test", NEWEST, 0, 1000))[
            ::-1
        ]

    async def account(self, command: Any) -> Any:
        """Return the account's reply to a command."""
        return await account(self.core, self.partner.partner_id, command)


@asynccontextmanager
async def served(
    folder: Path, endpoint: Endpoint, partner: Partner | None = None, secret: str = ""
) -> AsyncIterator[WebhookPartner]:
    """Run a service for a block. Without a given partner it gets a new one."""
    outbound = Outbound(client_context(), lambda address: address == LOOPBACK)
    client = None
    try:
        async with running(config_for(folder), outbound=outbound, resolver=Loopback()) as service:
            client = Client(service.base_url)
            if partner is None:
                await make_tiers(service.core)
                partner = await make_partner(service.core, "acme")
                saved = await account(
                    service.core, "acme", SaveWebhook("ops", "test", endpoint.url)
                )
                secret = saved.secret
            yield WebhookPartner(service.core, client, endpoint, partner, secret)
    finally:
        if client is not None:
            with trio.CancelScope(shield=True):
                await client.aclose()


@asynccontextmanager
async def listening() -> AsyncIterator[Endpoint]:
    """Run an endpoint for a block."""
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host=LOOPBACK)
        endpoint = Endpoint(listener.socket.getsockname()[1])
        nursery.start_soon(trio.serve_listeners, endpoint.serve, [listener])
        yield endpoint
        nursery.cancel_scope.cancel()


def check_nudge(request: bytes, hooked: WebhookPartner) -> None:
    """Check that a received request has the documented form of a nudge."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    assert first == "POST /nudges?for=acme HTTP/1.1"
    assert headers["host"] == hooked.endpoint.url.split("/")[2]
    assert headers["content-type"] == "application/json"
    record = json.loads(body)
    assert list(record) == ["type", "partnerId", "at"]
    assert (record["type"], record["partnerId"]) == ("results.available", "acme")
    assert body == json.dumps(record, separators=(",", ":")).encode()
    signature = headers["x-service-signature"]
    assert signature.startswith(f"t={record['at']},v1=")
    assert verify_signature(hooked.secret, signature, body, hooked.core.parts.clock.now())
    assert not verify_signature(
        hooked.secret, signature, body + b" ", hooked.core.parts.clock.now()
    )


async def test_a_match_sends_nudges_at_its_start_at_its_end_and_for_its_payout(
    tmp_path: Path,
) -> None:
    async with listening() as endpoint, served(tmp_path, endpoint) as hooked:
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


async def test_ten_failed_nudges_disable_the_webhook_also_after_a_restart(
    tmp_path: Path,
) -> None:
    async with listening() as endpoint:
        async with served(tmp_path, endpoint) as hooked:
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
        async with served(tmp_path, endpoint, hooked.partner, hooked.secret) as again:
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
    tmp_path: Path,
) -> None:
    async with listening() as endpoint, served(tmp_path, endpoint) as hooked:
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


async def test_an_endpoint_without_a_public_address_is_never_connected_to(tmp_path: Path) -> None:
    """The real address rule: loopback is refused at each try, and the log says why."""
    async with listening() as endpoint:
        async with running(config_for(tmp_path), resolver=Loopback()) as service:
            await make_tiers(service.core)
            await make_partner(service.core, "acme")
            await account(service.core, "acme", SaveWebhook("ops", "test", endpoint.url))
            attempt = await service.core.directory.partner("acme").courier("test").ask(SendTest())
        assert isinstance(attempt, Attempt)
        assert (attempt.delivered, attempt.status_code) == (False, None)
        assert attempt.error == "this webhook host does not resolve to a public address"
        assert endpoint.requests == []


@pytest.mark.slow  # real seconds: three tries take five
async def test_tries_reach_the_endpoint_after_0_1_and_5_seconds_with_the_same_bytes(
    tmp_path: Path,
) -> None:
    async with listening() as endpoint, served(tmp_path, endpoint) as hooked:
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
    tmp_path: Path, handshakes: bool, seconds: float, error: str
) -> None:
    async with listening() as endpoint, served(tmp_path, endpoint) as hooked:
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
async def test_a_stop_gives_hanging_tries_their_five_seconds_and_no_more(tmp_path: Path) -> None:
    async with listening() as endpoint:
        endpoint.answer = None
        with trio.fail_after(PATIENCE_S):
            async with served(tmp_path, endpoint) as hooked:
                await hooked.play()
                await until(lambda: len(endpoint.requests) == 3)
                stopped_at = trio.current_time()
        assert trio.current_time() - stopped_at < 10
        async with served(tmp_path, endpoint, hooked.partner, hooked.secret) as again:
            assert [(a.try_number, a.status_code, a.error) for a in await again.attempts()] == [
                (1, None, "no response within 5 seconds")
            ] * 3
            assert (await again.webhook())[
                "consecutiveFailures"
            ] == 0  # no nudge had made its last try
            assert len(endpoint.requests) == 3
