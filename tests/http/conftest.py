"""Fixtures of the HTTP tests."""

from collections.abc import Iterator

import pytest
from hypercorn.events import Event

from pgs.http.transport.asgi import App
from pgs.http.transport.hypercorn_http1 import GuardedH11
from pgs.http.transport.lane_socket import LaneSocket
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


@pytest.fixture
def lane_serves_socket(serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that the lane itself serves a WebSocket in the test's run with the lane only."""
    served: list[LaneSocket] = []
    serve = LaneSocket.serve

    async def noted(self: LaneSocket, app: App) -> None:
        served.append(self)
        await serve(self, app)

    monkeypatch.setattr(LaneSocket, "serve", noted)
    yield
    assert bool(served) == (serve_app is SERVERS["lane"])
