"""Commands to the account actor that write into the event log and change nothing else."""

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


class NoteRewound(AccountCommand[AccountReply], frozen=True):
    """Write into the event log that a reader's cursor is ahead of the feed.

    The account stays as it is. `positions`: by how many positions the cursor is ahead.
    """

    by: str
    environment: Environment
    positions: int
