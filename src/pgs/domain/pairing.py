"""Pairing: the pool in which a seat waits, and the rule of the test environment.

Live pairing is in `live_pairing.py`.
"""

from collections.abc import Iterable

from pgs.domain.seats import Seat

TEST_RULE = "test.v1"
TOGETHER_RULE = "together.v1"

Pool = tuple[str, str, str, int, str]


def pool_of(seat: Seat) -> Pool:
    """Return the pool in which a seat waits.

    The seats of a pool share partner, game, tier, the tier's revision and the settlement that holds
    the stakes. Only a settlement that holds both stakes can pay the prize.
    """
    return (seat.partner_id, seat.game_id, seat.tier_id, seat.tier_revision, seat.settlement)


def is_open(seat: Seat, now: int) -> bool:
    """Return whether a waiting seat may still be paired.

    A seat that has expired may not be paired, even if it has not been closed yet.
    """
    return seat.due_at is None or seat.due_at > now


def oldest_opponent(waiting: Iterable[Seat], player_id: str, now: int) -> Seat | None:
    """Return the waiting seat that a new seat of `player_id` is paired with, or None.

    This is the first seat, in the given order, that is open and belongs to another player.
    """
    for seat in waiting:
        if seat.player_id != player_id and is_open(seat, now):
            return seat
    return None


def explain_test(waited_seconds: int, begins: str) -> dict[str, str | int | float]:
    """Return the explanation that is stored with a test match and served as `pairing`.

    `begins`: the player who moves first.
    """
    return {"rule": TEST_RULE, "waitedSeconds": waited_seconds, "begins": begins}


def explain_together(begins: str) -> dict[str, str | int | float]:
    """Return the explanation of a test match whose two players were seated together."""
    return {"rule": TOGETHER_RULE, "waitedSeconds": 0, "begins": begins}
