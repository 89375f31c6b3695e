"""Both ways of a plain request: through the lane, and through hypercorn's parser."""

from typing import Any, Final

import pytest

from tests.journeys.service import SharedService

LANE: Final = [
    pytest.param("on", id="lane"),
    pytest.param("off", id="hypercorn", marks=[pytest.mark.slow, pytest.mark.without_lane]),
]
"""The values of the setting `lane`, as parameters. Only scripts/test --all runs the second way."""


FORWARDED: Final = frozenset({"test_cut_bodies.py", "test_long_polls.py", "test_play_sessions.py"})
"""The files whose tests take the second way among three nodes too, because each way forwards calls
to other nodes with code of its own."""


def is_needed(item: pytest.Item) -> bool:
    """Tell whether a test has to run: most tests take the second way on SQLite alone.

    The two ways differ before the dispatcher, and the kinds of installation behind it. On the other
    three kinds, all tests of the second way would be about 2,400 more.
    """
    if item.get_closest_marker("without_lane") is None:
        return True
    if item.get_closest_marker("installation") is None:
        return True
    return item.path.name in FORWARDED and "nodes" in item.name.rpartition("[")[2]


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
