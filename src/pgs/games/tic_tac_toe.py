"""Tic-tac-toe: three in a row on a board of nine.

A move names a cell: column `a`…`c`, row `1`…`3`. The view is `{"board": rows, "line"?: cells}`: the
rows from row 1 on, each a list of `null`, 0 or 1; `line` lists the winning cells.
"""

from typing import Any, Final

import msgspec

from pgs.games.rules import Outcome, Side, TurnClock

CELLS: Final = tuple(f"{column}{row}" for row in "123" for column in "abc")

_LINES: Final = (
    (0, 1, 2),
    (3, 4, 5),
    (6, 7, 8),
    (0, 3, 6),
    (1, 4, 7),
    (2, 5, 8),
    (0, 4, 8),
    (2, 4, 6),
)


class State(msgspec.Struct, frozen=True):
    """The side that has taken each cell, in the order of `CELLS`, and the side to move."""

    cells: tuple[Side | None, ...] = (None,) * 9
    turn: Side = 0


class TicTacToe:
    """The rules of tic-tac-toe."""

    game_id = "tic-tac-toe"
    name = "Tic-tac-toe"
    clock = TurnClock()

    def initial(self) -> State:
        """Return an empty board."""
        return State()

    def turn(self, state: State) -> Side:
        """Return the side to move."""
        return state.turn

    def legal_moves(self, state: State) -> tuple[str, ...]:
        """Return the free cells, row by row; none after a win."""
        if _line(state) is not None:
            return ()
        return tuple(cell for cell, held in zip(CELLS, state.cells, strict=True) if held is None)

    def apply(self, state: State, move: str) -> State:
        """Return the board with one more cell taken."""
        if move not in self.legal_moves(state):
            raise ValueError(f"{move!r} is no legal move")
        at = CELLS.index(move)
        return State(
            (*state.cells[:at], state.turn, *state.cells[at + 1 :]), 1 if state.turn == 0 else 0
        )

    def outcome(self, state: State) -> Outcome | None:
        """Return the winner by three in a row, a draw on a full board, or None until then."""
        line = _line(state)
        if line is not None:
            return Outcome(state.cells[line[0]])
        return None if None in state.cells else Outcome(None)

    def view(self, state: State) -> dict[str, Any]:
        """Return the board by rows, and the winning line."""
        shown: dict[str, Any] = {"board": [state.cells[row : row + 3] for row in (0, 3, 6)]}
        line = _line(state)
        return shown if line is None else shown | {"line": [CELLS[at] for at in line]}


def _line(state: State) -> tuple[int, int, int] | None:
    cells = state.cells
    return next(
        (
            line
            for line in _LINES
            if cells[line[0]] is not None and cells[line[0]] == cells[line[1]] == cells[line[2]]
        ),
        None,
    )


RULES: Final = TicTacToe()
