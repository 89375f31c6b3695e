"""The rule that notes the platform's decisions on open charges and payouts in the event log."""

from pgs.actors.account.decisions import AccountDecision, Context, Write, as_committed
from pgs.actors.messages.account.settlement import NoteResolution
from pgs.domain.accounts import Account


def note_resolution(account: Account, command: NoteResolution, _: Context) -> AccountDecision:
    """Decide to write an event and nothing else."""
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
