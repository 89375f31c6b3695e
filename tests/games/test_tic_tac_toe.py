"""The rules of tic-tac-toe."""

import msgspec
import pytest

from pgs.games.rules import MOVE_MAX, Outcome
from pgs.games.tic_tac_toe import CELLS, RULES, State


def played(*moves: str) -> State:
    """Return the state after these moves."""
    state = RULES.initial()
    for move in moves:
        state = RULES.apply(state, move)
    return state


def test_side_0_begins_and_every_cell_is_free() -> None:
    state = RULES.initial()
    assert RULES.turn(state) == 0
    assert RULES.legal_moves(state) == CELLS
    assert RULES.view(state) == {"board": [(None, None, None)] * 3}


def test_sides_take_turns() -> None:
    assert [RULES.turn(played(*CELLS[:count])) for count in range(4)] == [0, 1, 0, 1]


def test_the_first_row_of_the_view_is_row_one() -> None:
    assert RULES.view(played("c1", "a2"))["board"] == [
        (None, None, 0),
        (1, None, None),
        (None, None, None),
    ]


@pytest.mark.parametrize(
    "line",
    [
        ("a1", "b1", "c1"),
        ("a2", "b2", "c2"),
        ("b1", "b2", "b3"),
        ("a1", "b2", "c3"),
        ("c1", "b2", "a3"),
    ],
    ids="-".join,
)
def test_three_in_a_row_win_and_end_the_game(line: tuple[str, str, str]) -> None:
    others = [cell for cell in CELLS if cell not in line]
    # The other side has only two cells, so it cannot have three in a row.
    state = played(line[0], others[0], line[1], others[1], line[2])
    assert RULES.outcome(state) == Outcome(0)
    assert RULES.legal_moves(state) == ()
    assert sorted(RULES.view(state)["line"]) == sorted(line)


def test_the_second_side_can_win_too() -> None:
    assert RULES.outcome(played("a1", "b1", "a2", "b2", "c3", "b3")) == Outcome(1)


def test_a_full_board_without_a_line_is_drawn() -> None:
    state = played("a1", "b1", "c1", "b2", "a2", "c2", "b3", "a3", "c3")
    assert RULES.outcome(state) == Outcome(None)
    assert RULES.legal_moves(state) == ()
    assert "line" not in RULES.view(state)


@pytest.mark.parametrize("move", ["a1", "d1", "a4", "", "A1", " b1", "pass"])
def test_an_illegal_move_is_refused(move: str) -> None:
    with pytest.raises(ValueError, match="no legal move"):
        RULES.apply(played("a1"), move)


def test_nothing_is_played_after_the_end() -> None:
    with pytest.raises(ValueError, match="no legal move"):
        RULES.apply(played("a1", "b1", "a2", "b2", "a3"), "c3")


def test_a_move_does_not_change_the_state_before_it() -> None:
    state = played("a1")
    assert RULES.apply(state, "b1") != RULES.apply(state, "c1")
    assert RULES.legal_moves(state) == CELLS[1:]


def test_every_view_can_be_encoded_as_json() -> None:
    state = RULES.initial()
    for cell in CELLS[:5]:
        assert msgspec.json.decode(msgspec.json.encode(RULES.view(state))).keys() <= {
            "board",
            "line",
        }
        state = RULES.apply(state, cell)
    assert all(len(move) <= MOVE_MAX for move in CELLS)
