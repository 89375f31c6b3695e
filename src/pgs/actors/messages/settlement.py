"""Messages to the settlement actor of a partner."""

from pgs.actors.kernel.mail import Message
from pgs.domain.environments import Environment
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat


class AskCharge(Message, frozen=True):
    """Ask settlement to charge a seat's stake. Asking again is harmless."""

    seat: Seat


class PayOut(Message, frozen=True):
    """Pay what a match owes. Paying again is harmless."""

    environment: Environment
    match_id: str
    payouts: tuple[Payout, ...]
