"""Types of ASGI, and a way to cancel work when its client leaves."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeVar

import trio

T = TypeVar("T")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
"""Takes a `Scope`, a `Receive` and a `Send`, which each framework types differently."""
Headers = list[tuple[bytes, bytes]]
OnEvent = Callable[[str], None]
"""Counts an event by its short name, which is one of a fixed set. Metrics use these names."""


def ignore_event(name: str) -> None:
    """Count nothing."""


class ClientGone(Exception):
    """The client left before it could be answered."""


async def unless_gone(work: Awaitable[T], receive: Receive) -> T:
    """Return what `work` returns, or raise what it raises.

    Raises `ClientGone`, and cancels `work`, when the client leaves first.
    """
    results: list[T] = []
    # Errors are collected, because a nursery would raise them inside an exception group.
    failures: list[Exception] = []

    async with trio.open_nursery() as nursery:

        async def await_disconnect() -> None:
            try:
                while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
                    pass
            except Exception as error:
                failures.append(error)
            nursery.cancel_scope.cancel()

        nursery.start_soon(await_disconnect)
        try:
            results.append(await work)
        except Exception as error:
            failures.insert(0, error)
        nursery.cancel_scope.cancel()
    if failures:
        raise failures[0]
    if not results:
        raise ClientGone
    return results[0]


async def whole_body(receive: Receive) -> bytes:
    """Return a request's body, whose size the edge limits. Raises `ClientGone`."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)
