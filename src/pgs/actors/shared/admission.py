"""Rate admission: one bucket for each partner, one for all unknown keys, one for the process.

Admission is arithmetic on the state of a bucket, without an await. So calls are admitted one after
another without a lock.
"""

from typing import Literal

import msgspec

from pgs.domain.accounts import Account
from pgs.domain.rate import PARTNER_POLICY, Bucket, BucketPolicy, Taken


class Admission(msgspec.Struct, frozen=True):
    """Whether a call is admitted, and the state of the bucket.

    `refused_by`: `partner`, `process` or None. `retry_after`: seconds.
    """

    taken: Taken
    policy: BucketPolicy
    refused_by: Literal["partner", "process"] | None
    retry_after: int


def policy_of(account: Account) -> BucketPolicy:
    """Return a partner's bucket policy: the default, unless an operator has set another."""
    if account.burst is None and account.rate is None:
        return PARTNER_POLICY
    return BucketPolicy(account.burst or PARTNER_POLICY.burst, account.rate or PARTNER_POLICY.rate)


class ProcessAdmission:
    """The bucket of the whole process, and the one that all unknown keys share."""

    def __init__(self, process_rate: int) -> None:
        self._process = Bucket(BucketPolicy(process_rate, process_rate))
        self._unknown = Bucket(PARTNER_POLICY)

    def admit(self, now: float) -> Taken:
        """Draw from the process bucket."""
        return self._process.take(now)

    def admit_unknown(self, now: float) -> Taken:
        """Draw from the bucket that all unknown keys share, but not from the process bucket."""
        return self._unknown.take(now)


class PartnerAdmission:
    """One partner's bucket."""

    def __init__(self, process: ProcessAdmission) -> None:
        self._process = process
        self._bucket = Bucket(PARTNER_POLICY)

    def admit(self, account: Account, now: float) -> Admission:
        """Draw from the partner's bucket and, if it admits the call, from the process bucket."""
        policy = policy_of(account)
        bucket = self._bucket
        if bucket.policy != policy:
            bucket.change(policy, now)
        taken = bucket.take(now)
        if not taken.allowed:
            return Admission(taken, policy, "partner", taken.retry_after)
        process = self._process.admit(now)
        return Admission(taken, policy, None if process.allowed else "process", process.retry_after)

    def left(self, now: float) -> int:
        """Return how many calls the bucket would admit now, without drawing any."""
        return self._bucket.left(now)

    def is_full(self, now: float) -> bool:
        """Return whether the bucket is full, so that a new one would behave the same."""
        return self._bucket.is_full(now)
