"""The account actor: whatever a partner manages, one command at a time, each with its event in the same transaction."""

from collections.abc import Iterable
from functools import partial

import msgspec
import trio

from pgs.actors import account_rules as rules
from pgs.actors import messages as m
from pgs.actors.house import House
from pgs.actors.kernel import Command, Crashed, Envelope
from pgs.domain import ids
from pgs.domain.accounts import Account
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import BadRequest
from pgs.domain.names import is_partner_id
from pgs.domain.versions import VERSIONS
from pgs.storage import accounts as rows
from pgs.storage.database import Outcome, Tx
from pgs.storage.webhooks import find_endpoint, find_webhook

NO_SUCH_PARTNER = "no such partner"


class AccountActor:
    """One partner's account. Its rows are the truth; the registry shows what it last committed."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._partner_id = house.partner_id
        self._parts = house.parts
        self._account: Account | None = None

    async def load(self) -> None:
        """Read the account from rows."""
        self._account = rows.read_account(self._parts.database.reader, self._partner_id)

    async def receive(self, message: Command[object] | m.AccountChangedInRows, envelope: Envelope) -> object:
        """Decide, commit, publish; a conflict with rows written past this actor is decided anew, once."""
        if isinstance(message, m.AccountChangedInRows):
            await self.load()
            self._wake_held_calls()
            self._tell_couriers(ENVIRONMENTS)
            return None
        for _ in range(2):
            decision = self._decide(message)
            if not isinstance(decision, rules.Write):
                return decision
            committed = await self._commit(decision, getattr(message, "by", m.PLATFORM))
            if committed is not None:
                return decision.answer(committed)
            await self.load()
        raise Crashed("the account's rows keep changing")

    def _decide(self, message: Command[object]) -> rules.Decision:
        context = rules.Context(
            now=self._parts.clock.now(),
            random=self._parts.rng.bytes,
            book=lambda: self._parts.catalogue.book(trio.current_time()),
            seal=rules.seal_with(self._parts.ring),
            find_webhook=partial(find_webhook, self._parts.database.reader, self._partner_id),
            find_endpoint=partial(find_endpoint, self._parts.database.reader, self._partner_id),
        )
        if isinstance(message, m.CreatePartner):
            if self._account is not None:
                return BadRequest(f"partner {self._partner_id} exists already")
            if not is_partner_id(self._partner_id):
                return BadRequest("a partner id is 3 to 32 of a-z 0-9 -, starts with a letter, and is neither test nor live")
            return rules.create(self._partner_id, message, context, VERSIONS.current)
        if self._account is None:
            return BadRequest(NO_SUCH_PARTNER)
        return rules.RULES[type(message)](self._account, message, context)

    async def _commit(self, write: rules.Write, by: str) -> Account | None:
        was = self._account
        after = msgspec.structs.replace(write.account, revision=write.account.revision + 1, event_seq=write.account.event_seq + 1)
        own = rows.insert_partner(after) if was is None else rows.update_partner(was, after)
        event = rows.insert_event(
            self._partner_id,
            after.event_seq,
            self._parts.new_id(ids.EVENT),
            self._parts.clock.now(),
            by,
            write.action,
            msgspec.json.encode(write.detail).decode(),
        )
        if await self._parts.database.writer.submit(Tx(self._partner_id, (own, *write.stmts, event))) is Outcome.CONFLICT:
            return None
        self._account = after
        self._parts.registry.publish(after)
        self._wake_held_calls()
        self._tell_couriers(write.endpoints)
        return after

    def _tell_couriers(self, environments: Iterable[Environment]) -> None:
        for environment in environments:
            self._house.courier(environment).tell(m.EndpointChanged())

    def _wake_held_calls(self) -> None:
        for environment in ENVIRONMENTS:  # they look again whether they may still be answered
            self._parts.bells.ring(self._partner_id, environment)
