"""Both ways of a plain request: through the lane, and through hypercorn's parser."""

from typing import Any, Final

import pytest

from tests.journeys.service import SharedService

LANE: Final = [
    pytest.param("on", id="lane"),
    pytest.param("off", id="hypercorn", marks=pytest.mark.slow),
]
"""The values of the setting `lane`, as parameters. Only scripts/test --all runs the second way."""


def both_ways() -> Any:
    """Return the fixture `shared` of a file whose tests run both ways.

    It replaces the fixture of that name in `conftest.py`, for the fixtures that use it too.
    """

    @pytest.fixture(scope="module", params=LANE)
    def shared(request: pytest.FixtureRequest, shared: SharedService) -> SharedService:
        if request.param == "on":
            return shared
        without_lane: SharedService = request.getfixturevalue("without_lane")
        return without_lane

    return shared
