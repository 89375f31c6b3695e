"""Reversi, compared with a plain version of the rules that examines the board square by square."""

import pytest
from hypothesis import given

from pgs.games.reversi import RULES, SQUARES, State
from pgs.games.rules import PASS, Outcome, Side
from tests.games.playing import SEEDS, a_game, counts, played, seeds

# How many sequences of 1, 2, … moves there are, if a pass is a move: a well-known check of move
# generators.
SEQUENCES = [4, 12, 56, 244, 1_396, 8_200, 55_092, 390_216]

# The shortest possible game: after nine moves, side 1 has no discs left.
WIPED_OUT = ("e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5")

Board = list[list[int | None]]


def plain(board: Board, side: int) -> dict[str, set[str]]:
    """Return the squares that a side may take. Each has the squares of the discs that it turns."""
    found: dict[str, set[str]] = {}
    for row in range(8):
        for column in range(8):
            turned: set[str] = set()
            for down, right in (
                (0, 1),
                (0, -1),
                (1, 0),
                (-1, 0),
                (1, 1),
                (1, -1),
                (-1, 1),
                (-1, -1),
            ):
                run, at, beside = set(), row + down, column + right
                while 0 <= at < 8 and 0 <= beside < 8 and board[at][beside] == 1 - side:
                    run.add(f"{'abcdefgh'[beside]}{at + 1}")
                    at, beside = at + down, beside + right
                if 0 <= at < 8 and 0 <= beside < 8 and board[at][beside] == side:
                    turned |= run
            if turned and board[row][column] is None:
                found[f"{'abcdefgh'[column]}{row + 1}"] = turned
    return found


def held(state: State) -> dict[str, int | None]:
    """Return the side whose disc is on each square, or None."""
    return dict(
        zip(SQUARES, (cell for row in RULES.view(state)["board"] for cell in row), strict=True)
    )


def discs(rows: str) -> tuple[int, int]:
    """Return the bits of side 0's and of side 1's discs.

    `rows` is the board from row 1 on: `.` is an empty cell, `0` and `1` a disc of that side.
    """
    black, white = (
        sum(1 << at for at, cell in enumerate("".join(rows.split())) if cell == side)
        for side in "01"
    )
    return black, white


def board(rows: str, turn: Side) -> State:
    """Return the state of a drawn board with `turn` to move.

    The state is made by a pass of the other side, so that the rules compute the legal moves.
    """
    state: State = RULES.apply(State(discs(rows), 1 if turn == 0 else 0, 0), PASS)
    return state


def test_the_game_begins_with_the_position_of_othello() -> None:
    state = RULES.initial()
    assert {square: side for square, side in held(state).items() if side is not None} == {
        "d4": 1,
        "e4": 0,
        "d5": 0,
        "e5": 1,
    }
    assert RULES.legal_moves(state) == ("d3", "c4", "f5", "e6")
    assert RULES.view(state)["scores"] == [2, 2]


def test_the_number_of_move_sequences_is_the_published_one() -> None:
    assert [sequences for sequences, _ in counts(RULES, 6)] == SEQUENCES[:6]


@pytest.mark.slow
def test_the_number_of_sequences_of_eight_moves_is_the_published_one() -> None:
    assert [sequences for sequences, _ in counts(RULES, 8)] == SEQUENCES


@pytest.mark.exhaustive
@seeds(40)
@given(seed=SEEDS)
def test_every_move_follows_the_plain_version_of_the_rules(seed: int) -> None:
    course = a_game(RULES, seed)
    for state, move in course:
        side, before = RULES.turn(state), held(state)
        allowed = plain(RULES.view(state)["board"], side)
        assert RULES.legal_moves(state) == (
            tuple(square for square in SQUARES if square in allowed) or (PASS,)
        )
        changed = {} if move == PASS else dict.fromkeys({move} | allowed[move], side)
        assert held(RULES.apply(state, move)) == before | changed
    end = played(RULES, [move for _, move in course])
    shown = RULES.view(end)
    assert not plain(shown["board"], 0)
    assert not plain(shown["board"], 1)
    assert (outcome := RULES.outcome(end)) is not None
    assert outcome.scores == tuple(shown["scores"])


@pytest.mark.exhaustive
@seeds(40)
@given(seed=SEEDS)
def test_a_side_passes_exactly_when_only_the_other_side_can_move(seed: int) -> None:
    for state, move in a_game(RULES, seed):
        shown, side = RULES.view(state)["board"], RULES.turn(state)
        assert (move == PASS) == (not plain(shown, side) and bool(plain(shown, 1 - side)))


def test_a_forced_pass_gives_the_move_back() -> None:
    state = board(
        """
        01.....1
        ........
        ........
        ........
        ........
        ........
        ........
        ......10
        """,
        turn=1,
    )
    assert RULES.legal_moves(state) == (PASS,)
    assert RULES.outcome(state) is None
    after = RULES.apply(state, PASS)
    assert RULES.turn(after) == 0
    assert held(after) == held(state)
    assert RULES.legal_moves(after) == ("c1", "f8")
    with pytest.raises(ValueError, match="no legal move"):
        RULES.apply(after, PASS)


@pytest.mark.parametrize(
    "rows",
    ["......01", "........ 10......", "........ ......0. .......1", "........ .0...... 1......."],
    ids=["h1 to a2", "a2 to h1", "h3 to a5", "a3 to h3"],
)
def test_no_run_wraps_around_the_edge(rows: str) -> None:
    assert RULES.legal_moves(board(rows, turn=0)) == (PASS,)


def test_a_side_without_discs_loses_at_once() -> None:
    state = played(RULES, WIPED_OUT)
    assert RULES.outcome(state) == Outcome(0, (13, 0))
    assert RULES.legal_moves(state) == ()


def test_equal_numbers_of_discs_are_a_draw_and_empty_squares_do_not_count() -> None:
    rows = "00000000 00000000 00000000 ........ ........ 11111111 11111111 11111111"
    over = [
        State(discs(rows), 0, 0, over=True),
        State(discs("." + rows[1:]), 0, 0, over=True),
        State(discs(rows[:-1] + "."), 0, 0, over=True),
    ]
    assert [RULES.outcome(state) for state in over] == [
        Outcome(None, (24, 24)),
        Outcome(1, (23, 24)),
        Outcome(0, (24, 23)),
    ]


def test_a_disc_turns_the_discs_that_it_encloses_in_all_eight_directions() -> None:
    state = board(
        """
        0..0..0.
        .1.1.1..
        ..111...
        011.110.
        ..111...
        .1.1.1..
        0..1..0.
        ...0....
        """,
        turn=0,
    )
    assert RULES.view(state)["scores"] == [8, 17]
    assert RULES.outcome(RULES.apply(state, "d4")) == Outcome(0, (26, 0))
