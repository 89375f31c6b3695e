"""A partner whose endpoint runs on loopback, and the checks of a nudge that reached it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import trio

from pgs.actors.messages.account.webhooks import SaveWebhook
from pgs.domain.nudges import verify_signature
from pgs.http.outbound.tries import Outbound
from pgs.storage.attempts import Attempt, attempts_before
from pgs.storage.columns import NEWEST
from pgs.storage.seats import find_match
from tests.http.internet import HOST, client_context, read_request, server_context
from tests.journeys.client import ok
from tests.journeys.partners import Partner, seat_body
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process, until
from tests.loopback import LOOPBACK, LoopbackNames

NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"


GONE = b"HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\nnot here!"


BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


class Endpoint:
    """A partner's endpoint. It answers requests with `answer`; if that is None, not at all.

    `keeps`: whether it leaves a connection open after its answer. `open` and `connections` count
    its connections, those at this moment and all.
    """

    def __init__(self, port: int) -> None:
        self.url = f"https://{HOST}:{port}/nudges?for=acme"
        self.answer: bytes | None = NO_CONTENT
        self.handshakes = True
        self.keeps = False
        self.open = self.connections = 0
        self.requests: list[bytes] = []
        self.times: list[float] = []

    async def serve(self, stream: trio.SocketStream) -> None:
        tls = trio.SSLStream[trio.abc.Stream](
            stream, server_context(), server_side=True, https_compatible=True
        )
        self.open += 1
        self.connections += 1
        with suppress(trio.BrokenResourceError):
            await self._answer(tls)
        self.open -= 1
        await trio.aclose_forcefully(tls)

    async def _answer(self, tls: trio.SSLStream[trio.abc.Stream]) -> None:
        began = trio.current_time()
        if not self.handshakes:
            await trio.sleep_forever()
        await tls.do_handshake()
        while request := await read_request(tls):
            self.requests.append(request)
            self.times.append(began)
            if self.answer is None:
                await trio.sleep_forever()
            else:
                await tls.send_all(self.answer)
            if not self.keeps:
                return
            began = trio.current_time()


class WebhookPartner:
    """A partner with a webhook in test, its endpoint, and a client of the service."""

    def __init__(self, service: Service, endpoint: Endpoint, partner: Partner, secret: str) -> None:
        self.service, self.client = service, service.public
        self.endpoint, self.partner, self.secret = endpoint, partner, secret

    @property
    def core(self) -> Any:
        """The core that owns the partner."""
        return self.service.core_of(self.partner.partner_id)

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
        return await self.service.account(self.partner.partner_id, command)


@asynccontextmanager
async def served(
    place: Place, endpoint: Endpoint, partner: Partner | None = None, secret: str = ""
) -> AsyncIterator[WebhookPartner]:
    """Run a service for a block. Without a given partner it gets a new one."""
    outbound = Outbound(client_context(), lambda address: address == LOOPBACK)
    async with in_process(place, outbound=outbound, resolver=LoopbackNames()) as service:
        if partner is None:
            partner = await service.partner()
            saved = await service.account("acme", SaveWebhook("ops", "test", endpoint.url))
            secret = saved.secret
        yield WebhookPartner(service, endpoint, partner, secret)


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
