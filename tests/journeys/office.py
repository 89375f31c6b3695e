"""A service with an account, members in any state, and an issuer that signs anybody in."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.people import AcceptInvite, CreateInvite
from pgs.clock import SystemClock, SystemRng
from pgs.demo.certificates import Authority
from pgs.demo.inbox import Inbox, open_inbox
from pgs.demo.loopback import HOOKS_HOST, LoopbackResolver, loopback_outbound
from pgs.devissuer.issuer import DevelopmentIssuer, development_issuer
from pgs.devissuer.people import Person
from pgs.domain.invites import Invite
from pgs.domain.members import PLATFORM
from pgs.domain.roles import Role
from pgs.domain.stepup import FRESH_S, WINDOW_S, Factor
from pgs.domain.totp import STEP_S, code_at
from pgs.storage.factors import put_factor
from pgs.storage.transactions import Tx
from tests.journeys.client import NOTHING, HeaderList, Reply, ok
from tests.journeys.service import Service, in_process

Standing = Literal["none", "closed", "stale", "fresh"]
"""A member's authenticator: none, or with a window that is closed, stale (open) or fresh."""

STANDINGS: Final[tuple[Standing, ...]] = ("none", "closed", "stale", "fresh")
BOSS: Final = "boss"
"""The uid of the account's first admin, who has a fresh window until a test changes it."""

SETTLED_S: Final = 60  # seconds; no step-up window of a test opens or closes within them


def person(uid: str) -> Person:
    """Return a person with an address of `acme`, as the issuer knows them."""
    return Person(uid, uid.title(), f"{re.sub('[^a-z-]', '', uid)}@acme.example")


def factor_standing(standing: Standing, now: int) -> Factor:
    """Return an authenticator in that state."""
    if standing == "none":
        return Factor()
    age = {"closed": WINDOW_S + SETTLED_S, "stale": FRESH_S + SETTLED_S, "fresh": 0}[standing]
    return Factor(sealed_secret="sealed", opened_at=now - age)


class Office(msgspec.Struct, frozen=True):
    """A service with the account `acme`."""

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
        """Return the answer to a call of the admin API. `path` follows `/partner/admin/`."""
        token = self.issuer.mint_token(person(who))
        return await self.service.public.call(
            method, f"/partner/admin/{path}", token, body, headers=headers, content=content
        )

    async def done(self, method: str, path: str, body: object = NOTHING, **how: Any) -> Any:
        """Return the record of a call that must succeed."""
        return ok(await self.call(method, path, body, **how))

    async def command(self, command: Any, partner_id: str = "acme") -> Any:
        """Return the account actor's reply to a command."""
        return await self.service.core.directory.partner(partner_id).account().ask(command)

    async def invited(self, uid: str, role: Role) -> Invite:
        """Return a new invite. It is made without the gates of the admin API."""
        invite = await self.command(CreateInvite(PLATFORM, person(uid).email, role))
        assert isinstance(invite, Invite), invite
        return invite

    async def join(self, uid: str, role: Role, standing: Standing = "fresh") -> str:
        """Make a member; return the uid."""
        invite = await self.invited(uid, role)
        accepted = await self.command(AcceptInvite(uid, invite.email, invite.invite_id))
        assert isinstance(accepted, Invite), accepted
        await self.stand(uid, standing)
        return uid

    async def stand(self, uid: str, standing: Standing) -> None:
        """Write the state of a member's authenticator to its row."""
        parts = self.service.core.parts
        factor = factor_standing(standing, parts.clock.now())
        await parts.database.writer.submit(Tx("acme", (put_factor("acme", uid, factor),)))

    async def enrol(self, uid: str) -> str:
        """Enrol an authenticator for a member who has none; return its secret.

        Its current code is not used up.
        """
        secret = (await self.done("POST", "totp/enroll", who=uid))["secret"]
        now = self.service.core.parts.clock.now()
        await self.done("POST", "totp/verify", {"code": code_at(secret, now - STEP_S)}, who=uid)
        return str(secret)


@asynccontextmanager
async def open_office(folder: Path, **how: Any) -> AsyncIterator[Office]:
    """Run a service and an issuer for a block, with the account `acme` and its first admin."""
    async with (
        development_issuer([], SystemClock(), SystemRng()) as issuer,
        in_process(
            folder, identity_issuer=issuer.issuer, identity_client_id=issuer.client_id, **how
        ) as service,
    ):
        office = Office(service, issuer)
        created = await office.command(CreatePartner("Acme", person(BOSS).email))
        accepted = await office.command(AcceptInvite(BOSS, person(BOSS).email, created.invite_id))
        assert isinstance(accepted, Invite), accepted
        await office.stand(BOSS, "fresh")
        yield office


@asynccontextmanager
async def hooked_office(folder: Path, **how: Any) -> AsyncIterator[tuple[Office, Inbox]]:
    """Run the same with an endpoint for the account's nudges, over real TLS.

    The host of its URL resolves to this machine.
    """
    clock = SystemClock()
    authority = Authority(clock.now())
    outbound, resolver = loopback_outbound(authority), LoopbackResolver(HOOKS_HOST)
    async with (
        open_inbox(authority, clock) as inbox,
        open_office(folder, outbound=outbound, resolver=resolver, **how) as office,
    ):
        yield office, inbox
