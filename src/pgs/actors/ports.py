"""The interfaces to the outside: posting to partners' endpoints, and settling players' money."""

from collections.abc import Mapping
from typing import Literal, Protocol

from pgs.domain.nudges import TryOutcome
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat

ChargeAnswer = Literal["confirmed", "pending", "declined"]


class NudgePort(Protocol):
    """Posts nudges to partners' endpoints."""

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> TryOutcome:
        """Return the outcome of one try. An endpoint cannot make it raise."""
        ...


class Unpublished(Exception):
    """The settlement server gave no answer that its interface defines."""


class SettlementPort(Protocol):
    """Holds the players' money. Both calls may be repeated: the seat is their idempotency key."""

    instant: bool  # True: every charge is confirmed at once, without a call

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Return settlement's answer about a seat's stake. Raises `Unpublished`."""
        ...

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return settlement's answer about a payout. Raises `Unpublished`."""
        ...
