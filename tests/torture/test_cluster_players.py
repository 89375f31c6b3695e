"""The players of the cluster's torture notice what contradicts what they were told."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from pgs.games.installed import load_games

SCRIPTS = Path(__file__).parents[2] / "scripts"

pytestmark = pytest.mark.torture

MOVES = ["1", "2", "1", "2", "1", "2", "1"]
"""Four discs of side 0 above each other."""


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("cluster_torture.seen")


@pytest.fixture
def sides(seen: Any) -> tuple[Any, Any]:
    """Both sides of a match that side 0 has won."""
    made = []
    for you, (result, due) in enumerate((("won", 180), ("lost", 0))):
        side = seen.Side(f"player-{you}", f"seat-{you}", "match", you)
        assert side.see_all(len(MOVES), MOVES) == []
        assert side.hear(seen.Told("ended", result, "completed", due)) == ""
        made.append(side)
    return made[0], made[1]


@pytest.fixture
def rows() -> dict[str, dict[str, Any]]:
    row = {"matchId": "match", "outcome": "ended", "endReason": "completed"}
    return {
        "seat-0": row | {"result": "won", "payoutUsdCents": 180, "refundUsdCents": 0},
        "seat-1": row | {"result": "lost", "payoutUsdCents": 0, "refundUsdCents": 0},
    }


def wrong(seen: Any, sides: Any, rows: Any) -> str:
    return "; ".join(seen.wrong_in(sides, rows, load_games()["connect-four"]))


def test_a_match_that_ended_as_its_players_were_told_is_right(
    seen: Any, sides: Any, rows: Any
) -> None:
    assert wrong(seen, sides, rows) == ""


def test_a_feed_that_pays_or_says_otherwise_is_found(seen: Any, sides: Any, rows: Any) -> None:
    rows["seat-0"]["payoutUsdCents"] = 0
    rows["seat-1"]["result"] = "drawn"
    found = seen.wrong_in(sides, rows, load_games()["connect-four"])
    assert [line.partition(" was told")[0] for line in found] == ["player-0", "player-1"]


def test_a_seat_that_the_feed_lacks_is_found(seen: Any, sides: Any, rows: Any) -> None:
    del rows["seat-1"]
    assert "the feed lacks player-1" in wrong(seen, sides, rows)


def test_a_player_who_was_never_told_is_found(seen: Any, sides: Any, rows: Any) -> None:
    sides[1].told = None
    assert "player-1 was never told" in wrong(seen, sides, rows)


def test_a_result_that_the_moves_contradict_is_found(seen: Any, sides: Any, rows: Any) -> None:
    first, second = sides
    first.you, second.you = 1, 0
    assert "player-0 has lost match by its moves" in wrong(seen, sides, rows)


def test_a_move_that_is_missing_changed_or_told_otherwise_is_found(seen: Any, sides: Any) -> None:
    side = sides[0]
    assert "is at ply 5: player-0 saw 7" in side.see_all(5, MOVES[:5])[0]
    assert side.see(6, "3") == "player-0 saw 1 as move 6 of match, and then 3"
    assert "and then Told(outcome='ended'" in side.hear(
        seen.Told("ended", "drawn", "completed", 100)
    )
