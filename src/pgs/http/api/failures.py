"""Chooses the answer to a call whose handler raised an exception."""

from typing import Final

import structlog

from pgs.actors.kernel.mail import Crashed, Degraded, Interrupted, NotOwned, Overloaded
from pgs.domain.errors import refuse
from pgs.http.api.auth import overloaded
from pgs.http.api.endpoint import Answer, Endpoint, Internal, Reply, Request
from pgs.http.nodes.owners import NotHere
from pgs.storage.transactions import StoreOutage, WriterFull

NO_NODE: Final = "No node serves this partner right now. Repeat the call in a second."

log = structlog.get_logger("pgs.http")


def answer_to_failure(request: Request, principal: object, failure: Exception) -> Answer:
    """Return the answer for an exception. Call this in an `except` block.

    The exception is counted unless an actor has counted it, and logged unless it is only an
    overload. It is raised again if another node has to answer.
    """
    on_event, endpoint = request.services.parts.on_event, request.endpoint
    if isinstance(failure, NotHere | NotOwned):
        raise failure
    if isinstance(failure, Overloaded | WriterFull):
        on_event("overloaded")
        return Reply(refuse("rate_limited"), overloaded(1))
    if isinstance(failure, StoreOutage):
        on_event("read_failed")
        log.exception("read_failed", error=str(failure), **_where(request, principal))
        return refuse(endpoint.outage)
    if isinstance(failure, Crashed):
        log.error("actor_crashed", error=str(failure), **_where(request, principal))
        # A read that failed in the actor is answered like a read that failed in the handler.
        if failure.noun is not None and endpoint.crash is None:
            on_event("read_failed")
            return refuse(endpoint.outage)
        if isinstance(failure, Interrupted):  # no bug
            if (event := event_behind(failure)) is not None:
                on_event(event)
            return answer_to_lost(endpoint)
    else:
        log.exception("handler_crashed", **_where(request, principal))
    on_event("handler_crashed")
    if isinstance(failure, Degraded) and not endpoint.crash:  # nothing was done
        return Internal()
    return answer_to_lost(endpoint)


def event_behind(failure: Interrupted) -> str | None:
    """Return the event to count for an interrupted call; None if an actor has counted one."""
    if isinstance(failure.__cause__, StoreOutage):
        return "read_failed"
    return "overloaded" if type(failure.__cause__) in (Overloaded, WriterFull) else None


def answer_to_lost(endpoint: Endpoint) -> Answer:
    """Return the answer to a call that may or may not have been carried out.

    Every call with a key can be repeated: it then does nothing twice. A write of the admin API may
    do its work again, such as minting another key, so its client is told to look first.
    """
    if endpoint.crash:
        return refuse(endpoint.crash)
    return Internal(unknown=endpoint.credential == "identity" and endpoint.method != "GET")


def answer_to_unserved(endpoint: Endpoint) -> Answer:
    """Return the answer to a call that no node serves now, so that nothing was done.

    Only the node that owns the partner may read the partner's data. The answer therefore has the
    same reason as when a read of the data fails.
    """
    return refuse(endpoint.crash or endpoint.outage).saying(NO_NODE)


def _where(request: Request, principal: object) -> dict[str, str | None]:
    """Return what the log says about a call that failed."""
    return {
        "request_id": request.request_id,
        "path": request.endpoint.path,
        "partner_id": getattr(principal, "partner_id", None),
    }
