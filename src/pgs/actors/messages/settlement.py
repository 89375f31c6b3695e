"""What the settlement actor of a partner is told."""

from pgs.actors.kernel.mail import Message
from pgs.domain.environments import Environment
from pgs.domain.seats import Payout, Seat


class AskCharge(Message, frozen=True):
    """Ask for a seat's stake; asking again is harmless."""

    seat: Seat


class PayOut(Message, frozen=True):
    """Pay what a match owes; paying again is harmless."""

    environment: Environment
    match_id: str
    payouts: tuple[Payout, ...]
