"""What the dispatcher says and hears over ASGI, whatever the call."""

from collections.abc import Awaitable, Sequence
from typing import TypeVar

import msgspec
import trio

from pgs.http.transport.asgi import Receive, Send

T = TypeVar("T")

HeaderTuple = tuple[tuple[bytes, bytes], ...]

_encode = msgspec.json.Encoder().encode


class ClientGone(Exception):
    """The client left before it could be answered."""


class Internal(msgspec.Struct, frozen=True):
    """Something broke inside, and no reason may be told."""


async def read_body(receive: Receive) -> bytes:
    """Return a request's whole body. Raises `ClientGone`."""
    chunks = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunks.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(chunks)


async def unless_gone(work: Awaitable[T], receive: Receive) -> T:
    """Return what `work` returns; give it up and raise `ClientGone` when the client leaves first."""
    answer: list[T] = []
    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            nursery.cancel_scope.cancel()

        nursery.start_soon(watch)
        answer.append(await work)
        nursery.cancel_scope.cancel()
    if not answer:
        raise ClientGone
    return answer[0]


async def refuse_method(send: Send, methods: Sequence[str]) -> None:
    """Answer that a path takes these methods alone."""
    allow = ", ".join(methods)
    await send_json(
        send, 405, {"error": f"This path takes {allow}."}, ((b"allow", allow.encode()),)
    )


async def refuse_plain(method: str, send: Send) -> None:
    """Answer a plain request of a path that is for WebSockets alone."""
    if method == "GET":
        upgrade = ((b"upgrade", b"websocket"), (b"connection", b"upgrade"))
        await send_json(
            send, 426, {"error": "This path is for WebSockets: ask for the upgrade."}, upgrade
        )
    else:
        await refuse_method(send, ["GET"])


async def send_json(send: Send, status: int, body: object, headers: HeaderTuple) -> None:
    """Answer with JSON."""
    content = _encode(body)
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(content)),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": content})
