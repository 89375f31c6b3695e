"""Enrolling and replacing an authenticator, and the windows of several sign-ins."""

import msgspec
import pytest

from pgs.domain import factors
from pgs.domain.errors import refuse
from pgs.domain.factors import (
    LOCK_S,
    WINDOW_S,
    WINDOWS_MAX,
    Factor,
    FactorState,
    Need,
    Verified,
    Window,
)
from tests.domain.factors import (
    ELSEWHERE,
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
    enrol,
    factor_state,
    step_up_refusal,
    verify,
    wrong,
)

# Enrolling


def test_the_first_authenticator_needs_no_code_and_is_pending() -> None:
    assert enrol(NONE, "new", NOW) == PENDING
    assert not PENDING.enrolled


def test_the_first_code_activates_the_authenticator_and_opens_the_window() -> None:
    after, answer = verify(PENDING, None, STEP, NOW)
    assert answer == Verified(enrolled=True)
    assert after == Factor(sealed_secret="new", last_step=STEP, windows=(Window(HERE, NOW),))
    assert step_up_refusal(after, "fresh", NOW) is None


def test_the_code_that_activated_an_authenticator_is_used_up() -> None:
    after, _ = verify(PENDING, None, STEP, NOW)
    assert verify(after, STEP, None, NOW) == (after, INVALID)


def test_a_code_for_a_missing_authenticator_counts_as_wrong() -> None:
    assert verify(PENDING, STEP, None, NOW) == (wrong(PENDING, 1), INVALID)
    assert verify(ENROLLED, None, STEP, NOW) == (wrong(ENROLLED, 1), INVALID)


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (0, None),
        (119, None),
        (120, "fresh_step_up_required"),
        (899, "fresh_step_up_required"),
        (900, "step_up_required"),
    ],
)
def test_replacing_an_authenticator_needs_a_fresh_window(after: int, reason: str | None) -> None:
    assert enrol(OPEN, "new", NOW + after) == (REPLACING if reason is None else refuse(reason))


def test_a_replaced_authenticator_works_until_the_new_ones_first_code() -> None:
    still, answer = verify(REPLACING, STEP, None, NOW + 60)
    assert answer == Verified(enrolled=False)
    assert (still.sealed_secret, still.pending_sealed_secret) == ("old", "new")
    after, answer = verify(still, None, STEP, NOW + 90)
    assert answer == Verified(enrolled=True)
    assert after == Factor(sealed_secret="new", last_step=STEP, windows=(Window(HERE, NOW + 90),))


def test_a_step_used_by_the_old_authenticator_can_activate_the_new_one() -> None:
    used = msgspec.structs.replace(REPLACING, last_step=STEP + 1)
    assert verify(used, None, STEP, NOW)[1] == Verified(enrolled=True)


def test_a_used_code_of_the_old_authenticator_can_activate_the_new_one() -> None:
    assert verify(msgspec.structs.replace(REPLACING, last_step=STEP), STEP, STEP, NOW)[
        1
    ] == Verified(enrolled=True)


def test_enrolling_again_replaces_the_pending_secret_and_keeps_the_count() -> None:
    again = enrol(wrong(PENDING, 4), "newer", NOW)
    assert again == Factor(pending_sealed_secret="newer", wrong_codes=4)


def test_no_authenticator_is_enrolled_during_a_lock() -> None:
    assert enrol(wrong(PENDING, 5), "newer", NOW + LOCK_S - 1) == LOCKED
    assert enrol(wrong(OPEN, 5), "newer", NOW) == LOCKED
    assert isinstance(enrol(wrong(PENDING, 5), "newer", NOW + LOCK_S), Factor)


# What the member sees


@pytest.mark.parametrize(
    ("factor", "after", "seen"),
    [
        (NONE, 0, FactorState(False, None, None, None)),
        (PENDING, 0, FactorState(False, None, None, None)),
        (OPEN, 0, FactorState(True, NOW + 900, NOW + 120, None)),
        (OPEN, 120, FactorState(True, NOW + 900, None, None)),
        (OPEN, 900, FactorState(True, None, None, None)),
        (
            Factor(sealed_secret="old", locked_until=NOW + 5),
            4,
            FactorState(True, None, None, NOW + 5),
        ),
        (Factor(sealed_secret="old", locked_until=NOW + 5), 5, FactorState(True, None, None, None)),
    ],
)
def test_the_state_of_a_factor_shows_the_ends_of_running_windows_and_locks(
    factor: Factor, after: int, seen: FactorState
) -> None:
    assert factor_state(factor, NOW + after) == seen


# Sign-ins


def test_a_window_belongs_to_the_sign_in_in_which_the_code_was_given() -> None:
    needs: tuple[Need, ...] = ("open", "fresh")
    for need in needs:
        assert step_up_refusal(OPEN, need, NOW) is None
        assert step_up_refusal(OPEN, need, NOW, ELSEWHERE) == refuse("step_up_required")
    assert factors.factor_state(OPEN, ELSEWHERE, NOW) == FactorState(True, None, None, None)
    assert factors.enrol(OPEN, "new", ELSEWHERE, NOW) == refuse("step_up_required")


def test_two_sign_ins_have_a_window_each() -> None:
    both, answer = verify(OPEN, STEP, None, NOW + 60, ELSEWHERE)
    assert answer == Verified(enrolled=False)
    assert step_up_refusal(both, "open", NOW + 60) is None
    assert step_up_refusal(both, "open", NOW + 60, ELSEWHERE) is None
    assert step_up_refusal(both, "open", NOW + WINDOW_S, ELSEWHERE) is None
    assert step_up_refusal(both, "open", NOW + WINDOW_S) == refuse("step_up_required")


def test_only_the_newest_windows_are_kept_and_closed_ones_are_dropped() -> None:
    factor = OPEN
    for number in range(WINDOWS_MAX + 1):
        factor, _ = verify(factor, STEP + number, None, NOW + number, f"sign-in {number}")
    assert [window.sign_in for window in factor.windows] == [
        f"sign-in {number}" for number in range(1, WINDOWS_MAX + 1)
    ]
    later, _ = verify(factor, STEP + 90, None, NOW + 90 * 30)
    assert later.windows == (Window(HERE, NOW + 90 * 30),)
