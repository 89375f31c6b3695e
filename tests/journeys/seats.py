"""A paid seat as the tests ask for it, and a settlement that answers as a test says."""

from pgs.actors.ports import ChargeAnswer, UndefinedAnswer
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat
from tests.journeys.client import Reply, SyncClient
from tests.journeys.partners import (
    seat_body,
)

SEAT_FIELDS = {
    "seatId",
    "matchId",
    "status",
    "stakeStatus",
    "environment",
    "gameId",
    "tierId",
    "playerId",
    "stakeUsdCents",
    "prizeUsdCents",
    "seatedAt",
    "idempotencyKey",
}


def take_seat(
    client: SyncClient,
    key: str,
    player_id: str = "alice",
    idempotency_key: str = "one",
    **fields: object,
) -> Reply:
    return client.call(
        "POST", "/partner/matches", key, seat_body(player_id, idempotency_key, **fields)
    )


class RemoteSettlement:
    """A settlement that answers every charge with `answer`, or not at all while that is None."""

    instant = False

    def __init__(self, answer: ChargeAnswer | None) -> None:
        self.answer = answer
        self.asked = 0

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Return `answer`. Raises `UndefinedAnswer` if it is None."""
        self.asked += 1
        if self.answer is None:
            raise UndefinedAnswer("a test said so")
        return self.answer

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return `confirmed`."""
        return "confirmed"
