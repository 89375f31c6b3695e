"""Chess, with the library `chess`.

The library is an optional extra. Only this module imports it, and this module is imported only if
the library is installed.

A move is in UCI notation: from square, to square and, for a promotion, the piece (`e2e4`, `e1g1`
for castling, `e7e8q`). Side 0 is white. The view is `{"fen": FEN, "check": bool, "last"?: move,
"draw"?: rule}`.

The game ends with checkmate or stalemate. It is drawn immediately, without a claim, when neither
side has the material to give mate, when a position occurs for the third time, and after fifty moves
of each side without a capture or a pawn move. Online games commonly do this, because they have no
arbiter. The FIDE limits that need no claim (five occurrences, seventy-five moves) are therefore
never reached. Checkmate takes precedence: a fiftieth move that gives mate wins.
"""

from collections.abc import Hashable
from typing import Any, Final, Literal

import chess
import msgspec

from pgs.games.rules import Outcome, Side, SideClock

REPETITIONS: Final = 3
"""Occurrences of a position that make a draw: the FIDE Laws of Chess, 9.2, as if a player had
claimed it."""

QUIET_PLIES: Final = 100
"""Half-moves without a capture or a pawn move that make a draw: the FIDE Laws of Chess, 9.3, as if
a player had claimed it."""

DrawRule = Literal["stalemate", "insufficient_material", "repetition", "fifty_moves"]


class State(msgspec.Struct, frozen=True):
    """A board, the positions since the last capture or pawn move, and the last move.

    The board is never changed in place. `seen` ends with the position on the board and holds at
    most `QUIET_PLIES` + 1 positions.
    """

    board: chess.Board
    seen: tuple[Hashable, ...]
    last: str | None = None


class Chess:
    """The rules of chess."""

    game_id = "chess"
    name = "Chess"
    clock = SideClock(300_000, 3_000)

    def initial(self) -> State:
        """Return the standard starting position."""
        board = chess.Board()
        return State(board, (_position(board),))

    def turn(self, state: State) -> Side:
        """Return the side to move."""
        return 0 if state.board.turn == chess.WHITE else 1

    def legal_moves(self, state: State) -> tuple[str, ...]:
        """Return the moves in UCI notation, sorted alphabetically."""
        if _drawn_by(state) is not None:
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
        """Return the winner by checkmate, a draw, or None while the game goes on."""
        if _drawn_by(state) is not None:
            return Outcome(None)
        if any(state.board.generate_legal_moves()):
            return None
        return Outcome(1 if state.board.turn == chess.WHITE else 0)

    def view(self, state: State) -> dict[str, Any]:
        """Return the position in Forsyth-Edwards notation, the check flag and the last move.

        `check` is whether the side to move is in check. `draw` is the rule by which the game has
        ended in a draw, if it has.
        """
        shown: dict[str, Any] = {"fen": state.board.fen(), "check": state.board.is_check()}
        if state.last is not None:
            shown["last"] = state.last
        if (rule := _drawn_by(state)) is not None:
            shown["draw"] = rule
        return shown


def _legal(state: State, move: str) -> chess.Move:
    """Return the legal move whose UCI notation is `move`. Raises `ValueError` if there is none.

    The library's own parser also accepts other spellings, so it is not used here.
    """
    if _drawn_by(state) is None and move[:2] in chess.SQUARE_NAMES:
        origin = chess.BB_SQUARES[chess.parse_square(move[:2])]
        for legal in state.board.generate_legal_moves(origin):
            if legal.uci() == move:
                return legal
    raise ValueError(f"{move!r} is no legal move")


def _drawn_by(state: State) -> DrawRule | None:
    """Return the first rule that ends the game as a draw, or None. A checkmate is no draw."""
    board = state.board
    if not any(board.generate_legal_moves()):
        return None if board.is_check() else "stalemate"
    if board.is_insufficient_material():
        return "insufficient_material"
    if state.seen.count(state.seen[-1]) >= REPETITIONS:
        return "repetition"
    return "fifty_moves" if board.halfmove_clock >= QUIET_PLIES else None


def _position(board: chess.Board) -> Hashable:
    """Return a value that is equal for positions that FIDE counts as the same.

    It covers the pieces, the side to move, castling rights, and en passant where it is legal.
    """
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
