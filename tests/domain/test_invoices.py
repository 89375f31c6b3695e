"""An invoice from its draft to its end, and the words of its lines."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.days import format_day, month_of, parse_day, parse_month
from pgs.domain.invoices import (
    DUE_AFTER_S,
    INVOICE_STATUSES,
    Invoice,
    InvoiceLine,
    InvoiceStatus,
    describe,
    finalise,
    may_finalise,
    pay,
    void,
)

NOW = 1_800_000_000


def _draft(month: str = "202701") -> Invoice:
    number = parse_month(month)
    assert number is not None
    return Invoice("acme", "test", "inv_1", 4, number, "draft", NOW)


def _line(**changes: object) -> InvoiceLine:
    day = parse_day("20270131")
    assert day is not None
    line = InvoiceLine("lin_1", 1, day, "chess", "gold", 12, 340)
    return msgspec.structs.replace(line, **changes)


def test_a_line_says_what_it_bills() -> None:
    assert describe(_line()) == "Rake of 12 matches of chess, tier gold, decided on 2027-01-31"


@pytest.mark.parametrize(
    ("matches", "words"), [(0, "0 matches"), (1, "1 match"), (2, "2 matches"), (11, "11 matches")]
)
def test_a_line_names_one_match_in_the_singular(matches: int, words: str) -> None:
    assert describe(_line(matches=matches)).startswith(f"Rake of {words} of chess,")


def test_a_line_names_days_and_months_with_two_digits() -> None:
    assert describe(_line(day=parse_day("20280229"))).endswith("decided on 2028-02-29")
    assert describe(_line(day=parse_day("20270101"))).endswith("decided on 2027-01-01")


@pytest.mark.parametrize(
    ("month", "period"),
    [
        ("202701", ("20270101", "20270131")),
        ("202702", ("20270201", "20270228")),
        ("202802", ("20280201", "20280229")),
        ("202612", ("20261201", "20261231")),
    ],
)
def test_a_period_is_a_calendar_month(month: str, period: tuple[str, str]) -> None:
    first, last = _draft(month).period
    assert (format_day(first), format_day(last)) == period


@given(st.integers(0, 90_000))
def test_each_day_lies_in_the_period_of_its_months_invoice_alone(day: int) -> None:
    month = month_of(day)
    for shift in (-1, 0, 1):
        first, last = msgspec.structs.replace(_draft(), month=max(month + shift, 0)).period
        assert (first <= day <= last) == (max(month + shift, 0) == month)


def test_a_draft_has_no_number_no_total_and_no_later_times() -> None:
    later = ("number", "total_usd_cents", "line_count", "finalized_at", "due_at", "paid_at")
    assert [getattr(_draft(), name) for name in (*later, "voided_at")] == [None] * 7


@pytest.mark.parametrize(
    ("month", "last"),
    [
        ("202701", "20270131"),
        ("202702", "20270228"),
        ("202802", "20280229"),
        ("202612", "20261231"),
    ],
)
def test_an_invoice_may_be_finalised_once_the_last_day_of_its_month_is_final(
    month: str, last: str
) -> None:
    final_day = parse_day(last)
    assert final_day is not None
    allowed = [may_finalise(_draft(month), final_day + shift) for shift in (-28, -1, 0, 1)]
    assert allowed == [False, False, True, True]


def test_a_finalised_invoice_is_open_and_due_after_thirty_days() -> None:
    invoice = finalise(_draft(), 3, 340, 2, NOW + 5)
    assert DUE_AFTER_S == 30 * 24 * 3600
    assert invoice == msgspec.structs.replace(
        _draft(),
        status="open",
        number=3,
        total_usd_cents=340,
        line_count=2,
        finalized_at=NOW + 5,
        due_at=NOW + 5 + DUE_AFTER_S,
    )


def test_an_invoice_of_nothing_can_be_finalised() -> None:
    invoice = finalise(_draft(), 1, 0, 0, NOW)
    assert (invoice.status, invoice.total_usd_cents, invoice.line_count) == ("open", 0, 0)


def test_a_paid_invoice_says_when_it_was_paid_and_keeps_everything_else() -> None:
    invoice = finalise(_draft(), 3, 340, 2, NOW)
    assert pay(invoice, NOW + 9) == msgspec.structs.replace(invoice, status="paid", paid_at=NOW + 9)


def test_a_void_invoice_says_when_it_was_voided_and_keeps_its_number_and_total() -> None:
    invoice = finalise(_draft(), 3, 340, 2, NOW)
    assert void(invoice, NOW + 9) == msgspec.structs.replace(
        invoice, status="void", voided_at=NOW + 9
    )


def test_every_status_is_listed() -> None:
    assert get_args(InvoiceStatus) == INVOICE_STATUSES == ("draft", "open", "paid", "void")
