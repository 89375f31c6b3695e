"""When settlement is asked again."""

from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.settlement_retries import LOT_MAX, retry_at

times = st.integers(min_value=0, max_value=2**40)


@given(times, st.integers(min_value=0, max_value=10**6))
def test_settlement_is_asked_again_soon_at_first_and_every_minute_later(
    since: int, age: int
) -> None:
    wait = retry_at(since, since + age) - (since + age)
    assert 5 <= wait <= 60
    assert wait <= retry_at(since, since + age + 1) - (since + age + 1)
    assert wait == 5 or age >= 20
    assert wait == 60 or age < 240


@given(times, st.integers(0, 10**6), st.integers(0, LOT_MAX))
def test_a_lot_shortens_a_retry_by_a_quarter_at_most(since: int, age: int, lot: int) -> None:
    now = since + age
    longest = retry_at(since, now) - now
    assert max(5, longest * 3 // 4) <= retry_at(since, now, lot) - now <= longest
