"""Token buckets whose arithmetic is exact, so that they do not drift.

A bucket counts in whole numbers: time in ticks of a microsecond, credit in millionths of a token. A
tick therefore earns exactly `rate` units of credit. A token may be taken in the tick in which it
becomes due, even if a part of its credit is still missing; that part is smaller than what one tick
earns. The bucket keeps the missing part as a debt, so the long-run rate is exact too.

The time of a call is rounded to the nearest tick. If the bucket is full at the call, rounding loses
at most the credit of half a tick. Otherwise rounding loses nothing: the next call earns the credit
that this call did not earn.
"""

from functools import lru_cache
from typing import Final

import msgspec

from pgs.domain.errors import BadRequest

_TICKS: Final = 1_000_000
"""Scale of time and credit: ticks in a second, and units in a token. Both numbers are the same, so
one tick earns exactly `rate` units."""

_LONG_AGO: Final = -(1 << 62)
"""Time before which no bucket is called, in ticks, whatever clock the owner uses. A new bucket has
this time as the time of its last call."""


BUCKET_MAX: Final = 1_000_000
"""Tokens that a bucket may hold, or regain each second. One process serves far fewer calls, so a
larger number is a typing error."""


class BucketPolicy(msgspec.Struct, frozen=True):
    """The size of a bucket.

    `burst`: tokens that it holds when full, at least 1. `rate`: whole tokens that it regains each
    second, at least 1.
    """

    burst: int
    rate: int

    def __post_init__(self) -> None:
        if self.burst < 1 or self.rate < 1:
            raise ValueError("a bucket holds at least one token and regains at least one a second")


def check_bucket(burst: int | None, rate: int | None) -> BadRequest | None:
    """Return what is wrong with a requested bucket size, or None. Values of None are allowed."""
    for name, value in (("burst", burst), ("rate", rate)):
        if value is not None and value < 1:
            return BadRequest(f"{name} must be at least 1")
        if value is not None and value > BUCKET_MAX:
            return BadRequest(f"{name} must be at most {BUCKET_MAX}")
    return None


PARTNER_POLICY: Final = BucketPolicy(burst=300, rate=80)
"""Calls that a partner may make with its keys: `burst` at once and then `rate` a second, as the
interface promises. An operator may set other numbers for a partner. For the pages of the partner's
frames there is a second bucket, of the same size as the partner's own. The bucket that all unknown
keys share, and that of each admin, always have the size that is given here."""


TEST_MATCH_POLICY: Final = BucketPolicy(burst=10, rate=1)
"""Calls for test matches that all members of an account may together make: `burst` at once and then
`rate` a second. People press a button for each, and each match stays open for up to an hour."""


RESEND_POLICY: Final = BucketPolicy(burst=5, rate=1)
"""Nudges that all members of an account may together send again: `burst` at once and then `rate` a
second. People press a button for each, and each may keep a connection open for five seconds."""


PLAYER_POLICY: Final = BucketPolicy(burst=60, rate=20)
"""Calls that a player may make with session tokens: `burst` at once and then `rate` a second, as
the interface promises. A frame makes two or three when it loads."""

GAME_API_FACTOR: Final = 10
"""Times by which the bucket of a partner's Game API is larger than the partner's own bucket. All
players of the partner share it."""


def times(policy: BucketPolicy, factor: int) -> BucketPolicy:
    """Return a policy that allows `factor` times as much."""
    return BucketPolicy(policy.burst * factor, policy.rate * factor)


class BucketAnswer(msgspec.Struct, frozen=True, gc=False):
    """A bucket's answer.

    `left`: whole tokens that it still holds. `retry_after`: seconds until the refused cost can be
    taken, at least 1; 0 when the cost was taken. `full_in`: seconds until the bucket is full,
    rounded up.
    """

    allowed: bool
    left: int
    retry_after: int
    full_in: int


class Bucket:
    """A token bucket with one owner. It starts full.

    It reads no clock: the owner passes the time in seconds. Any clock will do, but every call must
    use the same one. A time earlier than the last one earns nothing.
    """

    __slots__ = ("_credit", "_full", "_rate", "_tick", "policy")

    def __init__(self, policy: BucketPolicy) -> None:
        self.policy = policy
        self._rate = policy.rate
        self._full = policy.burst * _TICKS
        self._credit = self._full
        self._tick = _LONG_AGO

    def take(self, now: float, cost: int = 1) -> BucketAnswer:
        """Take `cost` tokens if the bucket holds them, else nothing, and return the answer.

        `cost` is between 1 and the burst.
        """
        retry_after = self.spend(now, cost)
        credit, rate = self._credit, self._rate
        full_in = -((credit - self._full) // (rate * _TICKS))  # rounded up, as by `_seconds`
        return BucketAnswer(not retry_after, (credit + rate - 1) // _TICKS, retry_after, full_in)

    def spend(self, now: float, cost: int = 1) -> int:
        """Take `cost` tokens and return 0; without them, return the seconds until the next try.

        The same as `take`, for callers that do not report what is left in the bucket. With a cost
        of 0, nothing is taken: the bucket only earns the credit for the time since the last call.
        """
        tick, credit, rate = round(now * _TICKS), self._credit, self._rate
        elapsed = tick - self._tick
        if elapsed > 0:
            self._tick = tick
            credit += elapsed * rate
            if credit > self._full:
                credit = self._full
        missing = cost * _TICKS - credit
        if missing < rate:
            self._credit = -missing
            return 0
        self._credit = credit
        # `missing - rate + 1` is the credit that must be earned before the test above passes.
        return _seconds(missing - rate + 1, rate)

    def left(self, now: float) -> int:
        """Return the whole tokens that the bucket holds at `now`."""
        self.spend(now, 0)
        return (self._credit + self._rate - 1) // _TICKS

    def is_full(self, now: float) -> bool:
        """Return whether the bucket is full at `now`. A full bucket behaves like a new one."""
        self.spend(now, 0)
        return self._credit == self._full

    def change(self, policy: BucketPolicy, now: float) -> None:
        """Apply another policy from `now` on.

        A higher burst adds the difference to the bucket immediately. A lower burst discards the
        tokens above it.
        """
        self.spend(now, 0)
        full = policy.burst * _TICKS
        self._credit = min(full, self._credit + max(0, full - self._full))
        self._full, self._rate, self.policy = full, policy.rate, policy


@lru_cache(maxsize=1024)  # one entry per policy; nearly every partner has the default one
def policy_header(policy: BucketPolicy) -> bytes:
    """Return the `RateLimit-Policy` value: the burst and the whole seconds to fill the bucket."""
    return b'"partner";q=%d;w=%d' % (policy.burst, -(-policy.burst // policy.rate))


def rate_header(answer: BucketAnswer) -> bytes:
    """Return the `RateLimit` value: the tokens left, and the seconds until the bucket is full."""
    return b'"partner";r=%d;t=%d' % (answer.left, answer.full_in)


def _seconds(units: int, rate: int) -> int:
    return -(-units // (rate * _TICKS))
