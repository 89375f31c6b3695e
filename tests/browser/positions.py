"""Positions and states of all games, for the tests of the frame's layout."""

from dataclasses import dataclass, field
from typing import Any, Final

from tests.browser.scripted_server import CHESS_START, ScriptedServer, empty, snapshot

SIZES: Final = ((320, 480), (400, 720), (390, 844), (680, 560), (1280, 900))
"""Width and height of the boxes in which every control must be visible."""

LONG: Final = "Maximiliane-Alexandra von Hohenstein-Wittgenau"
"""A name that no line has room for."""

LOW_MS: Final = 9_900
"""The time left on a low clock. It runs on while a test looks at it."""

_MONEY: Final = {"stakeUsdCents": 50_000, "prizeUsdCents": 95_000}
_CHECK: Final = "rnb1kbnr/pppp1ppp/8/4p3/5PPq/8/PPPPP2P/RNBQKBNR w KQkq - 1 3"
_PROMOTION: Final = "8/P6k/8/8/8/8/8/K7 w - - 0 1"

GAMES: Final[dict[str, tuple[dict[str, Any], list[str]]]] = {
    "tic-tac-toe": ({"board": empty(3, 3)}, ["a1", "b2", "c3"]),
    "connect-four": ({"board": empty(6, 7)}, ["1", "4", "7"]),
    "reversi": ({"board": empty(8, 8), "scores": [30, 31]}, ["d3", "c4"]),
    "chess": ({"fen": CHESS_START, "check": False}, ["e2e4", "e2e3", "g1f3"]),
}
"""A state of each game, and legal moves in it."""


DRAWS: Final = ("stalemate", "insufficient_material", "repetition", "fifty_moves")
"""The rules by which a game of chess can end in a draw."""


@dataclass
class State:
    """A state of the frame: the messages that lead to it, and what must then be seen.

    `low` in a snapshot is the side whose clock is low.
    """

    name: str
    games: tuple[str, ...] = tuple(GAMES)
    snapshot: dict[str, Any] = field(default_factory=dict)
    ended: dict[str, Any] | None = None
    before: dict[str, Any] | None = None
    """A message instead of a snapshot."""

    press: tuple[str, ...] = ()
    """Selectors of what is then pressed."""

    sees: str = ""


def _ended(result: str | None, reason: str, due: int) -> dict[str, Any]:
    outcome = "no_contest" if result is None else "ended"
    return {"outcome": outcome, "result": result, "endReason": reason, "dueUsdCents": due}


STATES: Final = (
    State("no seat", before={"type": "no_seat"}, sees="No seat yet"),
    State(
        "waiting",
        before={"type": "waiting", "seatId": "sea_1", "seatedAt": 1, "expiresAt": 9_999_999_999}
        | _MONEY,
        sees="Waiting for an opponent",
    ),
    State("your turn", sees="Your turn"),
    State("their turn", snapshot={"turn": 1}, sees="is thinking"),
    State("resigning", press=(".dock .bare",), sees="Your turn"),
    State("earlier position", press=(".steps .tool:first-child",), sees="Your turn"),
    State(
        "their earlier position",
        snapshot={"turn": 1},
        press=(".steps .tool:first-child",),
        sees="thinking",
    ),
    State(
        "away",
        snapshot={"turn": 1, "opponent": {"playerId": "bob", "connected": False}},
        sees="is away",
    ),
    State("pass", ("reversi",), {"legalMoves": ["pass"]}, sees="You must pass"),
    State("check", ("chess",), {"state": {"fen": _CHECK, "check": True}}, sees="Check: your turn"),
    State(
        "promotion",
        ("chess",),
        {
            "state": {"fen": _PROMOTION, "check": False},
            "legalMoves": ["a7a8q", "a7a8r", "a7a8b", "a7a8n"],
        },
        press=('[data-cell="a7"]', '[data-cell="a8"]'),
        sees="Your turn",
    ),
    State("low", snapshot={"low": 0}, sees="Your turn"),
    State("their low", snapshot={"turn": 1, "low": 1}, sees="is thinking"),
    State("won", ended=_ended("won", "completed", 95_000), sees="You won $950.00"),
    State("won on time", ended=_ended("won", "forfeit_timeout", 95_000), sees="You won $950.00"),
    State("lost", ended=_ended("lost", "forfeit_timeout", 0), sees="You lost"),
    State("drawn", ended=_ended("drawn", "completed", 50_000), sees="A draw"),
    *(
        State(
            f"drawn by {rule}",
            ("chess",),
            {"state": {"fen": CHESS_START, "check": False, "draw": rule}},
            ended=_ended("drawn", "completed", 50_000),
            sees="A draw",
        )
        for rule in DRAWS
    ),
    State("void", ended=_ended(None, "emergency_stop", 50_000), sees="No contest"),
)


def show(server: ScriptedServer, game: str, state: State, number: int, now: int) -> None:
    """Bring the frame into a state, in a match of its own. `now` is the time in milliseconds."""
    if state.before is not None:
        server.send(state.before)
        return
    position, moves = GAMES[game]
    match_id = f"mat_{number}"
    clocks: dict[str, Any] = {"deadlineAtMs": now + 3_600_000}
    if game == "chess":
        clocks |= {"remainingMs": [3_600_000, 3_600_000], "incrementMs": 3_000}
    if (side := state.snapshot.get("low")) is not None:
        clocks["deadlineAtMs"] = now + LOW_MS
        if game == "chess":
            clocks["remainingMs"][side] = LOW_MS
    opponent = {"opponent": {"playerId": "bob", "displayName": LONG, "connected": True}}
    if "earlier" in state.name:
        clocks |= {"ply": 1, "moves": [moves[0]]}
    snapshot_of = {name: value for name, value in state.snapshot.items() if name != "low"}
    fields: dict[str, Any] = {"matchId": match_id, **_MONEY, **clocks, **opponent, **snapshot_of}
    state_of_game, legal = fields.pop("state", position), fields.pop("legalMoves", moves)
    server.send(snapshot(game, state_of_game, legal, **fields))
    if state.ended is not None:
        server.send({"type": "ended", "matchId": match_id, "seq": 2, **state.ended})
