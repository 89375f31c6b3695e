"""The command to the account actor that notes a reader's cursor ahead of the results feed."""

from pgs.actors.messages.account.command import AccountCommand, AccountReply
from pgs.domain.environments import Environment


class NoteRewound(AccountCommand[AccountReply], frozen=True):
    """Write into the event log that a reader's cursor is ahead of the feed.

    The account stays as it is. `positions`: by how many positions the cursor is ahead.
    """

    by: str
    environment: Environment
    positions: int
