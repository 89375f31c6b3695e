"""Who moves first in a live match: whoever has moved first in the smaller share."""

import pytest

from pgs.domain.first_moves import FirstMoves, moves_first


@pytest.mark.parametrize(
    ("player", "opponent", "first"),
    [
        (FirstMoves(10, 4), FirstMoves(10, 5), True),
        (FirstMoves(10, 5), FirstMoves(10, 4), False),
        (FirstMoves(100, 50), FirstMoves(3, 2), True),
        (FirstMoves(), FirstMoves(2, 1), True),
        (FirstMoves(2, 1), FirstMoves(), False),
        (FirstMoves(2, 1), FirstMoves(1, 1), True),
        (FirstMoves(1, 1), FirstMoves(2, 1), False),
    ],
)
def test_the_player_with_the_smaller_share_of_first_moves_moves_first_whatever_the_lot(
    player: FirstMoves, opponent: FirstMoves, first: bool
) -> None:
    assert [moves_first(player, opponent, lot) for lot in (0, 1)] == [first] * 2


@pytest.mark.parametrize(
    ("player", "opponent"),
    [
        (FirstMoves(), FirstMoves()),
        (FirstMoves(4, 2), FirstMoves(2, 1)),
        (FirstMoves(), FirstMoves(3, 0)),
    ],
)
def test_the_lot_decides_who_moves_first_if_both_shares_are_equal(
    player: FirstMoves, opponent: FirstMoves
) -> None:
    assert [moves_first(player, opponent, lot) for lot in (0, 1, 254, 255)] == [
        False,
        True,
        False,
        True,
    ]
