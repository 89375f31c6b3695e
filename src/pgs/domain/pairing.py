"""Who plays whom: the queue that a seat waits in, and the rule of the test environment. Live pairing is in `live_pairing.py`."""

from collections.abc import Iterable

from pgs.domain.seats import Seat

TEST_RULE = "test.v1"

Pool = tuple[str, str, str, int]


def pool_of(seat: Seat) -> Pool:
    """Return the queue that a seat waits in: its pool, game, tier and the tier's revision. Today a pool is a partner."""
    return (seat.partner_id, seat.game_id, seat.tier_id, seat.tier_revision)


def is_open(seat: Seat, now: int) -> bool:
    """Return whether a waiting seat may still be paired. A seat whose time is up is not, even before anyone has closed it."""
    return seat.due_at is None or seat.due_at > now


def oldest_opponent(waiting: Iterable[Seat], player_id: str, now: int) -> Seat | None:
    """Return the waiting seat that a player's stake joins: the first, in the given order, that is open and not the player's own."""
    return next(
        (seat for seat in waiting if seat.player_id != player_id and is_open(seat, now)), None
    )


def explain_test(waited_seconds: int) -> dict[str, str | int | float]:
    """Return the explanation that is stored with a match of the test environment and served as `pairing`."""
    return {"rule": TEST_RULE, "waitedSeconds": waited_seconds}
