"""What every command to the account actor has in common, and the message that its rows changed.

The commands themselves are in the other modules of this package, by noun.
"""

from typing import Generic, TypeVar

from pgs.actors.kernel.mail import Command, Message
from pgs.domain.accounts import Account
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.roles import AdminRule

R = TypeVar("R", covariant=True)

AccountReply = Account | Refusal | BadRequest
"""The account after the command, or why nothing was changed."""


class AccountCommand(Command[R], Generic[R], frozen=True, kw_only=True):
    """Changes an account.

    Its first field is always `by`: the uid of the member who acts, or `platform`. The event log
    names them.

    `if_revision`: the account's revision that the caller has seen. If it has another one by now,
    the reply is `partner_changed`. `rule`: the gates that `by` has passed in the admin API. The
    actor checks them again, so that a member who was removed or demoted a moment ago changes
    nothing.
    """

    if_revision: int | None = None
    rule: AdminRule | None = None


class AccountChangedInRows(Message, frozen=True):
    """Somebody else has written the account's rows: they differ from what was published."""
