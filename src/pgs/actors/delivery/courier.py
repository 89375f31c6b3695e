"""The courier: sends the nudges to one partner's webhook endpoint in one environment.

It queues nudges and keeps a limited number of them in flight. Each nudge has a task that delivers
it and reports every try as a message, so that tries are logged and counted one at a time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import ClassVar

import structlog
from msgspec.structs import replace

from pgs.actors.delivery.attempt_log import AttemptLog
from pgs.actors.delivery.endpoint import KnownEndpoint, read_endpoint
from pgs.actors.delivery.lone_tries import (
    deliver_lone_try,
    newest_test_ms,
    refuse_lone_try,
    refuse_test,
)
from pgs.actors.delivery.nudge_task import NudgeTask
from pgs.actors.kernel.dispatch import DispatchingActor, Handler
from pgs.actors.kernel.mail import LATER, Crashed, Envelope, Message, Overloaded
from pgs.actors.messages.account.webhooks import DisableWebhook
from pgs.actors.messages.courier import (
    EndpointChanged,
    LoneTryDone,
    Nudge,
    NudgeCut,
    Resend,
    SendTest,
    TryDone,
)
from pgs.actors.partners import PartnerActors
from pgs.actors.shared.deliveries import Flight
from pgs.domain import ids
from pgs.domain.accounts import Account
from pgs.domain.environments import Environment
from pgs.domain.errors import refuse
from pgs.domain.members import PLATFORM
from pgs.storage.attempts import Attempt
from pgs.storage.transactions import WriteFailed, WriterFull

IN_FLIGHT_LIMIT = 8
"""Nudges in flight to one endpoint. A nudge that waits for its next try counts as in flight. So an
endpoint that hangs holds at most eight connections, besides those of test events and resent
nudges."""

WAITING_LIMIT = 256
"""Nudges that wait behind those in flight. Further ones are merged with the last, which loses
nothing because a nudge does not say what is new."""

log = structlog.get_logger("pgs.courier")


class CourierActor(DispatchingActor):
    """The courier of one webhook endpoint. Its queue is in memory and ends with the courier."""

    def __init__(self, partner: PartnerActors, environment: Environment) -> None:
        self._partner = partner
        self._parts = partner.parts
        self._partner_id = partner.partner_id
        self._environment: Environment = environment
        self._address = (partner.partner_id, environment)
        self._attempts = AttemptLog(partner.parts, partner.partner_id, environment)
        self._endpoint: KnownEndpoint | None = None
        # The account's revision when the endpoint was read.
        self._read_at_revision: int | None = None
        self._tested_at_ms: int | None = None
        self._waiting: OrderedDict[str, str] = OrderedDict()  # match id by nudge id, oldest first
        self._flights: dict[str, Flight] = {}  # by nudge id

    async def load(self) -> None:
        """Read the endpoint and the newest entries of the attempt log from rows.

        A courier that loads again may have missed an outcome or a change of the endpoint. So nudges
        that are still in flight are cut short: their outcomes do not change the count of failures.
        Such a nudge keeps its in-flight slot until the courier has handled the nudge's end.
        """
        self._waiting.clear()
        self._flights = {
            flight.nudge_id: flight for flight in self._parts.deliveries.cut_short(self._address)
        }
        await self._attempts.load()
        if self._tested_at_ms is None:
            self._tested_at_ms = await newest_test_ms(self._parts, *self._address)
        await self._read_endpoint()

    async def receive(self, message: Message, envelope: Envelope) -> object:
        """Read the endpoint again if the account has changed, then return the handler's reply.

        The account actor also reports its changes. But a report is lost while the partner is
        degraded, so the courier checks for itself before it handles a message.
        """
        if self._account_revision() != self._read_at_revision:
            await self._follow_endpoint()
        return await super().receive(message, envelope)

    # --- nudges -----------------------------------------------------------------------------------

    async def _nudge(self, message: Nudge, envelope: Envelope) -> None:
        if not self._may_send():
            # The account actor may have missed the message that disables the endpoint: repeat it.
            self._stop_if_failing()
        elif len(self._waiting) < WAITING_LIMIT:
            self._waiting[self._parts.new_id(ids.NUDGE)] = message.match_id
            self._start_waiting()
        else:
            self._merge_with_newest(message.match_id)

    def _merge_with_newest(self, match_id: str) -> None:
        nudge_id = next(reversed(self._waiting))
        self._waiting[nudge_id] = match_id
        self._parts.on_event("nudge_merged")
        log.info(
            "nudge_merged",
            partner_id=self._partner_id,
            environment=self._environment,
            nudge_id=nudge_id,
        )

    def _start_waiting(self) -> None:
        """Send waiting nudges, the oldest first, until all in-flight slots are taken."""
        while self._waiting and len(self._flights) < IN_FLIGHT_LIMIT and self._may_send():
            endpoint = self._endpoint
            if endpoint is None or endpoint.secret is None:
                return
            nudge_id, match_id = self._waiting.popitem(last=False)
            flight = Flight(nudge_id, match_id, self._address)
            self._flights[nudge_id] = flight
            self._parts.deliveries.add(flight)
            task = NudgeTask(
                self._partner,
                self._environment,
                flight,
                url=endpoint.row.url,
                secret=endpoint.secret,
            )
            self._partner.spawn(task.run)

    def _may_send(self) -> bool:
        account, endpoint = self._account(), self._endpoint
        return (
            endpoint is not None
            and endpoint.is_on
            and endpoint.secret is not None
            and account is not None
            and account.active
            and self._environment in account.webhook_on
        )

    async def _try_done(self, done: TryDone, envelope: Envelope) -> None:
        flight = self._flights.get(done.nudge_id)
        try:
            await self._record(done, counts=done.last and flight is not None and flight.counts)
        except WriterFull as error:
            if done.last:
                raise  # the nudge's task sends the outcome again
            self._report_unlogged(error)
        except WriteFailed as error:
            self._report_unlogged(error)
        if done.last:
            self._free_slot(done.nudge_id)

    async def _nudge_cut(self, message: NudgeCut, envelope: Envelope) -> None:
        self._free_slot(message.nudge_id)

    def _free_slot(self, nudge_id: str) -> None:
        flight = self._flights.pop(nudge_id, None)
        if flight is not None:
            # Do not leave this to the nudge's task: the courier may break and load its rows again
            # before that task runs. It would then count this nudge as one in flight.
            self._parts.deliveries.discard(flight)
        self._start_waiting()

    # --- outcomes ---------------------------------------------------------------------------------

    async def _record(self, done: TryDone, *, counts: bool) -> Attempt:
        """Log a try and return it as logged.

        With `counts`, the same transaction writes the new count of failures in a row. Raises
        `Stale` and what the writer raises.
        """
        endpoint = self._endpoint if counts else None
        recorded = await self._attempts.record(done, None if endpoint is None else endpoint.row)
        if endpoint is not None and recorded.endpoint is not None:
            self._endpoint = replace(endpoint, row=recorded.endpoint)
            if self._endpoint.has_failed_too_often:
                self._report_disabled()
                self._stop_if_failing()
        return recorded.attempt

    def _report_disabled(self) -> None:
        self._parts.on_event("webhook_disabled")
        log.warning("webhook_disabled", partner_id=self._partner_id, environment=self._environment)

    def _report_unlogged(self, error: Exception) -> None:
        self._parts.system.report(
            "attempt_not_logged", error, partner_id=self._partner_id, environment=self._environment
        )

    # --- the endpoint -----------------------------------------------------------------------------

    async def _endpoint_changed(self, message: EndpointChanged, envelope: Envelope) -> None:
        await self._follow_endpoint()

    async def _follow_endpoint(self) -> None:
        """Read the endpoint again. If it was saved again or is off, cut its nudges short.

        If only the secret is new, the nudges in flight keep their signature.
        """
        before = self._endpoint
        await self._read_endpoint()
        after = self._endpoint
        saved_again = before is None or after is None or before.row.saved_seq != after.row.saved_seq
        if saved_again or not self._may_send():
            self._cut_all()

    async def _read_endpoint(self) -> None:
        self._read_at_revision = self._account_revision()
        self._endpoint = await read_endpoint(self._parts, *self._address)
        self._stop_if_failing()

    def _stop_if_failing(self) -> None:
        """After too many failures in a row, stop sending and have the endpoint switched off."""
        endpoint = self._endpoint
        if endpoint is None or not endpoint.has_failed_too_often:
            return
        self._cut_all()
        self._partner.account().tell(
            DisableWebhook(PLATFORM, self._environment, endpoint.row.saved_seq)
        )

    def _cut_all(self) -> None:
        self._waiting.clear()
        for flight in self._flights.values():
            flight.cut_short()

    def _account(self) -> Account | None:
        return self._parts.registry.account(self._partner_id)

    def _account_revision(self) -> int | None:
        account = self._account()
        return None if account is None else account.revision

    # --- what members send ------------------------------------------------------------------------

    async def _send_test(self, command: SendTest, envelope: Envelope) -> object:
        if command.if_revision not in (None, self._account_revision()):
            return refuse("partner_changed")
        now, tested = self._parts.clock.now_ms(), self._tested_at_ms
        since = None if tested is None else now - tested
        refusal = refuse_test(self._endpoint, self._account(), since)
        if refusal is not None:
            return refusal
        return self._begin_lone_try(None, now, envelope)

    async def _resend(self, command: Resend, envelope: Envelope) -> object:
        refusal = refuse_lone_try(self._endpoint, self._account())
        if refusal is not None:
            return refusal
        reply = self._begin_lone_try(command.match_id, None, envelope)
        self._parts.on_event("nudge_resent")
        return reply

    def _begin_lone_try(
        self, match_id: str | None, tested_at_ms: int | None, envelope: Envelope
    ) -> object:
        """Start a lone try, whose outcome answers `envelope`; return `LATER`.

        `tested_at_ms`: the present time if a test event is sent, None if a nudge is sent again.
        """
        endpoint = self._endpoint
        if endpoint is None or endpoint.secret is None:
            raise Crashed("the webhook's secret does not open with the keys on the ring")
        if self._parts.deliveries.draining:
            raise Overloaded("stopping")
        if tested_at_ms is not None:
            self._tested_at_ms = tested_at_ms
        nudge_id = self._parts.new_id(ids.NUDGE)
        flight = Flight(nudge_id, match_id, self._address, tested_at_ms, is_lone=True)
        self._parts.deliveries.add(flight)
        self._partner.spawn(
            deliver_lone_try,
            self._partner,
            self._environment,
            flight,
            endpoint.row.url,
            endpoint.secret,
            envelope,
        )
        return LATER

    async def _lone_try_done(self, message: LoneTryDone, envelope: Envelope) -> Attempt:
        return await self._record(message.done, counts=False)

    HANDLERS: ClassVar[Mapping[type[Message], Handler]] = {
        Nudge: _nudge,
        TryDone: _try_done,
        NudgeCut: _nudge_cut,
        EndpointChanged: _endpoint_changed,
        SendTest: _send_test,
        Resend: _resend,
        LoneTryDone: _lone_try_done,
    }
