"""The shapes of ASGI as this package passes them around: applications, scopes, messages."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
"""Takes a `Scope`, a `Receive` and a `Send`, which frameworks type as closed dictionaries of their own."""
Headers = list[tuple[bytes, bytes]]
OnEvent = Callable[[str], None]
"""Counts what happened, by a short name from a fixed set: metrics hang on it."""


def ignore_event(name: str) -> None:
    """Return nothing and do nothing: the `OnEvent` of whoever counts nothing."""
