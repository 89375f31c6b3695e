"""Handlers of a read that two kinds of callers make: API keys, and members in the admin API.

A key reads its own environment. A member names the environment, in the path or in the query.
"""

from collections.abc import Awaitable, Callable

from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.http.admin.authorization import AdminCall
from pgs.http.admin.paths import environment_asked, environment_of
from pgs.http.api.endpoint import Answer, Call
from pgs.http.api.lists import AccountCall

Reads = Callable[[AccountCall, Environment], Awaitable[Answer]]
"""Returns what a call asks about the caller's account in an environment."""


def by_key(read: Reads) -> Callable[[Call], Awaitable[Answer]]:
    """Return the handler for callers with an API key."""

    async def handle(call: Call) -> Answer:
        return await read(call, call.principal.environment)

    return handle


def by_path(read: Reads) -> Callable[[AdminCall], Awaitable[Answer]]:
    """Return the handler for members, who name the environment in the path."""

    async def handle(call: AdminCall) -> Answer:
        return await read(call, environment_of(call))

    return handle


def by_query(read: Reads) -> Callable[[AdminCall], Awaitable[Answer]]:
    """Return the handler for members, who name the environment in the query."""

    async def handle(call: AdminCall) -> Answer:
        environment = environment_asked(call)
        if isinstance(environment, Refusal | BadRequest):
            return environment
        return await read(call, environment)

    return handle
