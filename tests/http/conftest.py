"""Fixtures of the HTTP tests."""

import pytest

from tests.http.raw import SERVERS, ServeApp


@pytest.fixture(params=SERVERS)
def serve_app(request: pytest.FixtureRequest) -> ServeApp:
    return SERVERS[request.param]
