"""Answers of a node that can neither serve a request nor forward it."""

from typing import Final

import msgspec

from pgs.http.transport.asgi import Headers, Scope, Send
from pgs.http.transport.direct import DirectAnswer
from pgs.http.transport.sockets import refuse_handshake

RETRY_AFTER_S: Final = 1
"""Seconds after which a client may try again: a hand-over of a shard takes about as long."""

OWNER: Final = b"x-pgs-owner"
"""A response header for the proxy in front: the name of the node that owns the request's shard.
Only a node that does not own the shard sends it."""

_HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"cache-control", b"no-store"),
    (b"retry-after", b"%d" % RETRY_AFTER_S),
)


def try_again(answer: DirectAnswer) -> DirectAnswer:
    """Return `answer` with a Retry-After header added. Its request must have changed nothing."""
    return msgspec.structs.replace(answer, headers=(*answer.headers, *_HEADERS))


async def send_answer(scope: Scope, send: Send, answer: DirectAnswer) -> None:
    """Send a whole answer to a plain request, or to a handshake, which is refused with it."""
    if scope["type"] == "websocket":
        headers: Headers = [pair for pair in answer.headers if pair[0] != b"content-type"]
        await refuse_handshake(send, answer.status, msgspec.Raw(answer.content), headers)
        return
    length = (b"content-length", b"%d" % len(answer.content))
    await send(
        {
            "type": "http.response.start",
            "status": answer.status,
            "headers": [*answer.headers, length],
        }
    )
    await send({"type": "http.response.body", "body": answer.content, "more_body": False})
