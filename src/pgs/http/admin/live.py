"""`GET live`: a stream of an environment's activity events, as `text/event-stream`.

Each event has its kind as `event` and a JSON object as `data`. The stream contains no events from
before the call. It ends after `LIFE_S`, so that its subscriber asks again with a valid token. It
also ends when the token expires, and within a second after the subscriber loses access. Nothing is
written after that, except the rest of a piece that a slow reader has not taken yet.
"""

from functools import partial
from typing import Final

import msgspec
import trio

from pgs.actors.shared.activity import ActivityEvent, Subscriber
from pgs.actors.shared.admission import policy_of
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.http.admin.authorization import AdminCall, may_go_on
from pgs.http.admin.endpoints import admin_read
from pgs.http.admin.paths import environment_asked
from pgs.http.api.auth import overloaded
from pgs.http.api.endpoint import Answer, Reply, Stream, Write

LIFE_S: Final = 50.0
"""Seconds that one live stream lasts. A connection is closed when its client has sent nothing for
60 s; the page asks for the next stream before that."""

LOOK_S: Final = 1.0
"""Seconds between two checks of the subscriber's access, and of how many calls the rate limit still
allows the account. The stream reports that number when it has changed."""

COME_AGAIN_MS: Final = 500
"""Milliseconds that a page waits before it asks again for a stream that has ended. The page misses
only the events of that time."""

BUSY_RETRY_S: Final = 10
"""Seconds that a subscriber is told to wait while the account has as many streams as it may have.
One of them ends soon."""


class Live(msgspec.Struct, frozen=True):
    """The `data` of an event: `at` in epoch seconds, and further fields by the kind of event.

    The event `lost` has only `events`, the number of events that were dropped.
    """

    at: int


async def subscribe(call: AdminCall) -> Answer:
    environment = environment_asked(call)
    if isinstance(environment, Refusal | BadRequest):
        return environment
    activity, partner_id = call.services.parts.activity, call.principal.account.partner_id
    subscriber = activity.subscribe(partner_id, environment)
    if subscriber is None:
        return Reply(refuse("rate_limited"), overloaded(BUSY_RETRY_S))
    return Stream(
        "text/event-stream",
        partial(_stream, call, subscriber),
        partial(activity.unsubscribe, partner_id, environment, subscriber),
    )


async def _stream(call: AdminCall, subscriber: Subscriber, write: Write) -> None:
    await write(b"retry: %d\n\n" % COME_AGAIN_MS)
    end, until, told = trio.current_time() + LIFE_S, trio.current_time(), None
    while await may_go_on(call) and trio.current_time() < end:
        happened, lost = await subscriber.take(until)
        if not call.services.is_here(call.principal.account.partner_id):
            return
        budget = _budget(call)
        pieces = [] if budget.detail == told else [_event(budget)]
        told = budget.detail
        if lost:
            pieces.append(b"event: lost\ndata: %s\n\n" % msgspec.json.encode({"events": lost}))
        pieces += map(_event, happened)
        for piece in pieces:
            # Access is checked before every piece, since a slow reader may need seconds for each.
            if not await may_go_on(call):
                return
            await write(piece)
        until = min(end, trio.current_time() + _until_look(call))


def _until_look(call: AdminCall) -> float:
    """Return the seconds until the next check: `LOOK_S`, or less if the token expires sooner."""
    now, expires_at = call.services.parts.clock.real_ms() / 1000, call.principal.identity.expires_at
    return LOOK_S if expires_at >= now + LOOK_S else max(0.001, expires_at - now)


def _budget(call: AdminCall) -> ActivityEvent:
    services, account = call.services, call.principal.account
    partner = services.directory.partner(account.partner_id)
    detail: dict[str, int] = {
        "left": partner.admission.left(trio.current_time()),
        "burst": policy_of(account).burst,
    }
    return ActivityEvent("budget", services.parts.clock.real(), detail)


def _event(event: ActivityEvent) -> bytes:
    data = msgspec.json.encode({"at": event.at, **event.detail})
    return b"event: %s\ndata: %s\n\n" % (event.kind.encode(), data)


ENDPOINTS = (
    admin_read(
        "live",
        subscribe,
        Live,
        "What is happening, as it happens",
        query=frozenset({"environment"}),
        errors=("missing_parameter", "rate_limited"),
    ),
)
