"""What the courier of a partner and environment is asked and told."""

from pgs.actors.kernel.mail import Command, Message
from pgs.domain.errors import Refusal
from pgs.domain.nudges import TryOutcome
from pgs.storage.attempts import Attempt


class Nudge(Message, frozen=True):
    """A match has moved on: the partner's feed holds something new."""

    match_id: str


class TryDone(Command[None], frozen=True):
    """Log what one try at delivering a nudge came to. `last`: no other follows; `test`: it was a test event."""

    nudge_id: str
    match_id: str | None
    number: int
    tried_at: int
    outcome: TryOutcome
    delivered: bool
    last: bool
    test: bool = False


class NudgeCut(Command[None], frozen=True):
    """Let go of a nudge that ended before its last try."""

    nudge_id: str


class EndpointChanged(Message, frozen=True):
    """The endpoint, or whether its account is on, was changed in rows."""


class SendTest(Command[Attempt | Refusal], frozen=True):
    """Send one test event; answers the attempt. `if_revision`: the account's, as for whatever changes the account."""

    if_revision: int | None = None


class TestDone(Command[Attempt], frozen=True):
    """Log what a test event came to; answers the attempt."""

    __test__ = False  # no test case, whatever its name begins with

    done: TryDone
