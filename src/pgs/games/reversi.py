"""Reversi, with the opening of Othello.

Discs that a move encloses change sides. At the end, the side with more discs wins.

A move names a square, column `a`…`h` and row `1`…`8`, or is `pass`. `pass` is legal only if the
side to move can take no square and the opponent can. The game ends as soon as neither side can take
a square; no passes are played then. Side 0 is black.

The view is `{"board": rows, "scores": [discs of side 0, discs of side 1]}`: the rows from row 1 on,
each a list of `null`, 0 or 1. The outcome's scores are the discs on the board; empty squares count
for neither side.

Each side's discs are the bits of one integer: square `a1` is the lowest bit, `b1` the next, `a2`
the ninth.
"""

from typing import Any, Final

import msgspec

from pgs.games.rules import PASS, Outcome, Side, TurnClock

SQUARES: Final = tuple(f"{column}{row}" for row in "12345678" for column in "abcdefgh")

_BIT: Final = {square: 1 << at for at, square in enumerate(SQUARES)}

_BOARD: Final = (1 << 64) - 1
"""Bit mask of the whole board: 64 squares, the lowest bit is a1."""

_INNER: Final = 0x7E7E7E7E7E7E7E7E
"""Bit mask of the board without the columns a and h. Discs in those two columns cannot be enclosed
horizontally or diagonally, and a shifted run must stop at the edge."""

# For each direction, its shift in bits and the squares on which a disc can be enclosed: right,
# down, down right, down left. The opposite directions shift the other way.
_STEPS: Final = ((1, _INNER), (8, _BOARD), (9, _INNER), (7, _INNER))
_ROWS: Final = tuple(tuple(1 << row * 8 + column for column in range(8)) for row in range(8))


class State(msgspec.Struct, frozen=True):
    """The position of a game.

    `discs`: the discs of side 0 and of side 1. `free`: the squares that the side to move may take;
    0 when it must pass and when the game is over.
    """

    discs: tuple[int, int]
    turn: Side
    free: int
    over: bool = False


class Reversi:
    """The rules of Reversi."""

    game_id = "reversi"
    name = "Reversi"
    clock = TurnClock()

    def initial(self) -> State:
        """Return the four discs in the middle, side 0 to move."""
        black, white = _BIT["e4"] | _BIT["d5"], _BIT["d4"] | _BIT["e5"]
        return State((black, white), 0, _free(black, white))

    def turn(self, state: State) -> Side:
        """Return the side to move."""
        return state.turn

    def legal_moves(self, state: State) -> tuple[str, ...]:
        """Return the squares that may be taken, row by row; if none, `pass`, or () at the end."""
        free = state.free
        if not free:
            return () if state.over else (PASS,)
        moves = []
        while free:
            lowest = free & -free
            moves.append(SQUARES[lowest.bit_length() - 1])
            free ^= lowest
        return tuple(moves)

    def apply(self, state: State, move: str) -> State:
        """Return the board with one more disc, and with the enclosed discs turned.

        After a pass only the side to move changes.
        """
        mine, theirs = state.discs[state.turn], state.discs[1 - state.turn]
        if move == PASS and not state.free and not state.over:
            return State(state.discs, 1 if state.turn == 0 else 0, _free(theirs, mine))
        disc = _BIT.get(move, 0)
        if not disc & state.free:
            raise ValueError(f"{move!r} is no legal move")
        turned = _turned(mine, theirs, disc)
        mine, theirs = mine | disc | turned, theirs ^ turned
        free = _free(theirs, mine)
        over = not free and not _free(mine, theirs)
        return (
            State((mine, theirs), 1, free, over)
            if state.turn == 0
            else State((theirs, mine), 0, free, over)
        )

    def outcome(self, state: State) -> Outcome | None:
        """Return the side with more discs, or a draw; None while a side can still move."""
        if not state.over:
            return None
        first, second = _scores(state)
        return Outcome(None if first == second else 0 if first > second else 1, (first, second))

    def view(self, state: State) -> dict[str, Any]:
        """Return the board by rows, and the number of discs of each side."""
        first, second = state.discs
        board = [
            [0 if first & bit else 1 if second & bit else None for bit in row] for row in _ROWS
        ]
        return {"board": board, "scores": list(_scores(state))}


def _scores(state: State) -> tuple[int, int]:
    return state.discs[0].bit_count(), state.discs[1].bit_count()


def _free(mine: int, theirs: int) -> int:
    """Return the squares on which a new disc of mine would enclose discs of theirs.

    These are the empty squares at the far end of a run of their discs that starts beside a disc of
    mine. A run has at most six discs.
    """
    found = 0
    for step, where in _STEPS:
        between = theirs & where
        # Follow both directions of the line in one pass. A run of up to six discs is found in four
        # steps: the first disc, then one more, then two more, then two more.
        up, down = between & mine << step, between & mine >> step
        up |= between & up << step
        down |= between & down >> step
        ups, downs = between & between << step, between & between >> step
        up |= ups & up << 2 * step
        down |= downs & down >> 2 * step
        up |= ups & up << 2 * step
        down |= downs & down >> 2 * step
        found |= up << step | down >> step
    return found & ~(mine | theirs) & _BOARD


def _turned(mine: int, theirs: int, disc: int) -> int:
    """Return their discs that lie between my new disc and another disc of mine."""
    turned = 0
    for step, where in _STEPS:
        between = theirs & where
        if between & disc << step:
            run, beyond = 0, disc << step
            while beyond & between:
                run |= beyond
                beyond <<= step
            if beyond & mine:
                turned |= run
        if between & disc >> step:
            run, beyond = 0, disc >> step
            while beyond & between:
                run |= beyond
                beyond >>= step
            if beyond & mine:
                turned |= run
    return turned


RULES: Final = Reversi()
