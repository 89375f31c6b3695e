"""Days, months, their texts, and the rule that says when a day is final."""

from calendar import monthrange
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.days import (
    DAY_S,
    FINAL_AFTER_S,
    day_of,
    first_day,
    format_day,
    format_month,
    last_day,
    last_final_day,
    month_of,
    parse_day,
    parse_month,
    start_of,
)

EPOCH = date(1970, 1, 1)
LAST_DAY = (date(9999, 12, 31) - EPOCH).days
days = st.integers(0, LAST_DAY)
months = st.integers(0, 8030 * 12 - 2)  # up to November 9999, whose last day has a next one


def _day(text: str) -> int:
    day = parse_day(text)
    assert day is not None
    return day


def _month(text: str) -> int:
    month = parse_month(text)
    assert month is not None
    return month


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (0, "19700101"),
        (86_399, "19700101"),
        (86_400, "19700102"),
        (951_782_400, "20000229"),
        (1_709_164_799, "20240228"),
        (1_709_164_800, "20240229"),
        (1_709_251_199, "20240229"),
        (1_709_251_200, "20240301"),
        (1_740_787_200, "20250301"),
        (1_798_761_599, "20261231"),
        (1_798_761_600, "20270101"),
        (4_107_542_400, "21000301"),
    ],
)
def test_an_instant_lies_in_its_utc_day(instant: int, text: str) -> None:
    assert format_day(day_of(instant)) == text


@given(st.integers(0, 2 * 10**11))
def test_a_day_holds_the_seconds_from_its_start_to_before_the_next(instant: int) -> None:
    day = day_of(instant)
    assert start_of(day) <= instant < start_of(day + 1) == start_of(day) + DAY_S


@given(st.dates())
def test_a_date_is_read_as_the_days_from_1970_to_it(of: date) -> None:
    assert parse_day(f"{of.year:04}{of.month:02}{of.day:02}") == (of - EPOCH).days


@given(days)
def test_the_text_of_a_day_is_read_as_that_day(day: int) -> None:
    assert parse_day(format_day(day)) == day


@given(st.text(st.sampled_from("0123456789"), min_size=8, max_size=8))
def test_a_text_that_is_read_as_a_day_is_the_text_of_that_day(text: str) -> None:
    day = parse_day(text)
    assert day is None or format_day(day) == text


@given(days, days)
def test_the_texts_of_days_have_the_order_of_the_days(one: int, other: int) -> None:
    assert (format_day(one) < format_day(other)) == (one < other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026111",
        "202611011",
        "20260230",
        "20250229",
        "19000229",
        "21000229",
        "20260431",
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
        "202601",
        "\uff12\uff10\uff12\uff16\uff10\uff11\uff10\uff11",
        "\u0662\u0660\u0662\u0666\u0660\u0661\u0660\u0661",
    ],
)
def test_a_text_that_is_not_a_real_date_in_eight_ascii_digits_is_refused(text: str) -> None:
    assert parse_day(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "20261",
        "202613",
        "202600",
        "000001",
        "2026011",
        "20260101",
        "2026-1",
        "202601\n",
        " 202601",
        "+20261",
        "\uff12\uff10\uff12\uff16\uff10\uff11",
    ],
)
def test_a_text_that_is_not_a_month_in_six_ascii_digits_is_refused(text: str) -> None:
    assert parse_month(text) is None


@pytest.mark.parametrize(
    ("text", "month"), [("197001", 0), ("197012", 11), ("197101", 12), ("202402", 649)]
)
def test_a_month_is_the_number_of_months_since_january_1970(text: str, month: int) -> None:
    assert parse_month(text) == month
    assert format_month(month) == text


@given(months)
def test_the_text_of_a_month_is_read_as_that_month(month: int) -> None:
    assert parse_month(format_month(month)) == month


@given(days)
def test_a_day_lies_between_the_first_and_the_last_day_of_its_month(day: int) -> None:
    month = month_of(day)
    assert format_month(month) == format_day(day)[:6]
    assert first_day(month) <= day
    if month < 8030 * 12 - 1:
        assert day <= last_day(month)


@given(months)
def test_a_month_has_the_days_of_the_calendar_and_ends_where_the_next_begins(month: int) -> None:
    first, last = first_day(month), last_day(month)
    year, number = divmod(month, 12)
    assert last - first + 1 == monthrange(1970 + year, number + 1)[1]
    assert last + 1 == first_day(month + 1)
    assert {month_of(first), month_of(last)} == {month}
    assert (month_of(last + 1), format_day(first)[6:]) == (month + 1, "01")


@pytest.mark.parametrize(
    ("month", "last"),
    [
        ("202401", "20240131"),
        ("202402", "20240229"),
        ("202502", "20250228"),
        ("200002", "20000229"),
        ("210002", "21000228"),
        ("202404", "20240430"),
        ("202612", "20261231"),
    ],
)
def test_february_has_29_days_in_leap_years_alone(month: str, last: str) -> None:
    assert format_day(last_day(_month(month))) == last


TODAY = _day("20270115")


def test_a_day_is_final_half_an_hour_after_its_midnight() -> None:
    midnight = start_of(TODAY)
    assert FINAL_AFTER_S == 30 * 60
    assert last_final_day(midnight, None) == TODAY - 2
    assert last_final_day(midnight + FINAL_AFTER_S - 1, None) == TODAY - 2
    assert last_final_day(midnight + FINAL_AFTER_S, None) == TODAY - 1
    assert last_final_day(midnight + DAY_S + FINAL_AFTER_S - 1, None) == TODAY - 1
    assert last_final_day(midnight + DAY_S + FINAL_AFTER_S, None) == TODAY


@pytest.mark.parametrize(
    ("first_open", "last"),
    [
        (TODAY + 1, TODAY - 1),
        (TODAY, TODAY - 1),
        (TODAY - 1, TODAY - 2),
        (TODAY - 2, TODAY - 3),
        (TODAY - 40, TODAY - 41),
    ],
)
def test_no_day_is_final_from_the_first_on_which_money_is_open(first_open: int, last: int) -> None:
    assert last_final_day(start_of(TODAY) + FINAL_AFTER_S, first_open) == last


@given(st.integers(0, 2 * 10**11), st.none() | days)
def test_a_final_day_has_ended_and_lies_before_open_money(now: int, first_open: int | None) -> None:
    last = last_final_day(now, first_open)
    assert start_of(last + 1) + FINAL_AFTER_S <= now
    assert first_open is None or last < first_open
    # The day after it is not final: its time has not come, or it has open money.
    assert now < start_of(last + 2) + FINAL_AFTER_S or last + 1 == first_open
