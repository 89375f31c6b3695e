"""The courier: one partner's webhook endpoint in one environment, its run of failures, and the nudges on their way.

Deliveries are children that report every try as a message, so that counting stays serialized while several are in flight. A nudge that
is cut short, because the endpoint was saved anew, switched off or disabled, finishes the try that it is in and counts as nothing.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
import structlog
import trio

from pgs.actors.account.webhooks import webhook_context
from pgs.actors.activity_events import tell_of_attempt
from pgs.actors.kernel.mail import (
    LATER,
    Crashed,
    Degraded,
    Envelope,
    Message,
    Overloaded,
)
from pgs.actors.kernel.ref import Ref
from pgs.actors.messages.account.webhooks import DisableWebhook
from pgs.actors.messages.courier import (
    EndpointChanged,
    Nudge,
    NudgeCut,
    SendTest,
    TestDone,
    TryDone,
)
from pgs.actors.partners import PartnerActors
from pgs.actors.shared.deliveries import Flight
from pgs.domain import ids, nudges
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.sealed import open_sealed
from pgs.storage import attempts as log_rows
from pgs.storage import webhooks as rows
from pgs.storage.attempts import Attempt
from pgs.storage.reader import Reader
from pgs.storage.transactions import Outcome, Stmt, Tx, WriteFailed, WriterFull

IN_FLIGHT_LIMIT = 8
"""Nudges in flight to one endpoint, waits between tries included. An endpoint that hangs then holds
eight connections and no more."""

WAITING_LIMIT = 256
"""Nudges that wait behind those in flight. Further ones are merged with the last, which loses
nothing because a nudge carries nothing."""

TEST_EVERY_S = 10
"""Seconds between two test events for one endpoint, as the interface promises."""

HAND_IN_AGAIN_S = 1.0
"""Seconds until an outcome is offered again to a courier whose mailbox was full. By then it has
worked through many messages."""

log = structlog.get_logger("pgs.courier")


def seconds_until_test(reader: Reader, partner_id: str, environment: Environment, now: int) -> int:
    """Return the seconds after which a test event that was refused as too soon is worth another one: 1 to `TEST_EVERY_S`."""
    tested_at = log_rows.newest_test_at(reader, partner_id, environment, now - TEST_EVERY_S)
    return (
        TEST_EVERY_S
        if tested_at is None
        else min(max(1, tested_at + TEST_EVERY_S + 1 - now), TEST_EVERY_S)
    )


class CourierActor:
    """One webhook endpoint."""

    def __init__(self, partner: PartnerActors, environment: Environment) -> None:
        self._partner = partner
        self._parts = partner.parts
        self._partner_id = partner.partner_id
        self._environment: Environment = environment
        self._address = (partner.partner_id, environment)
        self._endpoint: rows.Endpoint | None = None
        self._secret: str | None = None
        self._revision: int | None = None  # the account's, when the endpoint was last looked at
        self._seq = 0
        self._tested_at_ms: int | None = None
        self._flights: dict[str, Flight] = {}
        self._waiting: OrderedDict[str, str] = OrderedDict()  # nudge id → match id

    async def load(self) -> None:
        """Read the endpoint and the log's last sequence from rows.

        What an earlier life sent is cut, since nobody would count it, and keeps its place in flight until it has landed.
        """
        self._flights = {
            flight.nudge_id: flight for flight in self._parts.deliveries.cut_short(self._address)
        }
        reader = self._parts.database.reader
        self._seq = log_rows.newest_seq(reader, self._partner_id, self._environment)
        tested_at = log_rows.newest_test_at(
            reader, self._partner_id, self._environment, self._parts.clock.now() - TEST_EVERY_S
        )
        under_way = self._parts.deliveries.tested_at_ms(self._address)
        self._tested_at_ms = (
            under_way if under_way is not None or tested_at is None else tested_at * 1000
        )
        self._read_endpoint()

    def _read_endpoint(self) -> None:
        self._revision = self._account_revision()
        self._endpoint = rows.find_endpoint(
            self._parts.database.reader, self._partner_id, self._environment
        )
        self._secret = None
        if self._endpoint is None:
            return
        secret = open_sealed(
            self._parts.ring,
            self._endpoint.sealed_secret,
            webhook_context(self._partner_id, self._environment),
        )
        if (
            secret is None
        ):  # nothing can be signed, which is no reason for the partner's other actors to rest
            self._parts.on_event("webhook_secret_unreadable")
            log.error(
                "webhook_secret_unreadable",
                partner_id=self._partner_id,
                environment=self._environment,
            )
        else:
            self._secret = secret.decode()
        self._stop_if_failing()

    async def receive(self, message: Message, envelope: Envelope) -> object:
        """Handle a message, knowing every change that the account has published: a resting partner's courier cannot be told of one."""
        if self._account_revision() != self._revision:
            self._changed()
        return await _HANDLERS[type(message)](self, message, envelope)

    def _account_revision(self) -> int | None:
        account = self._parts.registry.account(self._partner_id)
        return None if account is None else account.revision

    # --- nudges --------------------------------------------------------------------------------------------------------------

    async def _nudge(self, message: Nudge, _: Envelope) -> None:
        if not self._may_send():
            self._stop_if_failing()  # should the account have had no ear for it before
        elif len(self._waiting) < WAITING_LIMIT:
            self._waiting[self._parts.new_id(ids.NUDGE)] = message.match_id
            self._start_waiting()
        else:
            newest = next(reversed(self._waiting))
            self._waiting[newest] = message.match_id
            self._parts.on_event("nudge_merged")
            log.info(
                "nudge_merged",
                partner_id=self._partner_id,
                environment=self._environment,
                nudge_id=newest,
            )

    def _may_send(self) -> bool:
        account = self._parts.registry.account(self._partner_id)
        endpoint = self._endpoint
        return (
            endpoint is not None
            and endpoint.enabled
            and endpoint.consecutive_failures < nudges.FAILURES_TO_DISABLE
            and self._secret is not None
            and account is not None
            and account.active
            and self._environment in account.webhook_on
        )

    def _start_waiting(self) -> None:
        while self._waiting and len(self._flights) < IN_FLIGHT_LIMIT and self._may_send():
            if self._endpoint is None or self._secret is None:
                return
            flight = Flight(*self._waiting.popitem(last=False), self._address)
            self._flights[flight.nudge_id] = flight
            self._parts.deliveries.add(flight)
            self._parts.system.spawn(self._deliver, flight, self._endpoint.url, self._secret)

    async def _deliver(self, flight: Flight, url: str, secret: str) -> None:
        end: TryDone | NudgeCut = NudgeCut(flight.nudge_id)
        try:
            try:
                end = await self._make_tries(flight, url, secret)
            except Exception as error:  # a fault of ours says nothing of the endpoint, and keeps no place in flight
                self._parts.system.report(
                    "delivery_broke",
                    error,
                    partner_id=self._partner_id,
                    environment=self._environment,
                )
            await self._hand_in(end)
        finally:
            self._parts.deliveries.discard(flight)

    async def _make_tries(self, flight: Flight, url: str, secret: str) -> TryDone | NudgeCut:
        """Return what ended the nudge: its last try, or that it was cut. Tries before the last are told on the way."""
        began, at = trio.current_time(), self._parts.clock.now()
        body = nudges.nudge_body(self._partner_id, at)
        headers = {nudges.SIGNATURE_HEADER: nudges.signature_header(secret, at, body)}
        number, due = 0, began
        while True:
            with trio.move_on_at(due):
                await flight.cut.wait()
            if flight.cut.is_set():
                return NudgeCut(flight.nudge_id)
            number, tried_at = number + 1, self._parts.clock.now()
            outcome = await self._parts.outbound.post(url, body, headers)
            verdict = nudges.verdict(outcome)
            next_due = (
                nudges.next_try_due(began, number, trio.current_time())
                if verdict == "retry"
                else None
            )
            last = next_due is None
            done = TryDone(
                flight.nudge_id,
                flight.match_id,
                number,
                tried_at,
                outcome,
                verdict == "delivered",
                last=last,
            )
            if next_due is None:
                return done
            due = next_due
            self._courier().tell(done)

    async def _hand_in(self, end: TryDone | NudgeCut) -> None:
        """Return once the courier has dealt with the end of a nudge, on which the run of failures and a place in flight depend."""
        while True:
            try:
                return await self._courier().ask(end, math.inf)
            except (Overloaded, Degraded):
                pass
            except Crashed:  # it ended that life of the courier, and from the next one this nudge has but its place to give back
                end = NudgeCut(end.nudge_id)
            if self._parts.deliveries.draining:
                return
            await trio.sleep(HAND_IN_AGAIN_S)

    def _courier(self) -> Ref:
        return self._partner.courier(self._environment)

    async def _try_done(self, done: TryDone, _: Envelope) -> None:
        flight = self._flights.get(done.nudge_id)
        try:
            await self._record(done, counts=done.last and flight is not None and flight.counts)
        except WriterFull as error:
            if done.last:
                raise  # it is handed in again
            self._not_logged(error)
        except WriteFailed as error:
            self._not_logged(error)
        if done.last:
            self._landed(done.nudge_id)

    def _not_logged(self, error: Exception) -> None:
        self._parts.system.report(
            "attempt_not_logged", error, partner_id=self._partner_id, environment=self._environment
        )

    async def _nudge_cut(self, message: NudgeCut, _: Envelope) -> None:
        self._landed(message.nudge_id)

    def _landed(self, nudge_id: str) -> None:
        flight = self._flights.pop(nudge_id, None)
        if flight is not None:  # at once, lest the next life finds it before its own task has run
            self._parts.deliveries.discard(flight)
        self._start_waiting()

    async def _record(self, done: TryDone, *, counts: bool) -> Attempt:
        """Return the try as logged, its count in the same transaction. Raises `Crashed` and what the writer raises."""
        attempt = self._attempt(done)
        stmts: list[Stmt] = [log_rows.insert_attempt(self._partner_id, self._environment, attempt)]
        endpoint, after, disables = self._endpoint, None, False
        if counts and endpoint is not None:
            failures, disables = nudges.after_delivery(
                endpoint.consecutive_failures, done.delivered
            )
            if failures != endpoint.consecutive_failures:
                after = msgspec.structs.replace(endpoint, consecutive_failures=failures)
                stmts.append(
                    rows.set_failures(
                        self._partner_id, self._environment, endpoint.saved_seq, failures
                    )
                )
        if (
            await self._parts.database.writer.submit(Tx(self._partner_id, tuple(stmts)))
            is Outcome.CONFLICT
        ):
            if after is None:
                raise Crashed("the attempt log was written past its courier")
            # The URL was saved or switched off while this was on its way: the try counts as nothing.
            self._changed()
            return await self._record(done, counts=False)
        self._seq = attempt.seq
        self._parts.on_event("nudge_try_delivered" if attempt.delivered else "nudge_try_failed")
        tell_of_attempt(self._parts, self._partner_id, self._environment, attempt)
        if after is not None:
            self._endpoint = after
        if disables:
            self._parts.on_event("webhook_disabled")
            log.warning(
                "webhook_disabled", partner_id=self._partner_id, environment=self._environment
            )
            self._stop_if_failing()
        return attempt

    def _attempt(self, done: TryDone) -> Attempt:
        return Attempt(
            seq=self._seq + 1,
            attempt_id=self._parts.new_id(ids.ATTEMPT),
            nudge_id=done.nudge_id,
            at=done.tried_at,
            try_number=done.number,
            delivered=done.delivered,
            status_code=done.outcome.status,
            duration_ms=done.outcome.duration_ms,
            response_body=done.outcome.response_body,
            match_id=done.match_id,
            test=done.test,
            error=done.outcome.error,
        )

    # --- the endpoint ----------------------------------------------------------------------------------------------------------

    def _stop_if_failing(self) -> None:
        """Stop sending after the tenth failure in a row, and have the account record it with its event."""
        endpoint = self._endpoint
        if (
            endpoint is None
            or not endpoint.enabled
            or endpoint.consecutive_failures < nudges.FAILURES_TO_DISABLE
        ):
            return
        self._cut_all()
        self._partner.account().tell(
            DisableWebhook(PLATFORM, self._environment, endpoint.saved_seq)
        )

    async def _endpoint_changed(self, message: EndpointChanged, _: Envelope) -> None:
        self._changed()

    def _changed(self) -> None:
        """Look at the endpoint's row anew. A new secret alone cuts nothing: what is in flight keeps its bytes."""
        was = self._endpoint
        self._read_endpoint()
        now = self._endpoint
        if was is None or now is None or was.saved_seq != now.saved_seq or not self._may_send():
            self._cut_all()

    def _cut_all(self) -> None:
        self._waiting.clear()
        for flight in self._flights.values():
            flight.cut_short()

    # --- test events -----------------------------------------------------------------------------------------------------------

    async def _send_test(self, command: SendTest, envelope: Envelope) -> object:
        if command.if_revision not in (None, self._account_revision()):
            return refuse("partner_changed")
        refusal = self._no_test()
        if refusal is not None or self._endpoint is None:
            return refusal
        if self._secret is None:
            raise Crashed("the webhook's secret does not open with the keys on the ring")
        if self._parts.deliveries.draining:
            raise Overloaded("stopping")
        self._tested_at_ms = self._parts.clock.now_ms()
        flight = Flight(self._parts.new_id(ids.NUDGE), None, self._address, self._tested_at_ms)
        self._parts.deliveries.add(flight)
        self._parts.system.spawn(
            self._deliver_test, flight, self._endpoint.url, self._secret, envelope
        )
        return LATER

    def _no_test(self) -> Refusal | None:
        if self._endpoint is None:
            return refuse("webhook_not_configured")
        if (
            not self._endpoint.enabled
            or self._endpoint.consecutive_failures >= nudges.FAILURES_TO_DISABLE
        ):
            return refuse("webhook_not_enabled")
        account = self._parts.registry.account(self._partner_id)
        if account is None or not account.active:
            return refuse("account_inactive")
        if (
            self._tested_at_ms is not None
            and self._parts.clock.now_ms() - self._tested_at_ms < TEST_EVERY_S * 1000
        ):
            return refuse("test_event_too_soon")
        return None

    async def _deliver_test(
        self, flight: Flight, url: str, secret: str, envelope: Envelope
    ) -> None:
        at = self._parts.clock.now()
        body = nudges.nudge_body(self._partner_id, at)
        try:
            outcome = await self._parts.outbound.post(
                url, body, {nudges.SIGNATURE_HEADER: nudges.signature_header(secret, at, body)}
            )
            delivered = nudges.verdict(outcome) == "delivered"
            done = TryDone(flight.nudge_id, None, 1, at, outcome, delivered, last=True, test=True)
            envelope.answer(await self._courier().ask(TestDone(done), math.inf))
        except (Overloaded, Crashed):
            envelope.fail(Crashed("the test event was sent and could not be logged"))
        finally:
            envelope.fail(
                Crashed("the test event broke")
            )  # unless it was answered: nobody is left waiting
            self._parts.deliveries.discard(flight)

    async def _test_done(self, message: TestDone, _: Envelope) -> Attempt:
        return await self._record(message.done, counts=False)


_Handler = Callable[[CourierActor, Any, Envelope], Awaitable[object]]

_HANDLERS: Mapping[type, _Handler] = {
    Nudge: CourierActor._nudge,
    TryDone: CourierActor._try_done,
    NudgeCut: CourierActor._nudge_cut,
    EndpointChanged: CourierActor._endpoint_changed,
    SendTest: CourierActor._send_test,
    TestDone: CourierActor._test_done,
}
