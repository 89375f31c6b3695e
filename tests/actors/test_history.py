"""The checks of the history of commits, which the tests of interleavings use."""

from typing import Any

import pytest

from pgs.storage.transactions import Stmt, Tx
from tests.actors.history import check_history
from tests.actors.ready_core import GAME


def seat(seat_id: str, player: str, status: str, seq: int, **more: Any) -> Stmt:
    """Return the write of a seat's row."""
    params: dict[str, Any] = {
        "seat_id": seat_id,
        "player_id": player,
        "status": status,
        "seq": seq,
        "revision": 0,
        "position": None,
        "match_id": None,
        "game_id": GAME,
        "tier_id": "bronze",
        "tier_revision": 1,
        "due_at": 100 + seq,
        "updated_at": 50,
    }
    return Stmt("seats.update_seat", params | more)


def matched(seat_id: str, player: str, seq: int, position: int, **more: Any) -> Stmt:
    """Return the write of a seat that has found its opponent."""
    pairing = {"position": position, "match_id": "mat", "revision": 1}
    return seat(seat_id, player, "matched", seq, **(pairing | more))


def tx(*stmts: Stmt) -> Tx:
    return Tx("acme", stmts)


WAITING = [tx(seat("a", "alice", "waiting", 1)), tx(seat("b", "alice", "waiting", 2))]
OLDEST = tx(matched("a", "alice", 1, 1), matched("c", "carol", 3, 2))
SECOND_OLDEST = tx(matched("b", "alice", 2, 1), matched("c", "carol", 3, 2))
EXPIRED = tx(
    matched("a", "alice", 1, 1, updated_at=101), matched("c", "carol", 3, 2, updated_at=101)
)


def test_the_checks_notice_wrong_histories_of_the_test_environment() -> None:
    """Each wrong history must fail the replay."""
    assert check_history([*WAITING, OLDEST], "test") == 1
    wrong = [
        SECOND_OLDEST,
        tx(matched("a", "alice", 1, 1), matched("c", "carol", 3, 3)),
        tx(matched("a", "alice", 1, 1), matched("c", "alice", 3, 2)),
        EXPIRED,
        tx(seat("c", "carol", "waiting", 3)),
    ]
    for one in wrong:
        with pytest.raises((AssertionError, IndexError)):
            check_history([*WAITING, one], "test")


def test_the_checks_notice_wrong_histories_of_the_live_environment() -> None:
    """Each wrong history must fail the replay."""
    waiting = [
        *WAITING,
        tx(seat("c", "carol", "waiting", 3)),
        tx(seat("d", "dave", "waiting", 4, tier_id="gold")),
    ]
    ended = Stmt("matches.update_match", {"was_status": "started", "status": "ended"})
    first, second = (
        Stmt(
            "ratings.save_rating", {"game_id": GAME, "player_id": p, "was_matches": 0, "matches": 1}
        )
        for p in ("a", "c")
    )
    for good in (SECOND_OLDEST, OLDEST):
        assert check_history([*waiting, good, tx(ended, first, second)], "live") == 1
    wrong = [
        tx(matched("a", "alice", 1, 1), matched("b", "alice", 2, 2)),
        tx(matched("a", "alice", 1, 1), matched("d", "dave", 4, 2, tier_id="gold")),
        tx(matched("a", "alice", 1, 1), matched("e", "erin", 5, 2)),
        EXPIRED,
        tx(matched("a", "alice", 1, 1)),
        tx(ended),
        tx(first, second),
        tx(ended, first, first),
    ]
    for one in wrong:
        with pytest.raises((AssertionError, KeyError, ValueError)):
            check_history([*waiting, one], "live")
