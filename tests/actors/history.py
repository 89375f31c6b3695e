"""What the committed writes of a seats actor must say, read in the order of their commits."""

from typing import Any

from pgs.storage.database import Tx


def check_history(history: list[Tx]) -> int:
    """Replay the committed writes: positions, revisions, and who was paired with whom. Return how many matches were started."""
    seats: dict[str, dict[str, Any]] = {}
    position = started = 0
    for tx in history:
        before = {seat_id: dict(seat) for seat_id, seat in seats.items()}
        touched: list[dict[str, Any]] = []
        for stmt in tx.stmts:
            if stmt.name in ("seats.insert_seat", "seats.update_seat"):
                seat = seats.setdefault(str(stmt.params["seat_id"]), {"revision": 0, "position": None, "match_id": None, "status": None})
                was = dict(seat)
                seat.update(stmt.params)
                touched.append(seat)
                if seat["position"] != was["position"]:
                    position += 1
                    assert seat["position"] == position, "a gap, or out of order"
                    assert seat["revision"] == was["revision"] + 1
                else:
                    assert seat["revision"] == was["revision"]
                    assert seat["match_id"] is None
                assert was["match_id"] in (None, seat["match_id"])
        check_pairing(before, touched)
        started += sum(seat["status"] == "matched" for seat in touched) // 2
    return started


def check_pairing(before: dict[str, dict[str, Any]], touched: list[dict[str, Any]]) -> None:
    """Check one transaction against the rule: a newly confirmed stake joins the oldest that waits, or waits itself."""

    def waiting_for(seat: dict[str, Any]) -> list[dict[str, Any]]:
        pool = ("game_id", "tier_id", "tier_revision")
        return sorted(
            (
                other
                for other in before.values()
                if other["status"] == "waiting"
                and other["player_id"] != seat["player_id"]
                and all(other[name] == seat[name] for name in pool)
            ),
            key=lambda other: int(other["seq"]),
        )

    matched = [seat for seat in touched if seat["status"] == "matched"]
    if matched:
        assert len(touched) == len(matched) == 2
        older, newer = matched
        assert older["match_id"] == newer["match_id"]
        assert before[older["seat_id"]]["status"] == "waiting"
        assert before.get(newer["seat_id"], {"status": "pending"})["status"] == "pending"
        assert waiting_for(newer)[0]["seat_id"] == older["seat_id"], "not the oldest"
    for seat in touched:
        if seat["status"] == "waiting":
            assert waiting_for(seat) == [], "an opponent was there"
