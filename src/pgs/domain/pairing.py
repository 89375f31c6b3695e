"""Who plays whom."""

from collections.abc import Iterable

from pgs.domain.seats import Seat

TEST_RULE = "test.v1"
FIRST_COME_RULE = "first_come.v1"  # live, until pairing by skill


def pool_of(seat: Seat) -> tuple[str, str, str, int]:
    """Return the queue that a seat waits in: its pool, game, tier and the tier's revision. Today a pool is a partner."""
    return (seat.partner_id, seat.game_id, seat.tier_id, seat.tier_revision)


def oldest_opponent(waiting: Iterable[Seat], player_id: str) -> Seat | None:
    """Return the waiting seat that a player's stake joins: the first, in the given order, that is not the player's own."""
    return next((seat for seat in waiting if seat.player_id != player_id), None)


def explain(environment: str, waited_seconds: int) -> dict[str, str | int]:
    """Return the explanation that is stored with a match and served as `pairing`."""
    return {"rule": TEST_RULE if environment == "test" else FIRST_COME_RULE, "waitedSeconds": waited_seconds}
