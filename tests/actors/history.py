"""Checks of the committed writes of a seats actor, in the order of their commits."""

from collections import defaultdict
from typing import Any

from pgs.domain.environments import Environment
from pgs.storage.transactions import Tx

_Row = dict[str, Any]
_POOL = ("game_id", "tier_id", "tier_revision")


def check_history(history: list[Tx], environment: Environment) -> int:
    """Replay the committed writes and return how many matches were started.

    It checks positions, revisions, ratings, and who was paired with whom.
    """
    seats: dict[str, _Row] = {}
    rated: dict[tuple[str, str], int] = defaultdict(int)
    position = started = 0
    for tx in history:
        before = {seat_id: dict(seat) for seat_id, seat in seats.items()}
        touched: list[_Row] = []
        for stmt in tx.stmts:
            if stmt.name.startswith(("seats.insert_seat", "seats.update_seat")):
                seat = seats.setdefault(
                    str(stmt.named["seat_id"]),
                    {"revision": 0, "position": None, "match_id": None, "status": None},
                )
                was = dict(seat)
                seat.update(stmt.named)
                touched.append(seat)
                if seat["position"] != was["position"]:
                    position += 1
                    assert seat["position"] == position, "a gap, or out of order"
                    assert seat["revision"] == was["revision"] + 1
                else:
                    assert seat["revision"] == was["revision"]
                    assert seat["match_id"] is None
                assert was["match_id"] in (None, seat["match_id"])
        check_pairing(before, touched, environment)
        check_ratings(tx, rated, environment)
        started += sum(seat["status"] == "matched" for seat in touched) // 2
    return started


def check_pairing(before: dict[str, _Row], touched: list[_Row], environment: Environment) -> None:
    """Check that one transaction pairs seats by the environment's rule.

    In test, a newly confirmed stake joins the oldest waiting seat, or waits itself. In live, it
    waits, and a wave pairs waiting seats. In both, nobody is paired with themself or with an
    expired seat.
    """
    matches: dict[str, list[_Row]] = defaultdict(list)
    for seat in touched:
        if seat["status"] == "matched":
            matches[seat["match_id"]].append(seat)
    for match in matches.values():
        older, newer = sorted(match, key=lambda seat: int(seat["seq"]))
        assert older["player_id"] != newer["player_id"]
        assert all(older[name] == newer[name] for name in _POOL)
        if environment == "live":
            assert [before[seat["seat_id"]]["status"] for seat in match] == ["waiting"] * 2
            assert all(before[seat["seat_id"]]["due_at"] > seat["updated_at"] for seat in match)
        else:
            assert touched == match, "one decision, one match"
            older, newer = match
            assert before[older["seat_id"]]["status"] == "waiting"
            assert before.get(newer["seat_id"], {"status": "pending"})["status"] == "pending"
            assert _waiting_for(before, newer)[0]["seat_id"] == older["seat_id"], "not the oldest"
    if environment == "test":
        for seat in touched:
            if seat["status"] == "waiting":
                assert _waiting_for(before, seat) == [], "an opponent was there"


def _waiting_for(before: dict[str, _Row], seat: _Row) -> list[_Row]:
    """Return the seats with which a newly confirmed one may be paired, the oldest first."""
    return sorted(
        (
            other
            for other in before.values()
            if other["status"] == "waiting"
            and other["player_id"] != seat["player_id"]
            and other["due_at"] > seat["updated_at"]
            and all(other[name] == seat[name] for name in _POOL)
        ),
        key=lambda other: int(other["seq"]),
    )


def check_ratings(tx: Tx, rated: dict[tuple[str, str], int], environment: Environment) -> None:
    """Check that live matches with a result, and no others, are rated once for each player."""
    ends = sum(
        stmt.name == "matches.update_match"
        and (stmt.named["was_status"], stmt.named["status"]) == ("started", "ended")
        for stmt in tx.stmts
    )
    moves = [stmt.named for stmt in tx.stmts if stmt.name == "ratings.save_rating"]
    assert len(moves) == (2 * ends if environment == "live" else 0)
    for params in moves:
        key = str(params["game_id"]), str(params["player_id"])
        assert params["was_matches"] == rated[key]
        assert params["matches"] == rated[key] + 1
        rated[key] += 1
