"""A member's authenticator: the step-up windows that codes open, and the lock against guessing.

A `Factor` is everything that is kept of one member's authenticator. This module sees no secret in
plain text: secrets are sealed, and a code is given as the time steps that it matched
(`pgs.domain.totp`).

Every `now` here is the real time, which may go back. A window or a lock that begins in the future
was recorded while the clock was ahead, and is ignored. The step of the last accepted code is also
ignored if it is more than `STEPS_AHEAD` ahead of the present step.
"""

from typing import Final, Literal

import msgspec

from pgs.domain.errors import Refusal, refuse
from pgs.domain.secrets import HidesSecrets
from pgs.domain.totp import STEP_S

Need = Literal["none", "open", "fresh"]
"""What a call needs: nothing, an open window, or a window that was opened within `FRESH_S`."""

WINDOW_S: Final = 15 * 60
"""Seconds for which a verified code opens the step-up window, as the interface promises."""

FRESH_S: Final = 2 * 60
"""Seconds for which a window is fresh. Calls that create a credential or switch the account on need
a fresh window."""

MAX_WRONG_CODES: Final = 5
"""Codes in a row that set a lock if all of them are wrong. Two of a million codes are right at any
time, so five guesses succeed once in 100,000 locks."""

LOCK_S: Final = 15 * 60
"""Seconds for which no code is checked after too many wrong ones. So nobody can guess more than
five codes in a quarter of an hour."""


MAX_LOCKS: Final = 5
"""Locks with no right code between them, after which no code is checked until somebody resets the
authenticator. So an attacker has at most 25 guesses, and a chance of 1 in 20,000 that one is
right."""

WINDOWS_MAX: Final = 8
"""Sign-ins of one member with an open window. A person uses two or three browsers at the same
time."""

STEPS_AHEAD: Final = 1
"""Steps of 30 seconds by which the recorded step of the last accepted code may lie in the future
and still count. It lies there if the clock was set back by some seconds after the code was
accepted. A recorded step that is further in the future comes from a wrong clock. It is ignored, so
that codes are accepted again."""


class Window(msgspec.Struct, frozen=True, array_like=True):
    """A step-up window: the sign-in in which a right code was given, and when, in epoch seconds."""

    sign_in: str
    opened_at: int


class Factor(HidesSecrets, msgspec.Struct, frozen=True):
    """A member's authenticator and the step-up windows that it opened. Times in epoch seconds.

    `Factor()` stands for a member without an authenticator. `sealed_secret` is in force;
    `pending_sealed_secret` waits for its first code. `last_step` is the time step of the last
    accepted code: no code of that step or an earlier one is accepted again. `wrong_codes` counts
    wrong codes since the last right code or the last lock, `locks` the locks since the last right
    code. `windows` has at most one window for each sign-in, the newest last.
    """

    SECRETS = frozenset({"sealed_secret", "pending_sealed_secret"})

    sealed_secret: str | None = None
    last_step: int | None = None
    wrong_codes: int = 0
    locked_until: int | None = None
    windows: tuple[Window, ...] = ()
    pending_sealed_secret: str | None = None
    locks: int = 0

    @property
    def enrolled(self) -> bool:
        """Whether an authenticator is in force. A pending one is not."""
        return self.sealed_secret is not None

    @property
    def needs_reset(self) -> bool:
        """Whether no code is checked any more until the authenticator is reset."""
        return self.locks >= MAX_LOCKS


class Verified(msgspec.Struct, frozen=True):
    """A code was right: the window is open and fresh.

    `enrolled`: it was the first code of a pending authenticator, which is now in force.
    """

    enrolled: bool


class FactorState(msgspec.Struct, frozen=True):
    """A factor as its member sees it: the epoch seconds at which the windows and the lock end.

    The time of a closed window is None. The time of the lock is None if there is no lock, or if
    only a reset ends it. `needs_reset`: the lock ends only when the authenticator is reset.
    `tries_left`: how many more wrong codes set a lock, or None while `Factor.wrong_codes` is 0.
    """

    enrolled: bool
    until: int | None
    fresh_until: int | None
    locked_until: int | None
    needs_reset: bool = False
    tries_left: int | None = None


def factor_state(factor: Factor, sign_in: str, now: int) -> FactorState:
    """Return which windows of a sign-in are open at `now`, and whether codes are locked."""
    locked = lock_left(factor, now) and not factor.needs_reset
    return FactorState(
        factor.enrolled,
        _end(factor, sign_in, WINDOW_S, now),
        _end(factor, sign_in, FRESH_S, now),
        factor.locked_until if locked else None,
        factor.needs_reset,
        MAX_WRONG_CODES - factor.wrong_codes if factor.wrong_codes else None,
    )


