"""Properties of every installed game on which the platform relies."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.games.installed import installed_games, load_games
from pgs.games.rules import MOVE_MAX, PASS, Rules
from tests.games.playing import SEEDS, a_game, played, seeds

GAMES = load_games([])

CELLS = [column + row for column in "abcdefghi" for row in "0123456789"]
NOTATIONS = [
    *"0123456789",
    *CELLS,
    *(origin + target for origin in CELLS[::3] for target in CELLS[::7]),
    *(
        f"{column}{rows}{piece}"
        for column in "ae"
        for rows in ("7a8", "7b8", "2e1", "2d1")
        for piece in "qrbnkQ"
    ),
    *(
        "e1g1",
        "e1c1",
        "e1h1",
        "e1a1",
        "e8g8",
        "e8h8",
        "0000",
        "e2e2",
        "P@e4",
        "N@a1",
        "e4",
        "Nf3",
        "O-O",
        "resign",
    ),
    *(
        "",
        " ",
        "00",
        "01",
        "-1",
        "1 ",
        " 1",
        "٣",
        "A1",
        "a1 ",
        "a11",
        "é1",
        PASS,
        PASS.upper(),
        "passe",
        "x" * MOVE_MAX,
    ),
]
"""Texts that look like moves of some game."""

EACH = pytest.mark.parametrize("rules", GAMES.values(), ids=list(GAMES))
SOME = seeds(15)


def builtins(rules: Rules, state: Any) -> Any:
    """Return the view as it is decoded from JSON."""
    return msgspec.json.decode(msgspec.json.encode(rules.view(state)))


def test_every_installed_game_is_tested() -> None:
    assert {"tic-tac-toe", "connect-four", "reversi"} <= GAMES.keys() == installed_games()


@EACH
def test_side_0_begins_and_has_moves(rules: Rules) -> None:
    state = rules.initial()
    assert rules.turn(state) == 0
    assert rules.legal_moves(state)
    assert rules.outcome(state) is None


@EACH
@SOME
@given(seed=SEEDS)
def test_every_game_ends_with_an_outcome_and_no_move_left(rules: Rules, seed: int) -> None:
    course = a_game(rules, seed)
    assert len(course) < 10_000
    assert [move for state, move in course if rules.outcome(state) is not None] == []
    end = played(rules, [move for _, move in course])
    outcome = rules.outcome(end)
    assert outcome is not None
    assert outcome.winner in (None, 0, 1)
    assert rules.legal_moves(end) == ()
    assert rules.turn(end) in (0, 1)
    for move in {*NOTATIONS, *(move for _, move in course)}:
        with pytest.raises(ValueError, match="no legal move"):
            rules.apply(end, move)


@EACH
@SOME
@given(seed=SEEDS)
def test_sides_take_turns_and_a_pass_is_a_move(rules: Rules, seed: int) -> None:
    course = a_game(rules, seed)
    assert [rules.turn(state) for state, _ in course] == [ply % 2 for ply in range(len(course))]


@EACH
@SOME
@given(seed=SEEDS)
def test_a_list_of_moves_leads_to_the_same_state_every_time(rules: Rules, seed: int) -> None:
    course = a_game(rules, seed)
    moves = [move for _, move in course]
    again = played(rules, moves)
    assert again == played(rules, moves)
    for ply in {0, len(course) // 3, len(course) - 1}:
        state, restored = course[ply][0], played(rules, moves[:ply])
        assert restored == state
        assert rules.legal_moves(restored) == rules.legal_moves(state)
        assert rules.view(restored) == rules.view(state)


@EACH
@SOME
@given(seed=SEEDS, share=st.floats(0, 1))
def test_the_legal_moves_are_exactly_those_that_can_be_made(
    rules: Rules, seed: int, share: float
) -> None:
    moves = [move for _, move in a_game(rules, seed)]
    state = played(rules, moves[: round(share * len(moves))])
    legal = rules.legal_moves(state)
    assert len(set(legal)) == len(legal)
    for move in legal:
        assert len(move) <= MOVE_MAX
        rules.apply(state, move)
    for move in {*NOTATIONS, *moves} - {*legal}:
        with pytest.raises(ValueError, match="no legal move"):
            rules.apply(state, move)


@EACH
@SOME
@given(seed=SEEDS)
def test_a_move_never_changes_an_earlier_state(rules: Rules, seed: int) -> None:
    course = a_game(rules, seed, at_most=60)
    before = [
        (rules.view(state), rules.legal_moves(state), rules.turn(state)) for state, _ in course
    ]
    for state, _ in course:
        for move in rules.legal_moves(state):
            rules.apply(state, move)
    assert [
        (rules.view(state), rules.legal_moves(state), rules.turn(state)) for state, _ in course
    ] == before


@EACH
@SOME
@given(seed=SEEDS)
def test_a_pass_is_offered_only_when_there_is_no_other_move(rules: Rules, seed: int) -> None:
    for moves in (rules.legal_moves(state) for state, _ in a_game(rules, seed)):
        assert PASS not in moves or moves == (PASS,)


FIELDS = {
    "tic-tac-toe": ({"board"}, {"line"}),
    "connect-four": ({"board"}, {"last", "line"}),
    "reversi": ({"board", "scores"}, set()),
    "chess": ({"fen", "check"}, {"last"}),
}
"""The fields that a view always has, and those that it may have. No game hides anything, so both
sides have the same view."""


@EACH
@SOME
@given(seed=SEEDS)
def test_a_view_is_json_with_only_its_known_fields(rules: Rules, seed: int) -> None:
    always, sometimes = FIELDS[rules.game_id]
    course = a_game(rules, seed, at_most=60)
    for state, move in [*course, (played(rules, [move for _, move in course]), "")]:
        shown = builtins(rules, state)
        assert always <= shown.keys() <= always | sometimes, move


@pytest.mark.parametrize(
    "rules",
    [rules for game_id, rules in GAMES.items() if game_id != "chess"],
    ids=lambda rules: rules.game_id,
)
@SOME
@given(seed=SEEDS)
def test_each_move_except_a_pass_adds_one_mark_to_the_board(rules: Rules, seed: int) -> None:
    marks = [
        sum(cell is not None for row in builtins(rules, state)["board"] for cell in row)
        for state, _ in a_game(rules, seed)
    ]
    passes = [int(move == PASS) for _, move in a_game(rules, seed)]
    assert marks == [marks[0] + ply - sum(passes[:ply]) for ply in range(len(marks))]
