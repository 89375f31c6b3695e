"""Messages to the settlement actor of a partner."""

from pgs.actors.kernel.mail import Message
from pgs.domain.environments import Environment
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat, SettlementSide


class AskCharge(Message, frozen=True):
    """Ask settlement to charge a seat's stake. Asking again is harmless.

    `again`: a repeated ask; no call waits for its answer. `request_id`: the id of the call that
    waits, for the log.
    """

    seat: Seat
    again: bool = False
    request_id: str | None = None


class PayOut(Message, frozen=True):
    """Pay what a match owes. Paying again is harmless.

    `settlement`: who holds the match's stakes. `again`: settlement was asked to pay before.
    """

    environment: Environment
    match_id: str
    payouts: tuple[Payout, ...]
    settlement: SettlementSide
    again: bool = False
