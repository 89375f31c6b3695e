"""Chess: the rules that this package adds to the library, and the rules that it takes over."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given

from pgs.games.rules import Outcome, SideClock
from tests.games.playing import SEEDS, a_game, played, seeds

# Without the extra these tests are skipped, and pytest's summary says so. CI installs the extra.
chess = pytest.importorskip(
    "chess",
    reason="NOT TESTED: the extra `chess` is not installed (pip install -r requirements-chess.txt)",
)
# This import needs the extra, so it comes after the check.
from pgs.games.chess import QUIET_PLIES, REPETITIONS, RULES, State  # noqa: E402

DRAW = Outcome(None)

FOOLS_MATE = "f2f3 e7e5 g2g4 d8h4"
SCHOLARS_MATE = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7"
# By Sam Loyd: the shortest known stalemate, with White's tenth move.
STALEMATE = (
    "e2e3 a7a5 d1h5 a8a6 h5a5 h7h5 h2h4 a6h6 a5c7 f7f6 c7d7 e8f7 d7b7 d8d3 b7b8 d3h7 b8c8 f7g6 c8e6"
)


def game(moves: str | Iterable[str]) -> Any:
    return played(RULES, moves.split() if isinstance(moves, str) else moves)


def position(fen: str) -> State:
    """Return the state of a game that begins with this position, without earlier repetitions."""
    return State(chess.Board(fen), (fen,))


def after(state: State, moves: str) -> State:
    for move in moves.split():
        state = RULES.apply(state, move)
    return state


def test_white_is_side_0_and_begins_with_twenty_moves() -> None:
    state = RULES.initial()
    assert RULES.turn(state) == 0
    assert len(RULES.legal_moves(state)) == 20
    assert RULES.view(state) == {
        "fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "check": False,
    }


def test_each_side_has_five_minutes_and_three_seconds_a_move() -> None:
    assert RULES.clock == SideClock(300_000, 3_000)


def test_the_view_follows_the_game() -> None:
    assert RULES.view(game("e2e4 f7f6 d1h5")) == {
        "fen": "rnbqkbnr/ppppp1pp/5p2/7Q/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 1 2",
        "check": True,
        "last": "d1h5",
    }


@pytest.mark.parametrize(
    ("moves", "outcome"),
    [(FOOLS_MATE, Outcome(1)), (SCHOLARS_MATE, Outcome(0)), (STALEMATE, DRAW)],
    ids=["black mates", "white mates", "stalemate"],
)
def test_a_side_without_a_move_is_mated_or_stalemated(moves: str, outcome: Outcome) -> None:
    state = game(moves)
    assert RULES.legal_moves(state) == ()
    assert RULES.outcome(state) == outcome


@pytest.mark.parametrize(
    ("pieces", "drawn"),
    [
        ("4k3/8/8/8/8/8/8/4K3", True),
        ("4k3/8/8/8/8/8/8/2B1K3", True),
        ("4k3/8/8/8/8/8/8/1N2K3", True),
        ("2b1k3/8/8/8/8/8/8/4KB2", True),
        ("2b1k3/8/8/8/8/8/8/2B1K3", False),
        ("4k3/8/8/8/8/8/8/1N2K1N1", False),
        ("1n2k3/8/8/8/8/8/8/1N2K3", False),
        ("4k3/8/8/8/8/8/4P3/4K3", False),
    ],
    ids=[
        "bare kings",
        "a bishop",
        "a knight",
        "bishops on one colour",
        "bishops on both",
        "two knights",
        "a knight each",
        "a pawn",
    ],
)
def test_insufficient_material_is_a_draw_at_once(pieces: str, drawn: bool) -> None:
    state = position(f"{pieces} w - - 0 1")
    assert (RULES.outcome(state) == DRAW) is drawn
    assert (RULES.legal_moves(state) == ()) is drawn


BACK_AND_FORTH = "g1f3 g8f6 f3g1 f6g8"


def test_the_third_occurrence_of_a_position_is_a_draw() -> None:
    assert REPETITIONS == 3
    twice = game(f"{BACK_AND_FORTH} g1f3 g8f6 f3g1")
    assert RULES.outcome(twice) is None
    state = RULES.apply(twice, "f6g8")
    assert RULES.outcome(state) == DRAW
    assert RULES.legal_moves(state) == ()
    with pytest.raises(ValueError, match="no legal move"):
        RULES.apply(state, "e2e4")


def test_the_occurrences_of_a_position_need_not_be_consecutive() -> None:
    other = "b1c3 b8c6 c3b1 c6b8"
    assert RULES.outcome(game(f"{BACK_AND_FORTH} {other}")) == DRAW


def test_other_castling_rights_make_another_position() -> None:
    # The rook returns to its square, but the king can no longer castle with it.
    around = " h1g1 f6g8 g1h1 g8f6"
    state = game("g1f3 g8f6" + around * 2)
    assert RULES.outcome(state) is None
    assert RULES.outcome(RULES.apply(state, "h1g1")) == DRAW


def test_a_position_with_the_other_side_to_move_is_another_position() -> None:
    # The same pieces are on the same squares after 5, 10 and 15 half-moves, with Black, White and
    # again Black to move.
    white_loses_a_move, black_loses_one = " a1a2 e8d8 a2a3 d8e8 a3a1", " e8d8 a1a2 d8d7 a2a1 d7e8"
    state = after(
        position("4k3/8/8/8/8/8/8/R3K3 w - - 0 1"),
        white_loses_a_move + black_loses_one + white_loses_a_move,
    )
    assert RULES.outcome(state) is None


def test_a_pawn_that_can_be_taken_en_passant_makes_another_position() -> None:
    around = " b1c3 b8c6 c3b1 c6b8"
    state = game("e2e4 a7a6 e4e5 d7d5" + around * 2)
    assert RULES.outcome(state) is None
    assert RULES.outcome(RULES.apply(state, "b1c3")) == DRAW


def test_a_pawn_that_cannot_be_taken_en_passant_makes_the_same_position() -> None:
    assert RULES.outcome(game("e2e4" + " b8c6 b1c3 c6b8 c3b1" * 2)) == DRAW


def test_fifty_quiet_moves_of_each_side_are_a_draw() -> None:
    assert QUIET_PLIES == 100
    almost = position("4k3/8/8/8/8/8/8/R3K3 w - - 98 80")
    last = RULES.apply(almost, "a1a2")
    assert RULES.outcome(last) is None
    assert RULES.outcome(RULES.apply(last, "e8d8")) == DRAW


def test_a_capture_or_a_pawn_move_restarts_the_count() -> None:
    almost = position("4k3/4p3/8/8/8/8/8/R3K3 w - - 98 80")
    state = after(almost, "a1a2 e7e5")
    assert RULES.outcome(state) is None
    assert RULES.outcome(after(state, "a2a1 e8d8")) is None


def test_a_mate_with_the_last_quiet_move_is_a_mate() -> None:
    state = RULES.apply(position("k7/8/1K6/8/8/8/8/7R w - - 99 80"), "h1h8")
    assert RULES.outcome(state) == Outcome(0)
    assert RULES.legal_moves(state) == ()


@pytest.mark.parametrize(
    ("state", "draw"),
    [
        (game(STALEMATE), "stalemate"),
        (position("4k3/8/8/8/8/8/8/1N2K3 w - - 0 1"), "insufficient_material"),
        (game(" ".join([BACK_AND_FORTH] * 2)), "repetition"),
        (position("4k3/8/8/8/8/8/8/R3K3 w - - 100 80"), "fifty_moves"),
        (position("k7/8/1K6/8/8/8/5q2/8 b - - 100 80"), "fifty_moves"),
        # Two rules at once: the first one is told.
        (position("k7/8/1K6/8/8/8/8/1N6 w - - 100 80"), "insufficient_material"),
        (position("k7/2Q5/1K6/8/8/8/8/8 b - - 100 80"), "stalemate"),
    ],
)
def test_the_view_of_a_drawn_game_names_the_rule(state: State, draw: str) -> None:
    assert RULES.view(state)["draw"] == draw
    assert RULES.outcome(state) == DRAW


def test_the_view_names_no_draw_while_a_game_runs_or_after_a_mate() -> None:
    assert "draw" not in RULES.view(RULES.initial())
    assert "draw" not in RULES.view(game(SCHOLARS_MATE))
    mate = RULES.apply(position("k7/8/1K6/8/8/8/8/7R w - - 99 80"), "h1h8")
    assert "draw" not in RULES.view(mate)


def test_a_promotion_names_its_piece() -> None:
    state = position("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1")
    assert [move for move in RULES.legal_moves(state) if move.startswith("e7")] == [
        "e7e8b",
        "e7e8n",
        "e7e8q",
        "e7e8r",
    ]
    assert RULES.view(RULES.apply(state, "e7e8n"))["fen"].startswith("4N3/")
    with pytest.raises(ValueError, match="no legal move"):
        RULES.apply(state, "e7e8")


def test_castling_is_written_as_the_move_of_the_king_and_in_no_other_way() -> None:
    state = position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    assert "e1g1" in RULES.legal_moves(state)
    assert RULES.view(RULES.apply(state, "e1g1"))["fen"].startswith("4k3/8/8/8/8/8/8/5RK1")
    # The library also accepts the king moving onto the rook, but it is not a legal move here.
    with pytest.raises(ValueError, match="no legal move"):
        RULES.apply(state, "e1h1")


@pytest.mark.parametrize(
    ("fen", "known"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", [20, 400, 8_902]),
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", [48, 2_039]),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", [14, 191, 2_812]),
    ],
    ids=["initial", "kiwipete", "endgame"],
)
def test_the_number_of_legal_moves_is_the_published_one(fen: str, known: list[int]) -> None:
    states, found = [position(fen)], []
    for _ in known:
        found.append(sum(len(RULES.legal_moves(state)) for state in states))
        if len(found) < len(known):
            states = [
                RULES.apply(state, move) for state in states for move in RULES.legal_moves(state)
            ]
    assert found == known


@pytest.mark.exhaustive
@seeds(20)
@given(seed=SEEDS)
def test_the_board_equals_the_librarys_board_after_the_same_moves(seed: int) -> None:
    board = chess.Board()
    for state, move in a_game(RULES, seed):
        assert RULES.view(state)["fen"] == board.fen()
        assert len(state.seen) <= QUIET_PLIES + 1
        assert not board.is_game_over()
        assert not board.is_repetition(REPETITIONS)
        assert not board.is_fifty_moves()
        board.push_uci(move)
    assert board.is_game_over() or board.is_repetition(REPETITIONS) or board.is_fifty_moves()
