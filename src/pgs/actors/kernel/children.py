"""The child tasks of one partner's actors, for partners that another node may take over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import trio

from pgs.actors.kernel.system import System


class Children:
    """Tasks that end when their partner is given up. Their errors are logged and counted."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._scopes: set[trio.CancelScope] = set()
        self._ended = False

    def spawn(self, work: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Start a task, unless the partner was given up or the service is stopping."""
        if not self._ended:
            self._system.spawn(self._run, work, args)

    async def _run(self, work: Callable[..., Awaitable[None]], args: tuple[Any, ...]) -> None:
        with trio.CancelScope() as scope:
            if self._ended:
                scope.cancel()
            self._scopes.add(scope)
            try:
                await work(*args)
            finally:
                self._scopes.discard(scope)

    def end(self) -> None:
        """Cancel all tasks, and start no more."""
        self._ended = True
        for scope in self._scopes:
            scope.cancel()
