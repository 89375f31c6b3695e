"""The account actor: whatever a partner manages, one command at a time, each with its event in the same transaction."""

from collections.abc import Iterable

import msgspec
import trio

from pgs.actors.account.decisions import AccountDecision, Context, Unlogged, Write
from pgs.actors.account.factors import verify_totp
from pgs.actors.account.rules import RULES
from pgs.actors.account.standing import create
from pgs.actors.kernel.mail import Command, Crashed, Envelope
from pgs.actors.messages.account import (
    AccountChangedInRows,
    AccountCommand,
    CreatePartner,
    RevokeInvite,
    StopFinished,
    VerifyTotp,
)
from pgs.actors.messages.courier import (
    EndpointChanged,
)
from pgs.actors.partners import PartnerActors
from pgs.domain import ids
from pgs.domain.accounts import Account
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.names import is_partner_id
from pgs.domain.roles import admit
from pgs.domain.stepup import count_attempt
from pgs.storage import accounts as rows
from pgs.storage.events import Event, insert_event
from pgs.storage.factors import find_factor, put_factor
from pgs.storage.stops import delete_stop
from pgs.storage.transactions import Outcome, Stmt, Tx

NO_SUCH_PARTNER = "no such partner"


class AccountActor:
    """One partner's account. Its rows are the truth; the registry shows what it last committed."""

    def __init__(self, partner: PartnerActors) -> None:
        self._partner = partner
        self._partner_id = partner.partner_id
        self._parts = partner.parts
        self._account: Account | None = None

    async def load(self) -> None:
        """Read the account from rows."""
        self._account = rows.read_account(self._parts.database.reader, self._partner_id)

    async def receive(
        self, message: Command[object] | AccountChangedInRows, envelope: Envelope
    ) -> object:
        """Decide, commit, publish; a conflict with rows written past this actor is decided anew, once."""
        if isinstance(message, AccountChangedInRows):
            await self.load()
            self._wake_held_calls()
            self._tell_couriers(ENVIRONMENTS)
            return None
        if isinstance(message, VerifyTotp):
            return await self._verify_totp(message)
        if isinstance(message, StopFinished):
            await self._write_rows(
                delete_stop(self._partner_id, message.environment, message.generation)
            )
            return None
        by = getattr(message, "by", PLATFORM)
        answer, decision = await self._carry_out(self._decide(message), by)
        if answer is None:  # written past this actor
            decision = self._decide(message)
            if isinstance(message, RevokeInvite) and decision == refuse("already_accepted"):
                return refuse("partner_changed")  # it could be revoked when the caller saw it
            answer, decision = await self._carry_out(decision, by)
        if answer is None:
            raise Crashed("the account's rows keep changing")
        return answer

    async def _carry_out(
        self, decision: AccountDecision, by: str
    ) -> tuple[object, AccountDecision]:
        """Commit a decision; give its answer, or None after a conflict, with the account as it is in rows now."""
        if isinstance(decision, Unlogged):
            await self._write_rows(decision.stmt)
            return decision.answer, decision
        if not isinstance(decision, Write):
            return decision, decision
        committed = await self._commit(decision, by)
        if committed is None:
            await self.load()
            return None, decision
        return decision.answer(committed), decision

    def _context(self) -> Context:
        return Context(
            now=self._parts.clock.now(),
            random=self._parts.rng.bytes,
            catalogue=lambda: self._parts.catalogue.published(trio.current_time()),
            ring=self._parts.ring,
            reader=self._parts.database.reader,
            versions=self._parts.versions,
        )

    def _decide(self, message: Command[object]) -> AccountDecision:
        context = self._context()
        if isinstance(message, CreatePartner):
            if self._account is not None:
                return BadRequest(f"partner {self._partner_id} exists already")
            if not is_partner_id(self._partner_id):
                return BadRequest(
                    "a partner id is 3 to 32 of a-z 0-9 -, starts with a letter, and is neither test nor live"
                )
            return create(self._partner_id, message, context)
        if self._account is None:
            return BadRequest(NO_SUCH_PARTNER)
        refusal = self._gate(self._account, message, context.now)
        return refusal or RULES[type(message)](self._account, message, context)

    def _gate(self, account: Account, message: Command[object], now: int) -> Refusal | None:
        """Give why a command may not be carried out, as the account and its sender's membership stand in this very step."""
        if not isinstance(message, AccountCommand):
            return None
        if message.rule is not None:
            uid = getattr(message, "by", PLATFORM)
            member = account.members.get(uid)
            role = None if member is None else member.role
            refusal = admit(
                message.rule,
                role,
                lambda: find_factor(self._parts.database.reader, self._partner_id, uid),
                now,
            )
            if refusal is not None:
                return refusal
        return (
            refuse("partner_changed")
            if message.if_revision not in (None, account.revision)
            else None
        )

    async def _verify_totp(self, command: VerifyTotp) -> object:
        """Count the attempt, commit that, and only then look at the code: what ends in between has made no guess free."""
        account, context, uid = self._account, self._context(), command.by
        if account is None:
            return BadRequest(NO_SUCH_PARTNER)
        if uid not in account.members:
            return refuse("not_a_partner_admin")
        refusal = self._gate(account, command, context.now)
        if refusal is not None:
            return refusal
        factor = find_factor(context.reader, self._partner_id, uid)
        counted = count_attempt(factor, context.now)
        if isinstance(counted, Refusal):
            return counted
        await self._write_rows(put_factor(self._partner_id, uid, counted))
        after, verdict = verify_totp(account, uid, command.code, factor, context)
        if not isinstance(verdict, Write):
            if after != counted:
                await self._write_rows(put_factor(self._partner_id, uid, after))
            return verdict
        for _ in range(2):
            committed = await self._commit(verdict, uid)
            if committed is not None:
                return verdict.answer(committed)
            await self.load()
            if self._account is None or uid not in self._account.members:
                return refuse("not_a_partner_admin")
            verdict = msgspec.structs.replace(verdict, account=self._account)
        raise Crashed("the account's rows keep changing")

    async def _write_rows(self, stmt: Stmt) -> None:
        """Commit what changes nothing of the account that anybody has read."""
        if (
            await self._parts.database.writer.submit(Tx(self._partner_id, (stmt,)))
            is Outcome.CONFLICT
        ):
            raise Crashed(f"{stmt.name} found other rows")

    async def _commit(self, write: Write, by: str) -> Account | None:
        was = self._account
        after = msgspec.structs.replace(
            write.account,
            revision=write.account.revision + write.revises,
            event_seq=write.account.event_seq + 1,
        )
        own = rows.insert_partner(after) if was is None else rows.update_partner(was, after)
        event = Event(
            seq=after.event_seq,
            event_id=self._parts.new_id(ids.EVENT),
            at=self._parts.clock.now(),
            actor=by,
            action=write.action,
            detail=msgspec.json.encode(write.detail).decode(),
        )
        tx = Tx(self._partner_id, (own, *write.stmts, insert_event(self._partner_id, event)))
        if await self._parts.database.writer.submit(tx) is Outcome.CONFLICT:
            return None
        self._account = after
        self._parts.registry.publish(after)
        if write.revises:
            self._wake_held_calls()
        self._tell_couriers(write.endpoints)
        return after

    def _tell_couriers(self, environments: Iterable[Environment]) -> None:
        for environment in environments:
            self._partner.courier(environment).tell(EndpointChanged())

    def _wake_held_calls(self) -> None:
        for environment in ENVIRONMENTS:  # they look again whether they may still be answered
            self._parts.bells.ring(self._partner_id, environment)
