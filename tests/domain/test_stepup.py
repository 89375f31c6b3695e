import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pgs.domain import stepup
from pgs.domain.errors import Refusal, refuse
from pgs.domain.stepup import (
    FRESH_S,
    LOCK_S,
    MAX_LOCKS,
    MAX_WRONG_CODES,
    WINDOW_S,
    WINDOWS_MAX,
    Factor,
    Need,
    Standing,
    Verified,
    Window,
    count_attempt,
    lock_left,
)

NOW = 1_800_000_000
STEP = NOW // 30
HERE, ELSEWHERE = "this sign-in", "another sign-in"
NONE = Factor()
PENDING = Factor(pending_sealed_secret="new")
ENROLLED = Factor(sealed_secret="old", last_step=STEP - 10)
OPEN = Factor(sealed_secret="old", last_step=STEP - 10, windows=(Window(HERE, NOW),))
REPLACING = Factor(
    sealed_secret="old",
    last_step=STEP - 10,
    windows=(Window(HERE, NOW),),
    pending_sealed_secret="new",
)

INVALID, LOCKED, UNENROLLED = (
    refuse("invalid_code"),
    refuse("step_up_locked"),
    refuse("totp_not_enrolled"),
)


def gate(factor: Factor, need: Need, now: int, sign_in: str = HERE) -> Refusal | None:
    return stepup.gate(factor, need, sign_in, now)


def enrol(factor: Factor, sealed_secret: str, now: int) -> Factor | Refusal:
    return stepup.enrol(factor, sealed_secret, HERE, now)


def verify(
    factor: Factor, step: int | None, pending_step: int | None, now: int, sign_in: str = HERE
) -> tuple[Factor, Verified | Refusal]:
    return stepup.verify(factor, step, pending_step, sign_in, now)


def standing(factor: Factor, now: int) -> Standing:
    return stepup.standing(factor, HERE, now)


def wrong(factor: Factor, times: int, now: int = NOW) -> Factor:
    for _ in range(times):
        factor, answer = verify(factor, None, None, now)
        assert answer == INVALID
    return factor


def test_the_windows_are_fifteen_and_two_minutes_and_five_codes_lock_for_fifteen() -> None:
    assert (WINDOW_S, FRESH_S, MAX_WRONG_CODES, LOCK_S) == (900, 120, 5, 900)


# The gate


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
    assert gate(OPEN, "open", NOW + after) == (open_answer and refuse(open_answer))
    assert gate(OPEN, "fresh", NOW + after) == (fresh_answer and refuse(fresh_answer))


@pytest.mark.parametrize("need", ["open", "fresh"])
def test_a_member_whose_window_was_never_open_needs_a_code(need: Need) -> None:
    assert gate(ENROLLED, need, NOW) == refuse("step_up_required")


@pytest.mark.parametrize("need", ["open", "fresh"])
@pytest.mark.parametrize("factor", [NONE, PENDING])
def test_every_gate_reports_a_missing_authenticator(factor: Factor, need: Need) -> None:
    assert gate(factor, need, NOW) == UNENROLLED


@pytest.mark.parametrize("factor", [NONE, PENDING, ENROLLED, OPEN])
def test_a_call_that_needs_no_code_passes_everyone(factor: Factor) -> None:
    assert gate(factor, "none", NOW) is None


# Codes


def test_a_right_code_opens_a_fresh_window_and_stores_its_step() -> None:
    after, answer = verify(ENROLLED, STEP, None, NOW)
    assert answer == Verified(enrolled=False)
    assert after == msgspec.structs.replace(ENROLLED, last_step=STEP, windows=(Window(HERE, NOW),))
    assert gate(after, "fresh", NOW) is None


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
    assert gate(locked, "fresh", NOW) is None
    assert gate(locked, "open", NOW + WINDOW_S - 1) is None


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


# Enrolling


def test_the_first_authenticator_needs_no_code_and_is_pending() -> None:
    assert enrol(NONE, "new", NOW) == PENDING
    assert not PENDING.enrolled


def test_the_first_code_activates_the_authenticator_and_opens_the_window() -> None:
    after, answer = verify(PENDING, None, STEP, NOW)
    assert answer == Verified(enrolled=True)
    assert after == Factor(sealed_secret="new", last_step=STEP, windows=(Window(HERE, NOW),))
    assert gate(after, "fresh", NOW) is None


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
        (NONE, 0, Standing(False, None, None, None)),
        (PENDING, 0, Standing(False, None, None, None)),
        (OPEN, 0, Standing(True, NOW + 900, NOW + 120, None)),
        (OPEN, 120, Standing(True, NOW + 900, None, None)),
        (OPEN, 900, Standing(True, None, None, None)),
        (Factor(sealed_secret="old", locked_until=NOW + 5), 4, Standing(True, None, None, NOW + 5)),
        (Factor(sealed_secret="old", locked_until=NOW + 5), 5, Standing(True, None, None, None)),
    ],
)
def test_the_standing_shows_the_ends_of_running_windows_and_locks(
    factor: Factor, after: int, seen: Standing
) -> None:
    assert standing(factor, NOW + after) == seen


# Sign-ins


def test_a_window_belongs_to_the_sign_in_in_which_the_code_was_given() -> None:
    for need, reason in (("open", "step_up_required"), ("fresh", "step_up_required")):
        assert gate(OPEN, need, NOW) is None  # type: ignore[arg-type]
        assert gate(OPEN, need, NOW, ELSEWHERE) == refuse(reason)  # type: ignore[arg-type]
    assert stepup.standing(OPEN, ELSEWHERE, NOW) == Standing(True, None, None, None)
    assert stepup.enrol(OPEN, "new", ELSEWHERE, NOW) == refuse("step_up_required")


def test_two_sign_ins_have_a_window_each() -> None:
    both, answer = verify(OPEN, STEP, None, NOW + 60, ELSEWHERE)
    assert answer == Verified(enrolled=False)
    assert gate(both, "open", NOW + 60) is None
    assert gate(both, "open", NOW + 60, ELSEWHERE) is None
    assert gate(both, "open", NOW + WINDOW_S, ELSEWHERE) is None
    assert gate(both, "open", NOW + WINDOW_S) == refuse("step_up_required")


def test_only_the_newest_windows_are_kept_and_closed_ones_are_dropped() -> None:
    factor = OPEN
    for number in range(WINDOWS_MAX + 1):
        factor, _ = verify(factor, STEP + number, None, NOW + number, f"sign-in {number}")
    assert [window.sign_in for window in factor.windows] == [
        f"sign-in {number}" for number in range(1, WINDOWS_MAX + 1)
    ]
    later, _ = verify(factor, STEP + 90, None, NOW + 90 * 30)
    assert later.windows == (Window(HERE, NOW + 90 * 30),)


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
    assert stepup.enrol(factor, "new", HERE, now) == refuse("step_up_required")
    assert lock_left(factor, now + 10**6) == LOCK_S
    assert standing(factor, now) == Standing(True, None, None, None, needs_reset=True)


def test_a_right_code_between_them_starts_the_count_of_locks_anew() -> None:
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
    assert gate(opened, "open", NOW) == refuse("step_up_required")


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
