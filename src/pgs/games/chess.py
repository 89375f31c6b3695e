"""Chess, by the library `chess`, which is an extra: nothing but this module imports it, and this one only where it is installed.

A move is in UCI notation: from square, to square and, of a promotion, the piece (`e2e4`, `e1g1` for castling, `e7e8q`). Side 0 is white.
The view is `{"fen": FEN, "check": bool, "last"?: move}`.

The game ends with checkmate and stalemate, and it is drawn at once, without anybody's claim, when neither side has what it takes to give
mate, when a position is there for the third time, and after fifty moves of each side without a capture or a pawn's move. That is what
people know from playing online, where nobody calls an arbiter. The laws' own limits without a claim, five times and seventy-five moves,
lie behind these and are never reached. A mate with the very last of those moves is a mate.
"""

from collections.abc import Hashable
from typing import Any, Final

import chess
import msgspec

from pgs.games.rules import Outcome, Side, SideClock

REPETITIONS: Final = 3
"""Repetitions of a position that make a draw: the FIDE Laws of Chess, 9.2, as if a player had
claimed it."""

QUIET_PLIES: Final = 100
"""Half-moves without a capture or a pawn move that make a draw: the FIDE Laws of Chess, 9.3, as if
a player had claimed it."""


class State(msgspec.Struct, frozen=True):
    """A board that is never changed, the positions since the last move that cannot be taken back, and the last move.

    `seen` ends with the position on the board; it never holds more than `QUIET_PLIES` + 1.
    """

    board: chess.Board
    seen: tuple[Hashable, ...]
    last: str | None = None


class Chess:
    """The rules."""

    game_id = "chess"
    name = "Chess"
    clock = SideClock(300_000, 3_000)

    def initial(self) -> State:
        """Return the pieces in their places."""
        board = chess.Board()
        return State(board, (_position(board),))

    def turn(self, state: State) -> Side:
        """Return whose move it is."""
        return 0 if state.board.turn == chess.WHITE else 1

    def legal_moves(self, state: State) -> tuple[str, ...]:
        """Return the moves in UCI notation, in the alphabet's order."""
        if _is_drawn(state):
            return ()
        return tuple(sorted([move.uci() for move in state.board.generate_legal_moves()]))

    def apply(self, state: State, move: str) -> State:
        """Return the board after a move."""
        made = _legal(state, move)
        board = state.board.copy(stack=False)
        board.push(made)
        before = () if board.halfmove_clock == 0 else state.seen
        return State(board, (*before, _position(board)), move)

    def outcome(self, state: State) -> Outcome | None:
        """Return the winner of a checkmate, or a draw."""
        if not any(state.board.generate_legal_moves()):
            if not state.board.is_check():
                return Outcome(None)
            return Outcome(1 if state.board.turn == chess.WHITE else 0)
        return Outcome(None) if _is_drawn(state) else None

    def view(self, state: State) -> dict[str, Any]:
        """Return the position in Forsyth-Edwards notation, whether the side to move is in check, and the last move."""
        shown: dict[str, Any] = {"fen": state.board.fen(), "check": state.board.is_check()}
        return shown if state.last is None else shown | {"last": state.last}


def _legal(state: State, move: str) -> chess.Move:
    """The move of that name; the library takes other spellings too, which are refused here. Raises ValueError."""
    if not _is_drawn(state) and move[:2] in chess.SQUARE_NAMES:
        origin = chess.BB_SQUARES[chess.parse_square(move[:2])]
        for legal in state.board.generate_legal_moves(origin):
            if legal.uci() == move:
                return legal
    raise ValueError(f"{move!r} is no legal move")


def _is_drawn(state: State) -> bool:
    """Whether the game is drawn though there may be moves left."""
    board = state.board
    return (
        board.halfmove_clock >= QUIET_PLIES
        or state.seen.count(state.seen[-1]) >= REPETITIONS
        or board.is_insufficient_material()
    )


def _position(board: chess.Board) -> Hashable:
    """What makes two positions the same in FIDE's sense: pieces, side to move, rights to castle, and en passant where it is legal."""
    pieces = (
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
        board.occupied_co[chess.WHITE],
    )
    return (
        *pieces,
        board.turn,
        board.clean_castling_rights(),
        board.ep_square if board.has_legal_en_passant() else None,
    )


RULES: Final = Chess()
