"""The account actor: it changes one partner's account, one command at a time.

The change and its event are committed in one transaction; then the account is published.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec
import trio
from msgspec.structs import replace

from pgs.actors.account import lifecycle
from pgs.actors.account.decisions import AccountDecision, Context, Unlogged, Write
from pgs.actors.account.factors import check_code
from pgs.actors.account.rules import RULES
from pgs.actors.kernel.dispatch import DispatchingActor, Handler, Stale
from pgs.actors.kernel.mail import Crashed, Envelope, Message
from pgs.actors.kernel.written import already_written
from pgs.actors.messages.account.command import AccountChangedInRows, AccountCommand
from pgs.actors.messages.account.factors import VerifyTotp
from pgs.actors.messages.account.lifecycle import CreatePartner, StopFinished
from pgs.actors.messages.account.members import RevokeInvite
from pgs.actors.messages.courier import EndpointChanged
from pgs.actors.partners import PartnerActors
from pgs.domain import ids
from pgs.domain.accounts import Account
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.factors import Factor, count_attempt
from pgs.domain.members import PLATFORM
from pgs.domain.roles import admit, needs_factor
from pgs.storage import accounts as rows
from pgs.storage.emergency_stops import delete_stop
from pgs.storage.events import Event, insert_event
from pgs.storage.factors import find_factor, put_factor
from pgs.storage.invites import find_invite
from pgs.storage.transactions import Outcome, Stmt, Tx

NO_SUCH_PARTNER = "no such partner"


class AccountActor(DispatchingActor):
    """One partner's account. Each change of it is published to the registry after its commit."""

    def __init__(self, partner: PartnerActors) -> None:
        self._partner = partner
        self._partner_id = partner.partner_id
        self._parts = partner.parts
        self._account: Account | None = None

    async def load(self) -> None:
        """Read the account from rows."""
        self._account = await rows.read_account(self._parts.database.reader, self._partner_id)

    async def _create(self, command: CreatePartner, envelope: Envelope) -> object:
        if self._account is not None:
            return BadRequest(f"partner {self._partner_id} exists already")
        decision = lifecycle.create(self._partner_id, command, self._context())
        return await self._carry_out(decision, PLATFORM)

    async def _apply_rule(self, command: AccountCommand[object], envelope: Envelope) -> object:
        """Check the caller, apply the command's rule, and carry out its decision."""
        if self._account is None:
            return BadRequest(NO_SUCH_PARTNER)
        by, context = _caller_of(command), self._context()
        refusal = await self._check_caller(self._account, command, context.real)
        if refusal is not None:
            return refusal
        rule = RULES[type(command)]
        if rule.read is None:
            return await self._carry_out(rule.decide(self._account, command, context), by)
        reader = self._parts.database.reader
        found = await rule.read(reader, self._account, command, context.now)
        return await self._carry_out(rule.decide(self._account, command, context, found), by)

    async def _revoke_invite(self, command: RevokeInvite, envelope: Envelope) -> object:
        """Revoke an invite. If it is accepted at the same time, the reply is `partner_changed`.

        `already_accepted` would be wrong: when the command came, nobody had accepted the invite.
        """
        try:
            return await self._apply_rule(command, envelope)
        except Stale:
            reader = self._parts.database.reader
            invite = await find_invite(reader, self._partner_id, command.invite_id)
            if invite is None or invite.accepted_by is None:
                raise
        await self.load()
        return refuse("partner_changed")

    async def _verify_totp(self, command: VerifyTotp, envelope: Envelope) -> object:
        """Commit the attempt as a wrong one, then check the code.

        So every guess is counted, even if the check is interrupted.
        """
        account, context, uid = self._account, self._context(), command.by
        if account is None:
            return BadRequest(NO_SUCH_PARTNER)
        if uid not in account.members:
            return refuse("not_a_partner_admin")
        refusal = await self._check_caller(account, command, context.real)
        if refusal is not None:
            return refusal
        factor = await self._read_factor(uid)
        counted = count_attempt(factor, context.real)
        if isinstance(counted, Refusal):
            return counted
        await self._write_row(put_factor(self._partner_id, uid, counted))
        with already_written():
            checked = check_code(account, command, factor, context)
            if isinstance(checked.verdict, Write):
                return await self._commit_verdict(checked.verdict, uid)
            if checked.factor != counted:
                await self._write_row(put_factor(self._partner_id, uid, checked.factor))
            return checked.verdict

    async def _commit_verdict(self, verdict: Write, uid: str) -> object:
        """Commit the result of a code. After a conflict, reload the account and try once more.

        Handling the whole command again would count the attempt twice.
        """
        try:
            return await self._commit(verdict, uid)
        except Stale:
            await self.load()
        if self._account is None or uid not in self._account.members:
            return refuse("not_a_partner_admin")
        try:
            return await self._commit(replace(verdict, account=self._account), uid)
        except Stale as error:
            raise Crashed("the rows changed again during the second try") from error

    async def _finish_stop(self, command: StopFinished, envelope: Envelope) -> None:
        stmt = delete_stop(self._partner_id, command.environment, command.generation)
        await self._write_row(stmt)

    async def _reload(self, message: AccountChangedInRows, envelope: Envelope) -> None:
        await self.load()
        self._wake_held_calls()
        self._tell_couriers(ENVIRONMENTS)

    def _context(self) -> Context:
        parts = self._parts
        return Context(
            now=parts.clock.now(),
            real=parts.clock.real(),
            random=parts.rng.bytes,
            catalogue=lambda: parts.catalogue.published(trio.current_time()),
            ring=parts.ring,
            versions=parts.versions,
        )

    async def _check_caller(
        self, account: Account, command: AccountCommand[object], now: int
    ) -> Refusal | None:
        """Return why the caller may not give this command now, or None.

        The reason is the caller's membership, role or step-up, or that the command was made for
        another revision of the account (`if_revision`).
        """
        if command.rule is not None:
            uid = _caller_of(command)
            member = account.members.get(uid)
            role = None if member is None else member.role
            asked = needs_factor(command.rule, role)
            factor = await self._read_factor(uid) if asked else Factor()
            refusal = admit(command.rule, role, factor, command.sign_in, now)
            if refusal is not None:
                return refusal
        if command.if_revision not in (None, account.revision):
            return refuse("partner_changed")
        return None

    async def _read_factor(self, uid: str) -> Factor:
        return await find_factor(self._parts.database.reader, self._partner_id, uid)

    async def _carry_out(self, decision: AccountDecision, by: str) -> object:
        """Commit what a rule decided, and return the reply. Raises `Stale`."""
        if isinstance(decision, Write):
            return await self._commit(decision, by)
        if isinstance(decision, Unlogged):
            await self._write_row(decision.stmt)
            return decision.reply
        return decision

    async def _commit(self, write: Write, by: str) -> object:
        """Commit the account, its rows and its event, publish it, and return the reply.

        Raises `Stale`.
        """
        was = self._account
        after = replace(
            write.account,
            revision=write.account.revision + write.revises,
            event_seq=write.account.event_seq + 1,
        )
        own = rows.insert_partner(after) if was is None else rows.update_partner(was, after)
        event = insert_event(self._partner_id, self._event(after.event_seq, by, write))
        tx = Tx(self._partner_id, (own, *write.stmts, event))
        with self._parts.registry.committing(after):
            outcome = await self._parts.database.writer.submit(tx)
        if outcome is Outcome.CONFLICT:
            raise Stale
        self._account = after
        self._parts.registry.publish(after)
        if write.revises:
            self._wake_held_calls()
        self._tell_couriers(write.endpoints)
        return write.reply(after)

    def _event(self, seq: int, by: str, write: Write) -> Event:
        return Event(
            seq=seq,
            event_id=self._parts.new_id(ids.EVENT),
            at=self._parts.clock.now(),
            actor=by,
            action=write.action,
            detail=msgspec.json.encode(write.detail).decode(),
        )

    async def _write_row(self, stmt: Stmt) -> None:
        """Commit one row, without an event and without a new revision of the account."""
        tx = Tx(self._partner_id, (stmt,))
        if await self._parts.database.writer.submit(tx) is Outcome.CONFLICT:
            raise Crashed(f"{stmt.name} found rows that had changed")

    def _tell_couriers(self, environments: Iterable[Environment]) -> None:
        for environment in environments:
            self._partner.courier(environment).tell(EndpointChanged())

    def _wake_held_calls(self) -> None:
        """Let held calls check again whether they may still be answered."""
        for environment in ENVIRONMENTS:
            self._parts.bells.ring(self._partner_id, environment)

    HANDLERS: ClassVar[Mapping[type[Message], Handler]] = {
        **dict.fromkeys(RULES, _apply_rule),
        CreatePartner: _create,
        RevokeInvite: _revoke_invite,
        VerifyTotp: _verify_totp,
        StopFinished: _finish_stop,
        AccountChangedInRows: _reload,
    }


def _caller_of(command: AccountCommand[object]) -> str:
    """Return the uid of the member who acts, or `platform`."""
    by: str = command.by  # type: ignore[attr-defined]  # each command has it
    return by
