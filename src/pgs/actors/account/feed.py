"""The rule that notes in the event log that a reader's cursor is ahead of the results feed."""

from pgs.actors.account.decisions import AccountDecision, Context, Write, as_committed
from pgs.actors.messages.account.feed import NoteRewound
from pgs.domain.accounts import Account


def note_rewound(account: Account, command: NoteRewound, _: Context) -> AccountDecision:
    """Decide to write an event and nothing else."""
    return Write(
        account=account,
        stmts=(),
        action="feed.rewound",
        detail={"environment": command.environment, "positions": command.positions},
        reply=as_committed,
        revises=False,
    )
