"""Tells an account's live stream of the calls that are made with the account's keys."""

from pgs.actors.activity_events import tell_of_call, tell_of_refusal
from pgs.actors.shared.registry import KnownKey
from pgs.domain.errors import BadRequest, Refusal, message_of
from pgs.http.api.auth import Verdict
from pgs.http.api.endpoint import Answer, Endpoint, Reply, Request
from pgs.http.api.services import Services


def tell_of_refused(
    services: Services, endpoint: Endpoint, verdict: Verdict, answer: Answer
) -> None:
    """Tell the account's live stream of a refused call, whichever step refused it.

    Do so only if the refusal has a reason and the call's key is known.
    """
    reason = _reason(answer)
    if verdict.known is not None and reason is not None:
        account, key = verdict.known.account, verdict.known.key
        parts = services.parts
        tell_of_refusal(parts, account.partner_id, key.environment, endpoint.path, reason)


def tell_of_answered(
    request: Request,
    known: KnownKey,
    answer: Answer,
    raw_path: bytes,
    status: int,
    seconds: float,
) -> None:
    """Tell the account's live stream of an answered call with a known key."""
    account, key = known.account, known.key
    reason = _reason(answer)
    detail: dict[str, object] = {
        "method": request.endpoint.method,
        "path": raw_path.decode("ascii", "replace"),
        "status": status,
        "requestId": request.request_id,
        "durationMs": round(1000 * seconds),
        "last4": key.last4,
    }
    if reason is not None:
        detail["reason"] = reason
    sentence = _sentence(answer)
    if sentence is not None:
        detail["error"] = sentence
    refusal = _refusal(answer)
    if refusal is not None and refusal.corrected:
        detail["corrected"] = dict(refusal.corrected)
    tell_of_call(request.services.parts, account.partner_id, key.environment, detail)


def _sentence(answer: Answer) -> str | None:
    """Return the error sentence of a refusal with a reason code, or of a 400; else None.

    The text repeats nothing that the caller sent, except names of fields and parameters.
    """
    refusal = answer.body if isinstance(answer, Reply) else answer
    if isinstance(refusal, Refusal):
        return message_of(refusal)
    return refusal.message if isinstance(refusal, BadRequest) else None


def _refusal(answer: Answer) -> Refusal | None:
    refusal = answer.body if isinstance(answer, Reply) else answer
    return refusal if isinstance(refusal, Refusal) else None


def _reason(answer: Answer) -> str | None:
    refusal = _refusal(answer)
    return None if refusal is None else refusal.reason
