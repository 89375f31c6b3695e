"""The rule about a feed that is behind its readers: the event log tells of it."""

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
