"""Turns an answer into a response with its status and JSON, and sends it over ASGI."""

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from pgs.domain.errors import ERRORS, BadRequest, Refusal, message_of
from pgs.http.api.endpoint import Endpoint, Internal, Plain
from pgs.http.transport.asgi import Send

HeaderTuple = tuple[tuple[bytes, bytes], ...]

T = TypeVar("T")

NOTHING_HERE: Final = "There is nothing at this path."

INTERNAL_MESSAGE: Final = "Something broke on our side. Try again shortly."

UNKNOWN_MESSAGE: Final = (
    "Something broke on our side, and this may have been done or not. "
    "Look at the current state before you try again."
)
"""The message of a 500 after a write that a client cannot simply repeat."""

JSON_TYPE: Final = (b"content-type", b"application/json")

encode: Final = msgspec.json.Encoder().encode

_WITHOUT_RECORD: Final = frozenset((Refusal, BadRequest, Plain, Internal))


class Response(msgspec.Struct, frozen=True):
    """A status, the value to send as JSON, and the name under which a refusal is counted."""

    status: int
    body: object
    event: str | None = None


def or_unset(value: T | None) -> T | UnsetType:
    """Return the value, or `UNSET` if it is None, so that the answer leaves the field out."""
    return UNSET if value is None else value


def doc_url(base_url: str, reason: str) -> str:
    """Return the address of the page that says what to do about a reason."""
    return f"{base_url}/docs/errors#{reason}"


def body_of(refusal: Refusal, base_url: str) -> dict[str, object]:
    """Return the body of a refusal."""
    return {
        "error": message_of(refusal),
        "reason": refusal.reason,
        **refusal.extras,
        "docUrl": doc_url(base_url, refusal.reason),
    }


def status_of(endpoint: Endpoint, reason: str) -> int:
    """Return the status of an endpoint's refusal with this reason."""
    kind = ERRORS[reason]
    second = endpoint.credential == "session" or reason in endpoint.elsewhere
    return kind.elsewhere if second and kind.elsewhere is not None else kind.status


def render(endpoint: Endpoint, answer: msgspec.Struct, base_url: str) -> Response:
    """Return the response to send for an endpoint's record or refusal."""
    if type(answer) not in _WITHOUT_RECORD:
        return Response(200, answer)
    if isinstance(answer, Refusal):
        return Response(
            status_of(endpoint, answer.reason),
            body_of(answer, base_url),
            f"refused_{answer.reason}",
        )
    if isinstance(answer, BadRequest):
        return Response(400, {"error": answer.message}, "refused_bad_request")
    if isinstance(answer, Plain):
        return Response(answer.status, {"error": answer.message}, "refused_plain")
    is_unknown = isinstance(answer, Internal) and answer.unknown
    return Response(500, {"error": UNKNOWN_MESSAGE if is_unknown else INTERNAL_MESSAGE})


def wrong_method(methods: Sequence[str]) -> tuple[str, HeaderTuple]:
    """Return the message of a 405, and its Allow header."""
    allow = ", ".join(methods)
    return f"This path takes {allow}.", ((b"allow", allow.encode()),)


async def refuse_method(send: Send, methods: Sequence[str], hint: str = "") -> None:
    """Answer 405 with the methods that the path takes."""
    message, headers = wrong_method(methods)
    await send_json(send, 405, {"error": message + hint}, headers)


async def refuse_plain(method: str, send: Send) -> None:
    """Answer a plain request of a path that only serves WebSockets."""
    if method == "GET":
        body = {"error": "This path is for WebSockets: ask for the upgrade."}
        upgrade = ((b"upgrade", b"websocket"), (b"connection", b"upgrade"))
        await send_json(send, 426, body, upgrade)
    else:
        await refuse_method(send, ["GET"])


async def send_json(send: Send, status: int, body: object, headers: HeaderTuple) -> None:
    """Send a whole response with `body` as JSON."""
    content = encode(body)
    own = [
        JSON_TYPE,
        (b"content-length", b"%d" % len(content)),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": own})
    await send({"type": "http.response.body", "body": content})
