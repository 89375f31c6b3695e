from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.errors import BadRequest
from pgs.domain.token_buckets import (
    BUCKET_MAX,
    PARTNER_POLICY,
    PLAYER_POLICY,
    TEST_MATCH_POLICY,
    Bucket,
    BucketAnswer,
    BucketPolicy,
    check_bucket,
    policy_header,
    rate_header,
    times,
)

policies = st.builds(BucketPolicy, burst=st.integers(1, 500), rate=st.integers(1, 500))
starts = st.sampled_from([0.0, 1.0, 12345.678, 987_654.321, 1_760_000_000.0, -5.0])


@pytest.mark.parametrize(
    ("burst", "rate"), [(None, None), (1, None), (None, 1), (BUCKET_MAX, BUCKET_MAX)]
)
def test_a_burst_and_a_rate_within_bounds_are_accepted(burst: int | None, rate: int | None) -> None:
    assert check_bucket(burst, rate) is None


@pytest.mark.parametrize(
    ("burst", "rate", "why"),
    [
        (0, None, "burst must be at least 1"),
        (5, -1, "rate must be at least 1"),
        (BUCKET_MAX + 1, 5, "burst must be at most"),
        (5, 2**63, "rate must be at most"),
    ],
)
def test_a_burst_or_rate_out_of_bounds_is_refused_with_the_reason(
    burst: int | None, rate: int | None, why: str
) -> None:
    refusal = check_bucket(burst, rate)
    assert isinstance(refusal, BadRequest)
    assert why in refusal.message


def drain(bucket: Bucket, now: float) -> int:
    count = 0
    while bucket.take(now).allowed:
        count += 1
    return count


@given(starts)
def test_a_new_bucket_gives_its_whole_burst_and_no_more(start: float) -> None:
    assert drain(Bucket(PARTNER_POLICY), start) == 300


@pytest.mark.parametrize(
    ("policy", "at_once", "each_second"), [(PLAYER_POLICY, 60, 20), (TEST_MATCH_POLICY, 10, 1)]
)
def test_players_and_test_matches_have_the_limits_that_the_pages_promise(
    policy: BucketPolicy, at_once: int, each_second: int
) -> None:
    bucket = Bucket(policy)
    assert drain(bucket, 0.0) == at_once
    assert drain(bucket, 1.0) == each_second


@given(starts, st.integers(1, 3000))
def test_the_partner_bucket_gives_one_call_at_every_80th_of_a_second(
    start: float, count: int
) -> None:
    bucket = Bucket(PARTNER_POLICY)
    drain(bucket, start)
    for k in range(1, count + 1):
        assert bucket.take(start + 0.0125 * k).allowed, k
        assert not bucket.take(start + 0.0125 * k).allowed, k


@given(starts)
def test_a_token_is_not_given_out_before_it_is_due(start: float) -> None:
    bucket = Bucket(PARTNER_POLICY)
    drain(bucket, start)
    assert not bucket.take(start + 0.01249).allowed
    assert not bucket.take(start + 0.012499).allowed
    assert bucket.take(start + 0.0125).allowed


# The burst is at least 2, because a bucket of one token is full when that token is due and may
# then lose half a microsecond to rounding.
@given(
    st.builds(BucketPolicy, burst=st.integers(2, 500), rate=st.integers(1, 500)),
    st.integers(1, 2000),
)
def test_a_token_is_available_at_the_instant_it_is_due_at_any_rate(
    policy: BucketPolicy, count: int
) -> None:
    bucket = Bucket(policy)
    drain(bucket, 0.0)
    for k in range(1, count + 1):
        assert bucket.take(k / policy.rate).allowed, k


@given(policies, st.lists(st.floats(0, 5), max_size=60))
def test_no_pattern_of_calls_gets_more_than_burst_and_rate_allow(
    policy: BucketPolicy, pauses: list[float]
) -> None:
    bucket, now, given_out = Bucket(policy), 100.0, drain(Bucket(policy), 100.0)
    drain(bucket, now)
    for pause in pauses:
        now += pause
        given_out += drain(bucket, now)
        # One microsecond allows for rounding to ticks, another for tokens taken early in a tick.
        assert given_out <= policy.burst + policy.rate * (
            Fraction(now) - 100 + Fraction(2, 1_000_000)
        )


@given(policies, st.lists(st.floats(0, 1), min_size=1, max_size=40), st.data())
def test_retry_after_is_long_enough_and_less_than_a_second_too_long(
    policy: BucketPolicy, pauses: list[float], data: st.DataObject
) -> None:
    cost = data.draw(st.integers(1, policy.burst))
    bucket, now = Bucket(policy), 0.0
    for pause in pauses:
        now += pause
        answer = bucket.take(now, cost)
        if not answer.allowed:
            assert answer.retry_after >= 1
            if answer.retry_after > 1:
                assert not bucket.take(now + answer.retry_after - 1, cost).allowed
            assert bucket.take(now + answer.retry_after, cost).allowed
            return


def test_a_refused_call_takes_no_tokens() -> None:
    bucket = Bucket(BucketPolicy(burst=5, rate=1))
    assert bucket.take(0.0, 4).left == 1
    assert bucket.take(0.0, 2) == BucketAnswer(allowed=False, left=1, retry_after=1, full_in=4)
    assert bucket.take(0.0, 1) == BucketAnswer(allowed=True, left=0, retry_after=0, full_in=5)


