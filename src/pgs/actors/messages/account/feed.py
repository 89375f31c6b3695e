"""The command to the account actor about the results feed: a reader is ahead of it."""

from pgs.actors.messages.account.command import AccountCommand, AccountReply
from pgs.domain.environments import Environment


class NoteRewound(AccountCommand[AccountReply], frozen=True):
    """Write into the event log that a reader is ahead of the feed. The account stays as it is.

    `positions`: by how many positions it is ahead.
    """

    by: str
    environment: Environment
    positions: int
