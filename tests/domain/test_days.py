from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.days import DAY_SECONDS, day_of, parse_day


@pytest.mark.parametrize(
    ("instant", "day"),
    [
        (0, "19700101"),
        (86_399, "19700101"),
        (86_400, "19700102"),
        (-1, "19691231"),
        (1_709_164_800, "20240229"),
        (1_798_761_599, "20261231"),
    ],
)
def test_an_instant_lies_in_its_utc_day(instant: int, day: str) -> None:
    assert day_of(instant) == day


@given(st.dates())
def test_every_date_is_read_as_the_second_at_which_it_begins(day: date) -> None:
    begins = parse_day(f"{day.year:04}{day.month:02}{day.day:02}")
    assert begins == (day - date(1970, 1, 1)) // timedelta(seconds=1)


@given(st.integers(-(10**10), 2 * 10**11))
def test_a_day_holds_the_seconds_from_its_start_to_before_the_next(instant: int) -> None:
    begins = parse_day(day_of(instant))
    assert begins is not None
    assert begins <= instant < begins + DAY_SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026111",
        "202611011",
        "20260230",
        "20250229",
        "21000229",
        "20261301",
        "20260001",
        "20260100",
        "20260132",
        "00000101",
        "2026-1-1",
        "2026 1 1",
        "+2026101",
        "20260101\n",
        " 20260101",
        "2026_101",
        "\uff12\uff10\uff12\uff16\uff10\uff11\uff10\uff11",
        "\u0662\u0660\u0662\u0666\u0660\u0661\u0660\u0661",
    ],
)
def test_a_text_that_is_not_a_real_date_in_eight_ascii_digits_is_refused(text: str) -> None:
    assert parse_day(text) is None
