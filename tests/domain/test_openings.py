"""Who moves first in a live match: whoever has moved first in the smaller share."""

import pytest

from pgs.domain.openings import Openings, first_begins


@pytest.mark.parametrize(
    ("first", "second", "begins"),
    [
        (Openings(10, 4), Openings(10, 5), True),
        (Openings(10, 5), Openings(10, 4), False),
        (Openings(100, 50), Openings(3, 2), True),
        (Openings(), Openings(2, 1), True),
        (Openings(2, 1), Openings(), False),
        (Openings(2, 1), Openings(1, 1), True),
        (Openings(1, 1), Openings(2, 1), False),
    ],
)
def test_the_player_with_the_smaller_share_of_first_moves_begins_whatever_the_lot(
    first: Openings, second: Openings, begins: bool
) -> None:
    assert [first_begins(first, second, lot) for lot in (0, 1)] == [begins] * 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Openings(), Openings()),
        (Openings(4, 2), Openings(2, 1)),
        (Openings(), Openings(3, 0)),
    ],
)
def test_the_lot_decides_who_begins_if_both_shares_are_equal(
    first: Openings, second: Openings
) -> None:
    assert [first_begins(first, second, lot) for lot in (0, 1, 254, 255)] == [
        False,
        True,
        False,
        True,
    ]