def test_a_refusal_a_microsecond_before_a_token_is_due_does_not_count_that_token() -> None:
    bucket = Bucket(BucketPolicy(burst=2, rate=1))
    drain(bucket, 0.0)
    assert bucket.take(0.999_999) == BucketAnswer(allowed=False, left=0, retry_after=1, full_in=2)
    assert bucket.take(1.0) == BucketAnswer(allowed=True, left=0, retry_after=0, full_in=2)


def test_an_answer_says_what_is_left_and_when_the_bucket_will_be_full() -> None:
    bucket = Bucket(PARTNER_POLICY)
    assert bucket.take(7.0) == BucketAnswer(allowed=True, left=299, retry_after=0, full_in=1)
    for _ in range(298):
        bucket.take(7.0)
    assert bucket.take(7.0) == BucketAnswer(allowed=True, left=0, retry_after=0, full_in=4)
    assert bucket.take(7.0) == BucketAnswer(allowed=False, left=0, retry_after=1, full_in=4)


@given(policies, st.floats(0, 1000))
def test_an_answer_says_how_many_calls_can_still_be_made(policy: BucketPolicy, now: float) -> None:
    bucket = Bucket(policy)
    drain(bucket, 0.0)
    answer = bucket.take(now)
    assert answer.left == drain(bucket, now)


def test_an_idle_bucket_never_holds_more_than_its_burst() -> None:
    bucket = Bucket(PARTNER_POLICY)
    drain(bucket, 0.0)
    assert drain(bucket, 1_000_000.0) == 300


def test_time_that_goes_backwards_takes_no_tokens() -> None:
    bucket = Bucket(PARTNER_POLICY)
    assert bucket.take(100.0, 100).left == 200
    assert bucket.take(50.0).left == 199
    assert bucket.take(100.0).left == 198


def test_time_that_goes_backwards_gives_no_tokens() -> None:
    bucket = Bucket(PARTNER_POLICY)
    drain(bucket, 100.0)
    assert not bucket.take(50.0).allowed
    assert not bucket.take(100.0).allowed
    assert drain(bucket, 101.0) == 80


def test_a_bucket_is_full_again_after_burst_over_rate_seconds() -> None:
    bucket = Bucket(PARTNER_POLICY)
    assert bucket.is_full(0.0)
    drain(bucket, 0.0)
    assert not bucket.is_full(3.7499)
    assert bucket.is_full(3.75)


def test_a_lowered_burst_discards_the_tokens_above_it() -> None:
    bucket = Bucket(PARTNER_POLICY)
    bucket.change(BucketPolicy(burst=10, rate=2), 0.0)
    assert drain(bucket, 0.0) == 10
    assert drain(bucket, 1.0) == 2


def test_a_raised_burst_is_available_at_once() -> None:
    bucket = Bucket(PARTNER_POLICY)
    assert bucket.take(0.0, 100).left == 200
    bucket.change(BucketPolicy(burst=1000, rate=500), 0.0)
    assert drain(bucket, 0.0) == 900
    assert drain(bucket, 1.0) == 500


def test_a_raised_burst_adds_only_the_difference_and_a_lowered_one_adds_nothing() -> None:
    bucket = Bucket(PARTNER_POLICY)
    drain(bucket, 0.0)
    bucket.change(BucketPolicy(burst=301, rate=80), 0.0)
    assert drain(bucket, 0.0) == 1
    bucket.change(PARTNER_POLICY, 0.0)
    assert drain(bucket, 0.0) == 0


@pytest.mark.parametrize(("burst", "rate"), [(0, 1), (1, 0), (-1, 80)])
def test_a_policy_without_tokens_is_a_value_error(burst: int, rate: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        BucketPolicy(burst, rate)


def test_headers_state_the_policy_and_what_is_left() -> None:
    assert policy_header(PARTNER_POLICY) == b'"partner";q=300;w=4'
    assert policy_header(BucketPolicy(burst=160, rate=80)) == b'"partner";q=160;w=2'
    assert rate_header(Bucket(PARTNER_POLICY).take(0.0)) == b'"partner";r=299;t=1'


@given(steps=st.lists(st.integers(0, 3_000_000), max_size=200))
def test_spending_a_token_does_what_taking_one_does(steps: list[int]) -> None:
    policy = BucketPolicy(burst=3, rate=7)
    one, other, now = Bucket(policy), Bucket(policy), 0.0
    for step in steps:
        now += step / 1_000_000
        answer = one.take(now)
        assert other.spend(now) == answer.retry_after
        assert other.left(now) == one.left(now)


def test_a_microsecond_before_a_token_is_due_nothing_counts_it() -> None:
    policy = BucketPolicy(burst=3, rate=1)
    for just_before in (0.999_998, 0.999_999):
        bucket = Bucket(policy)
        drain(bucket, 0.0)
        assert bucket.spend(0.0) == 1
        assert bucket.spend(just_before) == 1
        assert bucket.left(just_before) == 0
        bucket.change(policy, just_before)
        assert bucket.spend(just_before) == 1
        assert bucket.left(1.0) == 1
        assert bucket.take(just_before + 1.0).left == 0
    bucket = Bucket(policy)
    drain(bucket, 0.0)
    assert bucket.take(0.999_999, 2) == BucketAnswer(
        allowed=False, left=0, retry_after=2, full_in=3
    )
    assert bucket.take(1.999_999) == BucketAnswer(allowed=True, left=0, retry_after=0, full_in=3)


def test_a_multiple_of_a_policy_has_that_multiple_of_its_burst_and_its_rate() -> None:
    assert times(BucketPolicy(burst=3, rate=4), 10) == BucketPolicy(burst=30, rate=40)
    assert Bucket(PLAYER_POLICY).policy == PLAYER_POLICY
