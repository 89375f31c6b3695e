"""Messages to the courier of one webhook endpoint."""

from pgs.actors.kernel.mail import Command, Message
from pgs.domain.errors import Refusal
from pgs.domain.nudges import TryOutcome
from pgs.storage.attempts import Attempt


class Nudge(Message, frozen=True):
    """The results feed has news about a match: send the partner a nudge."""

    match_id: str


class TryDone(Command[None], frozen=True):
    """Log the outcome of one try at delivering a nudge.

    `number` counts from 1. `tried_at`: when the try began, in epoch seconds. `last`: no other try
    follows. `test`: the try sent a test event. `resend`: the try repeats a nudge at a member's
    request.
    """

    nudge_id: str
    match_id: str | None
    number: int
    tried_at: int
    outcome: TryOutcome
    delivered: bool
    last: bool
    test: bool = False
    resend: bool = False


class NudgeCut(Command[None], frozen=True):
    """Free the in-flight slot of a nudge that was cut short before its last try."""

    nudge_id: str


class EndpointChanged(Message, frozen=True):
    """Read the endpoint again: its row or the account may have changed."""


class SendTest(Command[Attempt | Refusal], frozen=True):
    """Send one test event; the reply is the attempt.

    `if_revision`: the revision of the account that the caller has seen. If it has changed since,
    the reply is the refusal `partner_changed`.
    """

    if_revision: int | None = None


class Resend(Command[Attempt | Refusal], frozen=True):
    """Send one more nudge about a match, in one try; the reply is the attempt."""

    match_id: str


class LoneTryDone(Command[Attempt], frozen=True):
    """Log the outcome of a test event or a resent nudge; the reply is the attempt."""

    done: TryDone
