"""Rate admission: buckets of partners, players and admins, of unknown keys, and of the process.

Admission is arithmetic on the state of a bucket, without an await. So calls are admitted one after
another without a lock. `pgs.http.api.auth` attaches the `RateLimit` headers.
"""

from typing import Final, Generic, Literal, TypeVar

import msgspec

from pgs.domain.accounts import Account
from pgs.domain.token_buckets import (
    PARTNER_POLICY,
    PLAYER_POLICY,
    Bucket,
    BucketAnswer,
    BucketPolicy,
    times,
)

K = TypeVar("K")

KEPT: Final = 10_000
"""Buckets that are kept in memory before a search drops the full ones. A full bucket behaves like a
new one, and a player's bucket is full again after three seconds."""

HOLD_S: Final = 1.0
"""Seconds for which a refusal is held back from a caller who ignores refusals. A flood then costs
one call a second for each of its connections."""


class Admission(msgspec.Struct, frozen=True):
    """Whether a call is admitted, and the state of the partner's bucket.

    `refused_by`: `partner`, `process` or None. `retry_after`: seconds.
    """

    answer: BucketAnswer
    refused_by: Literal["partner", "process"] | None
    retry_after: int


def policy_of(account: Account) -> BucketPolicy:
    """Return a partner's bucket policy: the default, unless an operator has set another one."""
    if account.burst is None and account.rate is None:
        return PARTNER_POLICY
    return BucketPolicy(account.burst or PARTNER_POLICY.burst, account.rate or PARTNER_POLICY.rate)


class ProcessAdmission:
    """The bucket of the whole process, and the one that all unknown keys share."""

    def __init__(self, process_rate: int) -> None:
        self.bucket = Bucket(BucketPolicy(process_rate, process_rate))
        self._unknown = Bucket(PARTNER_POLICY)

    def admit(self, now: float) -> BucketAnswer:
        """Take a token from the process bucket, if it has one."""
        return self.bucket.take(now)

    def wait_s(self, now: float) -> int:
        """Take a token from the process bucket; return 0, or the seconds until the next try."""
        return self.bucket.spend(now)

    def admit_unknown(self, now: float) -> BucketAnswer:
        """Take a token from the bucket that all unknown keys share, not from the process bucket."""
        return self._unknown.take(now)


class PartnerAdmission:
    """One partner's bucket, `factor` times as large as the account says."""

    def __init__(self, process: ProcessAdmission, factor: int = 1) -> None:
        self._process = process.bucket
        self._factor = factor
        self._account: Account | None = None  # the one whose policy the bucket has
        self._bucket = Bucket(times(PARTNER_POLICY, factor))

    def admit(self, account: Account, now: float) -> Admission:
        """Take a token from the partner's bucket and, if it had one, from the process bucket."""
        if account is not self._account:
            self._account, policy = account, times(policy_of(account), self._factor)
            if self._bucket.policy != policy:
                self._bucket.change(policy, now)
        answer = self._bucket.take(now)
        if not answer.allowed:
            return Admission(answer, "partner", answer.retry_after)
        wait_s = self._process.spend(now)
        return Admission(answer, "process" if wait_s else None, wait_s)

    def left(self, now: float) -> int:
        """Return how many calls the bucket would admit now, and take none."""
        return self._bucket.left(now)

    def is_full(self, now: float) -> bool:
        """Return whether the bucket is full. A full bucket behaves like a new one."""
        return self._bucket.is_full(now)


class ManyBuckets(Generic[K]):
    """Buckets of one policy, one for each name. Full ones are dropped from time to time."""

    def __init__(self, policy: BucketPolicy) -> None:
        self._policy = policy
        self._buckets: dict[K, Bucket] = {}
        self._look_at = KEPT

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, name: K, now: float) -> BucketAnswer:
        """Take a token from the bucket of a name."""
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= self._look_at:
                self._drop_full(now)
            bucket = self._buckets[name] = Bucket(self._policy)
        return bucket.take(now)

    def _drop_full(self, now: float) -> None:
        self._buckets = {
            name: bucket for name, bucket in self._buckets.items() if not bucket.is_full(now)
        }
        # The next search comes at twice as many buckets, so its cost is spread over many calls.
        self._look_at = max(KEPT, 2 * len(self._buckets))


class RateLimited(msgspec.Struct, frozen=True):
    """A refusal, with the seconds after which to try again.

    `hold_s`: seconds for which to hold the refusal back.
    """

    retry_after: int
    hold_s: float


class PlayerAdmission:
    """A bucket for each player, and one for each player's refusals."""

    def __init__(self) -> None:
        self._calls = ManyBuckets[tuple[str, str, str]](PLAYER_POLICY)
        self._refusals = ManyBuckets[tuple[str, str, str]](PLAYER_POLICY)

    def refuse(self, player: tuple[str, str, str], now: float) -> RateLimited | None:
        """Take a token from the player's bucket; return None if it had one, else the refusal.

        The first refusals are answered at once. If the player goes on calling, each further refusal
        is delayed.
        """
        answer = self._calls.take(player, now)
        if answer.allowed:
            return None
        at_once = self._refusals.take(player, now).allowed
        return RateLimited(answer.retry_after, 0.0 if at_once else HOLD_S)


class SharedAdmission:
    """The buckets of the process and of unknown keys, and those of each player and each admin."""

    def __init__(self, process_rate: int) -> None:
        self.process = ProcessAdmission(process_rate)
        self.players = PlayerAdmission()
        self.admins = ManyBuckets[str](PARTNER_POLICY)
