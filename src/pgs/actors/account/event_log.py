"""The rules that write into the event log and change nothing else."""

from pgs.actors.account.decisions import AccountDecision, Context, Write, as_committed
from pgs.actors.messages.account.event_log import NoteResolution, NoteRewound
from pgs.domain.accounts import Account


def note_resolution(account: Account, command: NoteResolution, _: Context) -> AccountDecision:
    """Decide to note the platform's decision on an open charge or payout."""
    return Write(
        account=account,
        stmts=(),
        action="settlement.resolved",
        detail={
            "environment": command.environment,
            "item": command.item_id,
            "kind": command.kind,
            "amountUsdCents": command.amount_usd_cents,
            "decision": command.decision,
        },
        reply=as_committed,
        revises=False,
    )


def note_rewound(account: Account, command: NoteRewound, _: Context) -> AccountDecision:
    """Decide to note that a reader's cursor is ahead of the results feed."""
    return Write(
        account=account,
        stmts=(),
        action="feed.rewound",
        detail={"environment": command.environment, "positions": command.positions},
        reply=as_committed,
        revises=False,
    )
