"""Fixtures of the HTTP tests."""

import pytest

from tests.http.raw import WAYS, Way


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return WAYS[request.param]