def lock_left(factor: Factor, now: int) -> int:
    """Return the seconds until codes are checked again, or 0 without a lock.

    For a lock that only a reset ends, the result is `LOCK_S`.
    """
    if factor.needs_reset:
        return LOCK_S
    left = 0 if factor.locked_until is None else factor.locked_until - now
    return left if 0 < left <= LOCK_S else 0


def step_up_refusal(factor: Factor, need: Need, sign_in: str, now: int) -> Refusal | None:
    """Return why a call that needs step-up is refused, or None. A lock does not close a window.

    Only windows that were opened in the same sign-in count.
    """
    if need == "none":
        return None
    if not factor.enrolled:
        return refuse("totp_not_enrolled")
    if _end(factor, sign_in, WINDOW_S, now) is None:
        return refuse("step_up_required")
    if need == "fresh" and _end(factor, sign_in, FRESH_S, now) is None:
        return refuse("fresh_step_up_required")
    return None


def enrol(factor: Factor, sealed_secret: str, sign_in: str, now: int) -> Factor | Refusal:
    """Return the factor with a new authenticator pending, or why none can be enrolled now.

    Replacing an authenticator needs a fresh window. The old one stays in force until the first code
    of the new one. An authenticator that was pending before is forgotten. The count of wrong codes
    stays, and a lock forbids enrolling, so enrolling again gives no further guesses.
    """
    refusal = step_up_refusal(factor, "fresh", sign_in, now) if factor.enrolled else None
    if refusal is not None:
        return refusal
    if lock_left(factor, now):
        return refuse("step_up_locked")
    return msgspec.structs.replace(factor, pending_sealed_secret=sealed_secret)


def count_attempt(factor: Factor, now: int) -> Factor | Refusal:
    """Return the factor with one more wrong code, or why no code is checked now.

    Commit this factor before you check the code. Then a guess is counted even if the service
    crashes or the caller leaves. The fifth wrong code locks, but gets the same answer as the four
    before. The fifth lock does not end by itself.
    """
    if not factor.enrolled and factor.pending_sealed_secret is None:
        return refuse("totp_not_enrolled")
    if lock_left(factor, now):
        return refuse("step_up_locked")
    wrong = factor.wrong_codes + 1
    if wrong < MAX_WRONG_CODES:
        return msgspec.structs.replace(factor, wrong_codes=wrong, locked_until=None)
    return msgspec.structs.replace(
        factor, wrong_codes=0, locked_until=now + LOCK_S, locks=factor.locks + 1
    )


def verify(
    factor: Factor, step: int | None, pending_step: int | None, sign_in: str, now: int
) -> tuple[Factor, Verified | Refusal]:
    """Return the factor after a code, and the verdict on the code.

    `factor`: as it was before the attempt was counted. `step` and `pending_step`: the time steps in
    which the code is right for the authenticator in force and for the pending one; None if the code
    is wrong or there is no such authenticator. Do this in order:

    1. Call `count_attempt(factor, now)`; reply its refusal.
    2. Commit the factor that it returned.
    3. Match the code, call this function, commit the returned factor if it differs from the factor
       of step 2, and reply.

    Reply only after the commit: a code could be accepted twice until its step is stored as
    `last_step`.
    """
    counted = count_attempt(factor, now)
    if isinstance(counted, Refusal):
        return factor, counted
    if factor.pending_sealed_secret is not None and pending_step is not None:
        return Factor(
            sealed_secret=factor.pending_sealed_secret,
            last_step=pending_step,
            windows=(Window(sign_in, now),),
        ), Verified(enrolled=True)
    if not factor.enrolled or step is None:
        return counted, refuse("invalid_code")
    if _was_used(factor, step, now):
        # A right code that was used before. It counts neither as right nor as wrong: its owner may
        # have pressed twice. The answer is that of a wrong code, so somebody who overheard the code
        # does not learn that it was right. Only the `FactorState`, which the member alone sees,
        # shows the difference: `tries_left` stays the same.
        return factor, refuse("invalid_code")
    others = [w for w in factor.windows if w.sign_in != sign_in and _is_open(w, WINDOW_S, now)]
    opened = msgspec.structs.replace(
        factor,
        last_step=step,
        wrong_codes=0,
        locked_until=None,
        windows=(*others, Window(sign_in, now))[-WINDOWS_MAX:],
        locks=0,
    )
    return opened, Verified(enrolled=False)


def _was_used(factor: Factor, step: int, now: int) -> bool:
    """Return whether the code of a time step, or of a later one, was accepted before."""
    last = factor.last_step
    return last is not None and step <= last <= now // STEP_S + STEPS_AHEAD


def _is_open(window: Window, length: int, now: int) -> bool:
    return window.opened_at <= now < window.opened_at + length


def _end(factor: Factor, sign_in: str, length: int, now: int) -> int | None:
    """Return when the sign-in's window of that length ends, or None if it is closed."""
    for window in factor.windows:
        if window.sign_in == sign_in and _is_open(window, length, now):
            return window.opened_at + length
    return None
