"""A client of the admin API, with a service, the account `acme` and an identity issuer."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.members import AcceptInvite, CreateInvite
from pgs.clock import SystemClock, SystemRng
from pgs.demo.certificates import Authority
from pgs.demo.inbox import Inbox, open_inbox
from pgs.demo.loopback import HOOKS_HOST, LoopbackResolver, loopback_outbound
from pgs.devissuer.issuer import DevelopmentIssuer, development_issuer, minted_sid
from pgs.devissuer.people import Person
from pgs.devissuer.signing import new_key
from pgs.domain.factors import FRESH_S, WINDOW_S, Factor, Window
from pgs.domain.invites import Invite
from pgs.domain.members import PLATFORM
from pgs.domain.roles import Role
from pgs.domain.totp import STEP_S, code_at
from pgs.http.identity.tokens import sign_in_name
from pgs.storage.factors import put_factor
from pgs.storage.transactions import Tx
from tests.journeys.client import NOTHING, HeaderList, Reply, ok
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process
from tests.patience import PATIENCE_S

Standing = Literal["none", "closed", "stale", "fresh"]
"""A member's authenticator: none enrolled, or its step-up window closed, stale (open) or fresh."""

STANDINGS: Final[tuple[Standing, ...]] = ("none", "closed", "stale", "fresh")
BOSS: Final = "boss"
"""The uid of the account's first admin, who has a fresh window until a test changes it."""

SETTLED_S: Final = 60  # seconds since the end of a closed window, or of a stale one's fresh part


def person(uid: str) -> Person:
    """Return a person as the issuer knows them, with an address at `acme.example`."""
    return Person(uid, uid.title(), f"{re.sub('[^a-z-]', '', uid)}@acme.example")


def factor_standing(standing: Standing, uid: str, now: int) -> Factor:
    """Return a member's authenticator in that state, for the sign-in of their minted tokens."""
    if standing == "none":
        return Factor()
    age = {"closed": WINDOW_S + SETTLED_S, "stale": FRESH_S + SETTLED_S, "fresh": 0}[standing]
    return Factor(
        sealed_secret="sealed", windows=(Window(sign_in_name("sid", minted_sid(uid)), now - age),)
    )


class AdminClient(msgspec.Struct, frozen=True):
    """Calls the admin API of a service, as members of the account `acme`."""

    service: Service
    issuer: DevelopmentIssuer

    async def call(
        self,
        method: str,
        path: str,
        body: object = NOTHING,
        *,
        who: str = BOSS,
        headers: HeaderList = (),
        content: bytes | None = None,
    ) -> Reply:
        """Return the answer to a call of the admin API. `path` is relative to `/partner/admin/`."""
        token = self.issuer.mint_token(person(who))
        return await self.service.public.call(
            method, f"/partner/admin/{path}", token, body, headers=headers, content=content
        )

    async def call_ok(self, method: str, path: str, body: object = NOTHING, **how: Any) -> Any:
        """Return the body of the answer to a call, which must be a 200."""
        return ok(await self.call(method, path, body, **how))

    async def command(self, command: Any, partner_id: str = "acme") -> Any:
        """Return the account actor's reply to a command."""
        return (
            await self.service.core_of(partner_id)
            .directory.partner(partner_id)
            .account()
            .ask(command, PATIENCE_S)
        )

    async def invite(self, uid: str, role: Role) -> Invite:
        """Return a new invite. The rules of the admin API do not apply to it."""
        invite = await self.command(CreateInvite(PLATFORM, person(uid).email, role))
        assert isinstance(invite, Invite), invite
        return invite

    async def add_member(self, uid: str, role: Role, standing: Standing = "fresh") -> str:
        """Add a member with an authenticator in that state; return the uid."""
        invite = await self.invite(uid, role)
        accepted = await self.command(AcceptInvite(uid, invite.email, invite.invite_id))
        assert isinstance(accepted, Invite), accepted
        await self.set_standing(uid, standing)
        return uid

    async def set_standing(self, uid: str, standing: Standing) -> None:
        """Write the state of a member's authenticator to its row."""
        parts = self.service.core.parts
        factor = factor_standing(standing, uid, parts.clock.now())
        await parts.database.writer.submit(Tx("acme", (put_factor("acme", uid, factor),)))

    async def enrol(self, uid: str) -> str:
        """Enrol an authenticator for a member who has none; return its secret.

        Its current code can still be used: enrolling uses the previous code.
        """
        secret = (await self.call_ok("POST", "totp/enroll", who=uid))["secret"]
        now = self.service.core.parts.clock.now()
        await self.call_ok("POST", "totp/verify", {"code": code_at(secret, now - STEP_S)}, who=uid)
        return str(secret)


issuer_key = cache(new_key)
"""Returns the key of the tests' issuers. A key for each would take a twentieth of all the time."""


@asynccontextmanager
async def open_admin(where: Path | Place, **how: Any) -> AsyncIterator[AdminClient]:
    """Run a service and an issuer for a block, with the account `acme` and its first admin."""
    async with (
        development_issuer([], SystemClock(), SystemRng(), key=issuer_key()) as issuer,
        in_process(
            where, identity_issuer=issuer.issuer, identity_client_id=issuer.client_id, **how
        ) as service,
    ):
        admin = AdminClient(service, issuer)
        created = await admin.command(CreatePartner("Acme", person(BOSS).email))
        accepted = await admin.command(AcceptInvite(BOSS, person(BOSS).email, created.invite_id))
        assert isinstance(accepted, Invite), accepted
        await admin.set_standing(BOSS, "fresh")
        yield admin


@asynccontextmanager
async def open_admin_with_webhook(
    where: Path | Place, **how: Any
) -> AsyncIterator[tuple[AdminClient, Inbox]]:
    """Like `open_admin`, with an inbox that receives the account's nudges over real TLS.

    The host of the inbox's URL resolves to this machine.
    """
    clock = SystemClock()
    authority = Authority(clock.now())
    outbound, resolver = loopback_outbound(authority), LoopbackResolver(HOOKS_HOST)
    async with (
        open_inbox(authority, clock) as inbox,
        open_admin(where, outbound=outbound, resolver=resolver, **how) as admin,
    ):
        yield admin, inbox
