"""Creates the demo's admin, who has accepted the partner's invite and has an authenticator."""

import msgspec

from pgs.actors.core import Core
from pgs.actors.messages.account.factors import EnrollTotp, Enrolment, SteppedUp, VerifyTotp
from pgs.actors.messages.account.members import AcceptInvite
from pgs.devissuer.issuer import DevelopmentIssuer
from pgs.devissuer.people import Person
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.secrets import HidesSecrets
from pgs.domain.totp import STEP_S, code_at
from pgs.operator.ready_partners import NotMade, ReadyPartner

ADMIN = Person("demo-admin", "Dana Demo", "admin@demo.example")
DEVELOPER = Person("demo-developer", "Devi Demo", "developer@demo.example")
PEOPLE = (ADMIN, DEVELOPER)
"""The people on the development issuer's page. The developer is no member until invited."""

TOKEN_S = 12 * 3600
"""Seconds that the demo admin's token is valid: a day's work with the demo."""


class Admin(HidesSecrets, msgspec.Struct, frozen=True):
    """What scripts need to call the admin API: an identity token and an authenticator's secret."""

    SECRETS = frozenset({"token", "totp_secret"})

    token: str
    totp_secret: str


async def make_admin(core: Core, partner: ReadyPartner, issuer: DevelopmentIssuer) -> Admin:
    """Create and return the partner's first admin, with the commands that every admin uses.

    Raises `NotMade`.
    """
    account = core.directory.partner(partner.partner_id).account()
    accepted = await account.ask(AcceptInvite(ADMIN.uid, ADMIN.email, partner.invite_id))
    enrolled = await account.ask(EnrollTotp(ADMIN.uid))
    if isinstance(accepted, Refusal | BadRequest) or not isinstance(enrolled, Enrolment):
        raise NotMade(f"the demo's admin: {accepted}, {type(enrolled).__name__}")
    # A code works once. The code of the previous 30 seconds is valid too: use it here, so that the
    # current code is left for the next caller.
    verified = await account.ask(
        VerifyTotp(ADMIN.uid, code_at(enrolled.secret, core.parts.clock.now() - STEP_S))
    )
    if not isinstance(verified, SteppedUp):
        raise NotMade(f"the demo's authenticator: {verified}")
    return Admin(issuer.mint_token(ADMIN, lifetime_s=TOKEN_S), enrolled.secret)
