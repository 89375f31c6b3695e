"""The base of commands to the account actor, and the message about changed rows.

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
    """A command that changes an account.

    Its first field is always `by`: the uid of the member who acts, or `platform`. The event log
    shows it.

    `if_revision`: the account's revision that the caller has seen. If the account has another one
    by now, the reply is `partner_changed`. `rule`: the admin API's rule that admitted `by`. The
    actor applies it again, so that a member who was just removed or demoted changes nothing.
    `sign_in`: the sign-in of `by`, to which step-up windows belong.
    """

    if_revision: int | None = None
    rule: AdminRule | None = None
    sign_in: str = ""


class AccountChangedInRows(Message, frozen=True):
    """Load the account again: its rows have changed without the actor's knowledge.

    Something else wrote them, or the actor's own commit raised an error although it was carried
    out.
    """
