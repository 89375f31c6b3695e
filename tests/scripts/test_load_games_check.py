"""The check after a load test finds every fault in moves, results and money."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from pgs.games.installed import load_games
from tests.conventions.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from game_load.bots import Pair, Partner, Side
from game_load.check import faults_of

MOVES = ["a1", "a2", "b1", "b2", "c1"]


def row(player: str, opponent: str, result: str, payout: int, rake: int) -> dict[str, Any]:
    told = {
        "matchId": "mat_1",
        "playerId": player,
        "opponentPlayerId": opponent,
        "outcome": "ended",
        "result": result,
    }
    return told | {
        "endReason": "completed",
        "payoutUsdCents": payout,
        "refundUsdCents": 0,
        "rakeUsdCents": rake,
    }


class Played:
    """A match without a fault, which `a` won."""

    def __init__(self) -> None:
        self.pair = Pair(Partner("acme", "key", "tier"), "tic-tac-toe", ("a", "b"))
        moves = dict(enumerate(MOVES))
        self.sides = {
            "a": Side("mat_1", 0, moves, "won", "ended", "completed"),
            "b": Side(
                "mat_1",
                1,
                {number: move for number, move in moves.items() if number},
                "lost",
                "ended",
                "completed",
            ),
        }
        self.rows = [row("a", "b", "won", 180, 0), row("b", "a", "lost", 0, 20)]

    @property
    def faults(self) -> list[str]:
        return faults_of([self.pair], self.sides, self.rows, load_games([]))


def test_a_correct_match_has_no_fault() -> None:
    assert Played().faults == []


def _swap(played: Played) -> None:
    played.rows[0]["result"], played.rows[1]["result"] = "lost", "won"


def _tell_both(played: Played) -> None:
    for side, result in zip(played.sides.values(), ("lost", "won"), strict=True):
        side.result = result
    _swap(played)


WRONG: dict[str, Callable[[Played], Any]] = {
    "the feed names the wrong winner": _swap,
    "the feed and both players name the wrong winner": _tell_both,
    "a row is missing": lambda played: played.rows.pop(),
    "a row came twice": lambda played: played.rows.append(dict(played.rows[0])),
    "the payout is too small": lambda played: played.rows[0].update(payoutUsdCents=179),
    "the rake is too large": lambda played: played.rows[1].update(rakeUsdCents=21),
    "the match ended by a clock": lambda played: played.rows[0].update(endReason="forfeit_timeout"),
    "a player heard no end": lambda played: setattr(played.sides["b"], "outcome", ""),
    "a player was cut off": lambda played: setattr(played.sides["b"], "fault", "closed with 1013"),
    "the players saw different moves": lambda played: played.sides["b"].moves.update({2: "c3"}),
    "a move is missing": lambda played: [side.moves.pop(2) for side in played.sides.values()],
    "the last move is missing": lambda played: [
        side.moves.pop(4) for side in played.sides.values()
    ],
    "the rows are of another match": lambda played: played.rows[0].update(matchId="mat_2"),
}


@pytest.mark.parametrize("name", WRONG)
def test_every_fault_is_found(name: str) -> None:
    played = Played()
    WRONG[name](played)
    assert played.faults
