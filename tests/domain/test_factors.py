"""Step-up windows and locks: which codes are right, and what they open."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.errors import Refusal, refuse
from pgs.domain.factors import (
    FRESH_S,
    LOCK_S,
    MAX_WRONG_CODES,
    WINDOW_S,
    Factor,
    Need,
    Verified,
    Window,
    count_attempt,
    lock_left,
)
from tests.domain.factors import (
    ENROLLED,
    HERE,
    INVALID,
    LOCKED,
    NONE,
    NOW,
    OPEN,
    PENDING,
    REPLACING,
    STEP,
    UNENROLLED,
    step_up_refusal,
    verify,
    wrong,
)


def test_the_windows_are_fifteen_and_two_minutes_and_five_codes_lock_for_fifteen() -> None:
    assert (WINDOW_S, FRESH_S, MAX_WRONG_CODES, LOCK_S) == (900, 120, 5, 900)


# What refuses a call


@pytest.mark.parametrize(
    ("after", "open_answer", "fresh_answer"),
    [
        (0, None, None),
        (119, None, None),
        (120, None, "fresh_step_up_required"),
        (899, None, "fresh_step_up_required"),
        (900, "step_up_required", "step_up_required"),
        (-1, "step_up_required", "step_up_required"),
    ],
)
def test_a_window_is_fresh_then_open_then_closed_to_the_second(
    after: int, open_answer: str | None, fresh_answer: str | None
) -> None:
    assert step_up_refusal(OPEN, "open", NOW + after) == (open_answer and refuse(open_answer))
    assert step_up_refusal(OPEN, "fresh", NOW + after) == (fresh_answer and refuse(fresh_answer))


@pytest.mark.parametrize("need", ["open", "fresh"])
def test_a_member_whose_window_was_never_open_needs_a_code(need: Need) -> None:
    assert step_up_refusal(ENROLLED, need, NOW) == refuse("step_up_required")


@pytest.mark.parametrize("need", ["open", "fresh"])
@pytest.mark.parametrize("factor", [NONE, PENDING])
def test_every_need_of_step_up_reports_a_missing_authenticator(factor: Factor, need: Need) -> None:
    assert step_up_refusal(factor, need, NOW) == UNENROLLED


@pytest.mark.parametrize("factor", [NONE, PENDING, ENROLLED, OPEN])
def test_a_call_that_needs_no_code_passes_everyone(factor: Factor) -> None:
    assert step_up_refusal(factor, "none", NOW) is None


# Codes


def test_a_right_code_opens_a_fresh_window_and_stores_its_step() -> None:
    after, answer = verify(ENROLLED, STEP, None, NOW)
    assert answer == Verified(enrolled=False)
    assert after == msgspec.structs.replace(ENROLLED, last_step=STEP, windows=(Window(HERE, NOW),))
    assert step_up_refusal(after, "fresh", NOW) is None


def test_a_right_code_opens_an_open_window_anew() -> None:
    after, _ = verify(OPEN, STEP, None, NOW + 600)
    assert after.windows == (Window(HERE, NOW + 600),)


@pytest.mark.parametrize("factor", [ENROLLED, PENDING, REPLACING])
def test_the_fifth_wrong_code_is_invalid_and_the_sixth_is_locked(factor: Factor) -> None:
    fifth = wrong(factor, 5)
    assert verify(fifth, None, None, NOW) == (fifth, LOCKED)


def test_four_wrong_codes_do_not_lock() -> None:
    after = wrong(ENROLLED, 4)
    assert lock_left(after, NOW) == 0
    assert verify(after, STEP, None, NOW)[1] == Verified(enrolled=False)


@pytest.mark.parametrize("factor", [ENROLLED, REPLACING])
def test_a_right_code_during_a_lock_is_refused_and_changes_nothing(factor: Factor) -> None:
    locked = wrong(factor, 5)
    assert verify(locked, STEP, None, NOW + LOCK_S - 1) == (locked, LOCKED)
    assert verify(locked, None, STEP, NOW + LOCK_S - 1) == (locked, LOCKED)
    assert lock_left(locked, NOW + LOCK_S - 1) == 1


def test_a_lock_ends_to_the_second_and_the_count_starts_again() -> None:
    locked = wrong(ENROLLED, 5)
    end = NOW + LOCK_S
    assert lock_left(locked, end) == 0
    assert verify(locked, STEP + 30, None, end)[1] == Verified(enrolled=False)
    again = wrong(locked, 4, end)
    assert lock_left(again, end) == 0
    assert lock_left(wrong(again, 1, end), end) == LOCK_S


def test_a_right_code_resets_the_count() -> None:
    after, _ = verify(wrong(ENROLLED, 4), STEP, None, NOW)
    assert after.wrong_codes == 0
    assert lock_left(wrong(after, 4), NOW) == 0


def test_a_lock_leaves_an_open_window_open() -> None:
    locked = wrong(OPEN, 5)
    assert step_up_refusal(locked, "fresh", NOW) is None
    assert step_up_refusal(locked, "open", NOW + WINDOW_S - 1) is None


def test_wrong_codes_neither_open_nor_close_a_window() -> None:
    assert wrong(OPEN, 3).windows == OPEN.windows
    assert wrong(ENROLLED, 3).windows == ()


@pytest.mark.parametrize("step", [STEP, STEP - 1])
def test_a_code_of_a_step_already_used_or_passed_is_invalid_and_does_not_count(step: int) -> None:
    used = Factor(sealed_secret="old", last_step=STEP, wrong_codes=4)
    assert verify(used, step, None, NOW) == (used, INVALID)


def test_the_step_after_the_used_one_is_accepted() -> None:
    assert verify(Factor(sealed_secret="old", last_step=STEP - 1), STEP, None, NOW)[1] == Verified(
        enrolled=False
    )


def test_without_an_authenticator_every_code_is_refused_as_unenrolled() -> None:
    assert verify(NONE, None, None, NOW) == (NONE, UNENROLLED)
    assert count_attempt(NONE, NOW) == UNENROLLED


@given(
    st.sampled_from([NONE, PENDING, ENROLLED, OPEN, REPLACING]),
    st.integers(0, 4),
    st.sampled_from([None, NOW - 1, NOW, NOW + 1, NOW + 900]),
)
def test_a_wrong_code_changes_the_factor_only_by_the_counted_attempt(
    base: Factor, count: int, locked_until: int | None
) -> None:
    factor = msgspec.structs.replace(base, wrong_codes=count, locked_until=locked_until)
    counted = count_attempt(factor, NOW)
    after, answer = verify(factor, None, None, NOW)
    assert (after, answer) == (
        (factor, counted) if isinstance(counted, Refusal) else (counted, INVALID)
    )
