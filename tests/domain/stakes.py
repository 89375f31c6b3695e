"""Prizes and stakes that a tier allows, for property tests."""

from hypothesis import strategies as st

cents = st.integers(min_value=1, max_value=10**9)


@st.composite
def prizes_and_stakes(draw: st.DrawFn) -> tuple[int, tuple[int, int]]:
    """Return a prize of at most twice its floor, and two stakes between floor and prize."""
    floor = draw(cents)
    prize = draw(st.integers(floor, 2 * floor))
    stake = st.integers(floor, prize)
    return prize, (draw(stake), draw(stake))
