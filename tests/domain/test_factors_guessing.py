"""Locks that repeat, clocks that are put back, and random sequences of codes."""

import itertools

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pgs.domain import factors
from pgs.domain.errors import refuse
from pgs.domain.factors import (
    LOCK_S,
    MAX_LOCKS,
    MAX_WRONG_CODES,
    Factor,
    FactorState,
    Verified,
    lock_left,
)
from tests.domain.factors import (
    ENROLLED,
    HERE,
    INVALID,
    LOCKED,
    NOW,
    STEP,
    enrol,
    factor_state,
    step_up_refusal,
    verify,
    wrong,
)

# Locks that add up


def test_the_fifth_lock_without_a_right_code_stays_until_a_reset() -> None:
    factor, now = ENROLLED, NOW
    for number in range(MAX_LOCKS):
        assert not factor.needs_reset
        factor = wrong(factor, MAX_WRONG_CODES, now)
        assert factor.locks == number + 1
        now += LOCK_S
    assert factor.needs_reset
    assert verify(factor, STEP + 1000, None, now + 10**6) == (factor, LOCKED)
    assert factors.enrol(factor, "new", HERE, now) == refuse("step_up_required")
    assert lock_left(factor, now + 10**6) == LOCK_S
    assert factor_state(factor, now) == FactorState(True, None, None, None, needs_reset=True)


def test_a_right_code_between_two_locks_starts_the_count_of_locks_anew() -> None:
    factor, now = ENROLLED, NOW
    for number in range(2 * MAX_LOCKS):
        factor = wrong(factor, MAX_WRONG_CODES, now)
        now += LOCK_S
        if number % 2:
            factor, answer = verify(factor, now // 30, None, now)
            assert answer == Verified(enrolled=False)
            assert factor.locks == 0


# A clock that stood ahead

TWO_DAYS = 2 * 86_400


def test_a_code_that_was_verified_two_days_ahead_does_not_disable_later_ones() -> None:
    ahead, _ = verify(ENROLLED, STEP + TWO_DAYS // 30, None, NOW + TWO_DAYS)
    assert verify(ahead, STEP, None, NOW)[1] == Verified(enrolled=False)


def test_a_code_is_not_accepted_again_after_the_clock_was_corrected_by_some_seconds() -> None:
    used, _ = verify(ENROLLED, STEP, None, NOW)
    assert verify(used, STEP - 1, None, NOW - 30) == (used, INVALID)


def test_a_lock_and_a_window_from_the_future_count_for_nothing() -> None:
    locked = wrong(ENROLLED, MAX_WRONG_CODES, NOW + TWO_DAYS)
    assert lock_left(locked, NOW) == 0
    assert verify(locked, STEP, None, NOW)[1] == Verified(enrolled=False)
    opened, _ = verify(ENROLLED, STEP + TWO_DAYS // 30, None, NOW + TWO_DAYS)
    assert step_up_refusal(opened, "open", NOW) == refuse("step_up_required")


class Guessing(RuleBasedStateMachine):
    """One authenticator over hours. Its limits hold for any order of calls."""

    def __init__(self) -> None:
        super().__init__()
        self.factor, self.now = ENROLLED, NOW
        self.wrong_at: list[int] = []
        self.accepted: list[int] = []

    @rule(seconds=st.sampled_from([0, 1, 29, 30, 119, 120, 600, 899, 900, 4000]))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds

    @rule(step_back=st.sampled_from([None, 0, 1]))
    def a_code_comes(self, step_back: int | None) -> None:
        step = None if step_back is None else self.now // 30 - step_back
        before = self.factor
        self.factor, answer = verify(before, step, None, self.now)
        if answer == LOCKED:
            assert self.factor == before
        elif isinstance(answer, Verified):
            assert step is not None
            self.accepted.append(step)
            self.wrong_at.clear()
        elif step is None:
            self.wrong_at.append(self.now)

    @precondition(lambda self: self.factor.enrolled)
    @rule()
    def enrolling_does_not_change_the_limits(self) -> None:
        after = enrol(self.factor, "other", self.now)
        if isinstance(after, Factor):
            assert (after.wrong_codes, after.locked_until, after.last_step) == (
                self.factor.wrong_codes,
                self.factor.locked_until,
                self.factor.last_step,
            )

    @invariant()
    def no_step_is_accepted_twice(self) -> None:
        assert self.accepted == sorted(set(self.accepted))

    @invariant()
    def two_of_any_six_wrong_codes_in_a_row_are_a_lock_apart(self) -> None:
        for first in range(len(self.wrong_at) - MAX_WRONG_CODES):
            six = self.wrong_at[first : first + MAX_WRONG_CODES + 1]
            assert any(later - earlier >= LOCK_S for earlier, later in itertools.pairwise(six))

    @invariant()
    def no_more_codes_are_guessed_than_the_locks_allow(self) -> None:
        assert len(self.wrong_at) <= MAX_LOCKS * MAX_WRONG_CODES


TestGuessing = Guessing.TestCase
