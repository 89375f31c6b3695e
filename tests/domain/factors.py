"""Authenticators in each of their states, and the calls that the tests make on them."""

from pgs.domain import factors
from pgs.domain.errors import Refusal, refuse
from pgs.domain.factors import (
    Factor,
    FactorState,
    Need,
    Verified,
    Window,
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


def step_up_refusal(factor: Factor, need: Need, now: int, sign_in: str = HERE) -> Refusal | None:
    return factors.step_up_refusal(factor, need, sign_in, now)


def enrol(factor: Factor, sealed_secret: str, now: int) -> Factor | Refusal:
    return factors.enrol(factor, sealed_secret, HERE, now)


def verify(
    factor: Factor, step: int | None, pending_step: int | None, now: int, sign_in: str = HERE
) -> tuple[Factor, Verified | Refusal]:
    return factors.verify(factor, step, pending_step, sign_in, now)


def factor_state(factor: Factor, now: int) -> FactorState:
    return factors.factor_state(factor, HERE, now)


def wrong(factor: Factor, times: int, now: int = NOW) -> Factor:
    for _ in range(times):
        factor, answer = verify(factor, None, None, now)
        assert answer == INVALID
    return factor
