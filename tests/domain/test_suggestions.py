"""Which known name a misspelt one is taken for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.suggestions import LIKENESS_CHARS, closest

FIELDS = ("playerId", "gameId", "tierId", "stakeUsdCents", "idempotencyKey")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("player_id", "playerId"),
        ("PlayerID", "playerId"),
        ("player-id", "playerId"),
        ("gameID", "gameId"),
        ("stake_usd_cents", "stakeUsdCents"),
        ("idempotenceKey", "idempotencyKey"),
        ("colour", None),
        ("", None),
        ("gameId" * LIKENESS_CHARS, None),
    ],
)
def test_a_misspelt_name_is_taken_for_the_one_that_is_most_alike(
    name: str, meant: str | None
) -> None:
    assert closest(name, FIELDS) == meant


@given(st.text(), st.lists(st.text(), max_size=100))
def test_only_a_known_name_is_found(name: str, known: list[str]) -> None:
    assert closest(name, known) in {None, *known}
