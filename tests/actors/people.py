"""Members of a test's account, and their authenticators."""

from typing import Any

from pyotp import TOTP

from pgs.actors.kernel.mail import Command
from pgs.actors.messages.account.factors import EnrollTotp, Enrolment
from pgs.actors.messages.account.members import AcceptInvite, CreateInvite
from pgs.domain.invites import Invite
from pgs.domain.members import PLATFORM, Member
from pgs.domain.roles import Role
from pgs.domain.totp import STEP_S
from tests.actors.ready_core import ReadyCore
from tests.virtual import TrioClock


async def ask(s: ReadyCore, command: Command[Any], partner: str = "acme") -> Any:
    return await s.partner(partner).account().ask(command)


async def invite(s: ReadyCore, email: str, role: Role = "admin", partner: str = "acme") -> Invite:
    """Let the platform invite somebody."""
    made = await ask(s, CreateInvite(PLATFORM, email, role), partner)
    assert isinstance(made, Invite), made
    return made


async def join(s: ReadyCore, uid: str, role: Role = "admin", partner: str = "acme") -> Member:
    """Make somebody a member, `<uid>@acme.example`."""
    made = await invite(s, f"{uid}@acme.example", role, partner)
    accepted = await ask(s, AcceptInvite(uid, f"{uid}@acme.example", made.invite_id), partner)
    assert isinstance(accepted, Invite), accepted
    return s.account(partner).members[uid]


class App:
    """An authenticator app on the test's clock."""

    def __init__(self, s: ReadyCore, secret: str) -> None:
        self.secret = secret
        self._s = s

    def code(self, steps: int = 0) -> str:
        """Return the current code, or the one of `steps` steps later."""
        return TOTP(self.secret).generate_otp(self._s.parts.clock.now() // STEP_S + steps)

    def wrong(self) -> str:
        """Return six digits that are the code neither now nor one step earlier or later."""
        right = {self.code(steps) for steps in (-1, 0, 1)}
        return next(code for number in range(4) if (code := f"{number:06}") not in right)


async def enrol(s: ReadyCore, uid: str) -> App:
    """Enrol an authenticator for a member, without giving its first code."""
    made = await ask(s, EnrollTotp(uid))
    assert isinstance(made, Enrolment), made
    return App(s, made.secret)


def skip(s: ReadyCore, seconds: int) -> None:
    """Move the wall clock forward without waking anything that waits.

    Sleeping for days of virtual time would run every chore of those days, which takes long.
    """
    clock = s.parts.clock
    assert isinstance(clock, TrioClock)
    clock.skip(seconds)
