"""Fixtures of the HTTP tests."""

import pytest
from hypercorn.events import Event

from pgs.http.transport.hypercorn_http1 import GuardedH11
from tests.http.raw import SERVERS, ServeApp


@pytest.fixture(params=SERVERS)
def serve_app(request: pytest.FixtureRequest) -> ServeApp:
    return SERVERS[request.param]


@pytest.fixture
def by_hypercorn(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """The events that hypercorn's protocol gets while a test runs."""
    given: list[Event] = []
    handle = GuardedH11.handle

    async def noted(self: GuardedH11, event: Event) -> None:
        given.append(event)
        await handle(self, event)

    monkeypatch.setattr(GuardedH11, "handle", noted)
    return given
