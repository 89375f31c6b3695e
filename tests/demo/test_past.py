"""When the demo's past begins, and the clock that it is played by."""

from datetime import UTC, datetime

import pytest
import trio.testing

from pgs.demo.past import PastClock, beginning
from tests.virtual import START, TrioClock


@pytest.mark.parametrize(
    ("now", "begins"),
    [
        ("2026-11-27T13:00", "2026-10-01"),
        ("2027-01-31T23:59", "2026-12-01"),
        # A day is final half an hour after its end at the earliest. Until then, the month before
        # last is the newest that can be billed.
        ("2027-01-01T00:29", "2026-11-01"),
        ("2027-01-01T00:30", "2026-12-01"),
    ],
)
def test_the_past_begins_with_the_newest_month_that_can_be_billed(now: str, begins: str) -> None:
    assert beginning(_at(now)) == _at(begins)


async def test_the_clock_of_the_past_never_goes_back_and_catches_up(
    autojump_clock: trio.testing.MockClock,
) -> None:
    present = TrioClock(START)
    clock = PastClock(present, START - 1000)
    assert (clock.now(), clock.real()) == (START - 1000, START - 1000)
    clock.go_to(START - 400)
    clock.go_to(START - 900)
    assert (clock.now(), clock.real()) == (START - 400, START - 400)
    assert {clock.now_ms() // 1000, clock.real_ms() // 1000} == {START - 400}
    clock.go_to(START + 5)
    assert clock.now() == START, "never ahead of the present"
    present.skip(7)
    clock.catch_up()
    assert clock.now() == clock.time_of_other() == START + 7


def _at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
