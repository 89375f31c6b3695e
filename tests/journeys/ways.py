"""Both ways of a plain request: through the lane, and through hypercorn's parser."""

from typing import Any, Final

import pytest

from tests.journeys.service import SharedService

LANE: Final = [
    pytest.param("on", id="lane"),
    pytest.param("off", id="hypercorn", marks=[pytest.mark.slow, pytest.mark.without_lane]),
]
"""The values of the setting `lane`, as parameters. Only scripts/test --all runs the second way."""


def is_needed(item: pytest.Item) -> bool:
    """Tell whether a test has to run: the second way runs on SQLite alone.

    The two ways differ before the dispatcher, and the kinds of installation behind it. On the other
    three kinds the second way would be about 2,400 tests more.
    """
    return item.get_closest_marker("installation") is None or (
        item.get_closest_marker("without_lane") is None
    )


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
