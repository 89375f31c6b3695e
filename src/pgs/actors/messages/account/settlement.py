"""The command to the account actor about settlement: an operator's decision for the event log."""

from typing import Literal

from pgs.actors.messages.account.command import AccountCommand, AccountReply
from pgs.domain.environments import Environment


class NoteResolution(AccountCommand[AccountReply], frozen=True):
    """Write into the event log that the platform decides a charge or payout.

    `item_id`: the seat, or match and seat. The account stays as it is.
    """

    by: str
    environment: Environment
    item_id: str
    kind: Literal["charge", "prize", "refund"]
    amount_usd_cents: int
    decision: Literal["confirmed", "declined"]
