"""Connect Four."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from pgs.games.connect_four import MOVES, RULES
from pgs.games.rules import Outcome
from tests.games.playing import SEEDS, a_game, counts, played, seeds

# How many sequences of 1, 2, … moves there are, if no move follows a win, and how many positions
# they reach. The first is a well-known check of move generators. The second is A212693 in the
# On-Line Encyclopedia of Integer Sequences.
SEQUENCES = [7, 49, 343, 2_401, 16_807, 117_649, 823_536, 5_673_234]
POSITIONS = [7, 49, 238, 1_120, 4_263, 16_422, 54_859, 184_275]

DRAWN = "441365675334466335442232661515577771217122"


def view(moves: str) -> dict[str, Any]:
    return RULES.view(played(RULES, moves))


def lines_in(board: Sequence[Sequence[int | None]], side: int) -> set[frozenset[str]]:
    """Return every four in a row of a side, found cell by cell."""
    found = set()
    for row in range(6):
        for column in range(7):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + down * step, column + right * step) for step in range(4)]
                if all(
                    0 <= at < 6 and 0 <= beside < 7 and board[at][beside] == side
                    for at, beside in cells
                ):
                    found.add(frozenset(f"{'abcdefg'[beside]}{at + 1}" for at, beside in cells))
    return found


@pytest.mark.exhaustive
def test_the_number_of_move_sequences_is_the_published_one() -> None:
    assert [sequences for sequences, _ in counts(RULES, 7)] == SEQUENCES[:7]


@pytest.mark.exhaustive
def test_the_number_of_positions_is_the_published_one() -> None:
    states = {RULES.initial()}
    for known in POSITIONS[:7]:
        after = {
            state.discs: state
            for before in states
            for move in RULES.legal_moves(before)
            for state in [RULES.apply(before, move)]
        }
        states = set(after.values())
        assert len(states) == known


@pytest.mark.slow
def test_the_number_of_sequences_of_eight_moves_is_the_published_one() -> None:
    assert counts(RULES, 8)[-1][0] == SEQUENCES[7]


def test_discs_fall_to_the_lowest_free_cell() -> None:
    shown = view("4442")
    assert shown["last"] == "b1"
    assert shown["board"][0] == [None, 1, None, 0, None, None, None]
    assert [row[3] for row in shown["board"]] == [0, 1, 0, None, None, None]


def test_a_full_column_takes_no_more() -> None:
    state = played(RULES, "111111")
    assert RULES.legal_moves(state) == MOVES[1:]
    with pytest.raises(ValueError, match="no legal move"):
        RULES.apply(state, "1")


@pytest.mark.parametrize(
    ("moves", "winner", "line"),
    [
        ("1122334", 0, ["a1", "b1", "c1", "d1"]),
        ("1212121", 0, ["a1", "a2", "a3", "a4"]),
        ("12233434464", 0, ["a1", "b2", "c3", "d4"]),
        ("76655454424", 0, ["d4", "e3", "f2", "g1"]),
        ("71515151", 1, ["a1", "a2", "a3", "a4"]),
    ],
    ids=["row", "column", "rising", "falling", "side 1"],
)
def test_four_in_a_row_win_and_end_the_game(moves: str, winner: int, line: list[str]) -> None:
    assert RULES.outcome(played(RULES, moves[:-1])) is None
    state = played(RULES, moves)
    assert RULES.outcome(state) == Outcome(0 if winner == 0 else 1)
    assert RULES.legal_moves(state) == ()
    assert sorted(RULES.view(state)["line"]) == line


def test_one_disc_can_complete_several_lines() -> None:
    # The last disc is the middle of the bottom row: it completes four lines in seven cells.
    assert sorted(view("1122337766554")["line"]) == ["a1", "b1", "c1", "d1", "e1", "f1", "g1"]


def test_no_line_wraps_around_the_edge() -> None:
    state = played(RULES, "11211416221")
    # Side 0 holds the top three of column a and the bottom of column b.
    assert [
        RULES.view(state)["board"][row][column] for row, column in ((3, 0), (4, 0), (5, 0), (0, 1))
    ] == [0, 0, 0, 0]
    assert RULES.outcome(state) is None


def test_a_full_board_without_a_line_is_drawn() -> None:
    state = played(RULES, DRAWN)
    assert len(DRAWN) == 42
    assert RULES.outcome(state) == Outcome(None)
    assert RULES.legal_moves(state) == ()
    assert "line" not in RULES.view(state)


@pytest.mark.exhaustive
@seeds(100)
@given(seed=SEEDS)
def test_a_game_ends_with_the_first_four_in_a_row(seed: int) -> None:
    course = a_game(RULES, seed)
    assert [
        move
        for state, move in course
        if lines_in(RULES.view(state)["board"], 0) | lines_in(RULES.view(state)["board"], 1)
    ] == []
    end = played(RULES, [move for _, move in course])
    outcome, shown = RULES.outcome(end), RULES.view(end)
    assert outcome is not None
    if outcome.winner is None:
        assert len(course) == 42
    lines = {side: lines_in(shown["board"], side) for side in (0, 1)}
    assert [side for side in (0, 1) if lines[side]] == [
        side for side in (0, 1) if side == outcome.winner
    ]
    assert set(shown.get("line", ())) == set().union(*lines[0], *lines[1])
