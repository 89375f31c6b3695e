"""Connect Four: four in a row on seven columns, in which discs fall to the lowest free cell.

A move names a column, `1`…`7`; a cell is a column `a`…`g` and a row `1`…`6`, row 1 at the bottom.
The view is `{"board": rows, "last"?: cell, "line"?: cells}`: the rows from row 1 on, each a list of
`null`, 0 or 1; `last` is where the last disc fell; `line` lists the cells of every winning line.

Each side's discs are the bits of one integer. A column is seven bits, with the bottom cell as the
lowest bit. The seventh bit stays empty, so that a shifted line never runs into the next column.
"""

from typing import Any, Final

import msgspec

from pgs.games.rules import Outcome, Side, TurnClock

ROWS: Final = 6
"""Rows of the board. The game is played on seven columns of six rows."""

MOVES: Final = tuple("1234567")

_HEIGHT: Final = ROWS + 1
"""Bits of a column: its rows and an empty bit above them, so that lines do not run from one column
into the next."""

_BOTTOM: Final = {move: 1 << column * _HEIGHT for column, move in enumerate(MOVES)}
_COLUMN: Final = {move: bit * ((1 << ROWS) - 1) for move, bit in _BOTTOM.items()}
_TOP: Final = tuple((move, bit << ROWS - 1) for move, bit in _BOTTOM.items())
_FULL: Final = sum(_COLUMN.values())
# By row, from row 1 on: the bit and the name of each of its cells.
_ROWS: Final = tuple(
    tuple(
        (1 << column * _HEIGHT + row, f"{letter}{row + 1}")
        for column, letter in enumerate("abcdefg")
    )
    for row in range(ROWS)
)
_NAMES: Final = {bit: name for row in _ROWS for bit, name in row}
# From a cell to its neighbour above, to the right, and on both diagonals.
_STEPS: Final = (1, _HEIGHT, _HEIGHT - 1, _HEIGHT + 1)


class State(msgspec.Struct, frozen=True):
    """The position of a game.

    `discs`: the discs of side 0 and of side 1. `last`: the bit of the last disc, 0 before the first
    move. `won`: whether the last disc won the game.
    """

    discs: tuple[int, int] = (0, 0)
    turn: Side = 0
    last: int = 0
    won: bool = False


class ConnectFour:
    """The rules of Connect Four."""

    game_id = "connect-four"
    name = "Connect Four"
    clock = TurnClock()

    def initial(self) -> State:
        """Return an empty board."""
        return State()

    def turn(self, state: State) -> Side:
        """Return the side to move."""
        return state.turn

    def legal_moves(self, state: State) -> tuple[str, ...]:
        """Return the columns that have room, from left to right; none after a win."""
        if state.won:
            return ()
        held = state.discs[0] | state.discs[1]
        return tuple([move for move, top in _TOP if not held & top])

    def apply(self, state: State, move: str) -> State:
        """Return the board with one more disc."""
        column = _COLUMN.get(move, 0)
        # Adding the bottom bit carries through the discs of the column into its lowest free cell.
        # In a full column the carry leaves the column, and `disc` is 0.
        disc = (state.discs[0] + state.discs[1] + _BOTTOM[move]) & column if column else 0
        if not disc or state.won:
            raise ValueError(f"{move!r} is no legal move")
        if state.turn == 0:
            mine = state.discs[0] | disc
            return State((mine, state.discs[1]), 1, disc, _wins(mine))
        mine = state.discs[1] | disc
        return State((state.discs[0], mine), 0, disc, _wins(mine))

    def outcome(self, state: State) -> Outcome | None:
        """Return the winner by four in a row, a draw on a full board, or None until then."""
        if state.won:
            return Outcome(1 if state.turn == 0 else 0)
        return Outcome(None) if state.discs[0] | state.discs[1] == _FULL else None

    def view(self, state: State) -> dict[str, Any]:
        """Return the board by rows, the last disc, and the winning cells."""
        first, second = state.discs
        shown: dict[str, Any] = {
            "board": [
                [0 if first & bit else 1 if second & bit else None for bit, _ in row]
                for row in _ROWS
            ]
        }
        if state.last:
            shown["last"] = _NAMES[state.last]
        if state.won:
            line = _cells_of_lines(state.discs[1 - state.turn])
            shown["line"] = [name for bit, name in _NAMES.items() if line & bit]
        return shown


def _starts(discs: int, step: int) -> int:
    """Return the cells at which a line of four discs in the direction of `step` begins."""
    pairs = discs & discs >> step
    return pairs & pairs >> 2 * step


def _wins(discs: int) -> bool:
    return any(_starts(discs, step) for step in _STEPS)


def _cells_of_lines(discs: int) -> int:
    """Return the cells of every line of four."""
    cells = 0
    for step in _STEPS:
        starts = _starts(discs, step)
        cells |= starts | starts << step | starts << 2 * step | starts << 3 * step
    return cells


RULES: Final = ConnectFour()
