"""The task that delivers one nudge."""

import math

import trio

from pgs.actors.kernel.mail import Crashed, Degraded, Overloaded
from pgs.actors.kernel.ref import Ref
from pgs.actors.messages.courier import NudgeCut, TryDone
from pgs.actors.partners import PartnerActors
from pgs.actors.shared.deliveries import Flight
from pgs.domain import nudges
from pgs.domain.environments import Environment

HAND_IN_AGAIN_S = 1.0
"""Seconds until an outcome that the courier could not take is sent again. In that time a courier
whose mailbox was full handles many messages."""


class NudgeTask:
    """Makes the tries of one nudge and reports each of them to the courier.

    Only the courier logs tries and counts failures in a row. It handles one message at a time,
    however many nudges are in flight.

    When this node gives the partner up, the task is cancelled at any point, even during a try.
    """

    def __init__(
        self,
        partner: PartnerActors,
        environment: Environment,
        flight: Flight,
        *,
        url: str,
        secret: str,
    ) -> None:
        self._partner = partner
        self._parts = partner.parts
        self._environment: Environment = environment
        self._flight = flight
        self._url = url
        self._secret = secret

    async def run(self) -> None:
        """Deliver the nudge; return once the courier knows how it ended, or the service stops."""
        try:
            await self._hand_in(await self._deliver())
        finally:
            self._parts.deliveries.discard(self._flight)

    async def _deliver(self) -> TryDone | NudgeCut:
        """Return how the nudge ended. An error of the service cuts it short."""
        try:
            return await self._make_tries()
        except Exception as error:
            # This error says nothing about the endpoint, so it must not count as a failure.
            self._parts.system.report(
                "delivery_broke",
                error,
                partner_id=self._partner.partner_id,
                environment=self._environment,
            )
            return NudgeCut(self._flight.nudge_id)

    async def _make_tries(self) -> TryDone | NudgeCut:
        """Return the last try, or `NudgeCut` if the nudge was cut short before its last try.

        All tries send the same bytes. Each try before the last one is reported to the courier when
        it ends.
        """
        parts, flight = self._parts, self._flight
        began = due = trio.current_time()
        signed = nudges.sign_nudge(self._partner.partner_id, self._secret, parts.clock.real())
        number = 0
        while not await self._cut_before(due):
            number, tried_at = number + 1, parts.clock.now()
            outcome = await parts.deliveries.outbound.post(self._url, signed.body, signed.headers)
            verdict = nudges.verdict(outcome)
            next_due = None
            if verdict == "retry":
                next_due = nudges.next_try_due(began, number, trio.current_time())
            done = TryDone(
                nudge_id=flight.nudge_id,
                match_id=flight.match_id,
                number=number,
                tried_at=tried_at,
                outcome=outcome,
                delivered=verdict == "delivered",
                last=next_due is None,
            )
            if next_due is None:
                return done
            self._courier().tell(done)
            due = next_due
        return NudgeCut(flight.nudge_id)

    async def _cut_before(self, due: float) -> bool:
        """Wait until the next try is due; return True as soon as the nudge is cut short."""
        with trio.move_on_at(due):
            await self._flight.cut.wait()
        return self._flight.cut.is_set()

    async def _hand_in(self, end: TryDone | NudgeCut) -> None:
        """Send `end` to the courier; return once it is handled, or if the service stops.

        The count of failures and the nudge's in-flight slot depend on `end`, so it is sent again
        while the courier has no room or the partner is degraded.
        """
        while True:
            try:
                return await self._courier().ask(end, math.inf)
            except (Overloaded, Degraded):
                pass
            except Crashed:
                # The courier broke on the outcome and may have recorded it. Do not record it twice,
                # only free the in-flight slot.
                end = NudgeCut(end.nudge_id)
            if self._parts.deliveries.draining:
                return
            await trio.sleep(HAND_IN_AGAIN_S)

    def _courier(self) -> Ref:
        return self._partner.courier(self._environment)
