"""Lone tries, which members ask for: test events, and nudges that are sent again.

This module decides whether a lone try may be sent, contains the task that sends it, and says how
long to wait for the next test event. A lone try is signed and logged. It changes neither the count
of failures in a row nor the number of nudges in flight.
"""

import math

import trio

from pgs.actors.delivery.endpoint import KnownEndpoint
from pgs.actors.kernel.mail import Crashed, Envelope, Interrupted, Overloaded
from pgs.actors.messages.courier import LoneTryDone, TryDone
from pgs.actors.partners import PartnerActors
from pgs.actors.parts import Parts
from pgs.actors.shared.deliveries import Flight
from pgs.domain import nudges
from pgs.domain.accounts import Account
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from pgs.storage import attempts as rows
from pgs.storage.reader import Reader

TEST_EVERY_S = 10
"""Seconds between two test events for one endpoint, as the interface promises."""


def refuse_test(
    endpoint: KnownEndpoint | None, account: Account | None, tested_ms_ago: int | None
) -> Refusal | None:
    """Return why no test event may be sent now, or None if one may be sent.

    `tested_ms_ago`: milliseconds since the last test event was asked for, or None.
    """
    refusal = refuse_lone_try(endpoint, account)
    if refusal is None and tested_ms_ago is not None and tested_ms_ago < TEST_EVERY_S * 1000:
        return refuse("test_event_too_soon")
    return refusal


def refuse_lone_try(endpoint: KnownEndpoint | None, account: Account | None) -> Refusal | None:
    """Return why a lone try may not be sent to an endpoint now, or None if it may."""
    if endpoint is None:
        return refuse("webhook_not_configured")
    if not endpoint.is_on:
        return refuse("webhook_not_enabled")
    if account is None or not account.active:
        return refuse("account_inactive")
    return None


async def newest_test_ms(parts: Parts, partner_id: str, environment: Environment) -> int | None:
    """Return when the newest test event was sent, in epoch milliseconds.

    A test event in flight counts, although it is not logged yet. None if there was none within
    `TEST_EVERY_S`.
    """
    in_flight = parts.deliveries.tested_at_ms((partner_id, environment))
    if in_flight is not None:
        return in_flight
    since = parts.clock.now() - TEST_EVERY_S
    logged = await rows.newest_test_at(parts.database.reader, partner_id, environment, since)
    return None if logged is None else logged * 1000


async def seconds_until_test(
    reader: Reader, partner_id: str, environment: Environment, now: int
) -> int:
    """Return how long to wait after a test event was refused as too soon.

    The result is in seconds, from 1 to `TEST_EVERY_S`. `now`: epoch seconds.
    """
    tested_at = await rows.newest_test_at(reader, partner_id, environment, now - TEST_EVERY_S)
    if tested_at is None:  # the test event is in flight and not logged yet
        return TEST_EVERY_S
    return min(max(1, tested_at + TEST_EVERY_S + 1 - now), TEST_EVERY_S)


async def deliver_lone_try(
    partner: PartnerActors,
    environment: Environment,
    flight: Flight,
    url: str,
    secret: str,
    envelope: Envelope,
) -> None:
    """Make the one try, have the courier log it, and answer `envelope`.

    The answer is the attempt. The asker gets `Interrupted` if the service stops, if this node gives
    the partner up, or if the courier has no room or cannot write the attempt. The asker gets
    `Crashed` if anything breaks, or if the partner is degraded.
    """
    parts, at = partner.parts, partner.parts.clock.now()
    try:
        signed = nudges.sign_nudge(partner.partner_id, secret, parts.clock.real())
        outcome = await parts.deliveries.outbound.post(url, signed.body, signed.headers)
        done = TryDone(
            nudge_id=flight.nudge_id,
            match_id=flight.match_id,
            number=1,
            tried_at=at,
            outcome=outcome,
            delivered=nudges.verdict(outcome) == "delivered",
            last=True,
            test=flight.match_id is None,
            resend=flight.match_id is not None,
        )
        envelope.answer(await partner.courier(environment).ask(LoneTryDone(done), math.inf))
    except (Overloaded, Interrupted):
        envelope.fail(Interrupted("the lone try was made and could not be logged"))
    except trio.Cancelled:  # the service stops, or this node gives the partner up
        envelope.fail(Interrupted("the lone try was cut short"))
        raise
    except Crashed:
        envelope.fail(Crashed("the lone try was made and could not be logged"))
    finally:
        # Only the first answer counts, so this changes nothing if the asker has one already.
        envelope.fail(Crashed("the lone try broke"))
        parts.deliveries.discard(flight)
