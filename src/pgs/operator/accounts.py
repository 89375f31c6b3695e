"""A partner's account for operator commands: find it, send it a command, show it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from pgs.actors.core import Core
from pgs.actors.kernel.mail import Command
from pgs.actors.messages.account.command import AccountReply
from pgs.domain.accounts import Account
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.errors import BadRequest, Refusal
from pgs.operator.records import PartnerRecord, partner_record
from pgs.storage.accounts import read_account
from pgs.storage.bulk import read_in_bulk
from pgs.storage.reader import Reader
from pgs.storage.webhooks import find_webhook

T = TypeVar("T")


async def find_account(core: Core, partner_id: str) -> Account | BadRequest:
    """Return a partner's account as stored, or a `BadRequest` when there is no such partner."""
    account = await read_account(core.parts.database.reader, partner_id)
    return account or BadRequest(
        f"There is no partner {partner_id}; `pgs partner list` shows all partners."
    )


async def find_anywhere(
    core: Core, find: Callable[[Reader, str, str], Awaitable[T | None]], row_id: str
) -> T | None:
    """Return what `find` finds for `row_id` at any partner, or None.

    Ids are unique only within a partner, so this asks `find` about each partner. A look-up takes
    some microseconds.
    """
    partner_ids = [account.partner_id for account in core.parts.registry.accounts()]

    async def look(reader: Reader) -> T | None:
        for partner_id in partner_ids:
            found = await find(reader, partner_id, row_id)
            if found is not None:
                return found
        return None

    return await read_in_bulk(core.parts.database, look)


def nowhere(noun: str, row_id: str) -> str:
    """Return the sentence for an id that `find_anywhere` has not found."""
    return f"No partner has the {noun} {row_id}, in test or in live."


async def record_of(core: Core, account: Account) -> PartnerRecord:
    """Return an account as operators see it, with its webhooks and current prices."""
    parts = core.parts
    found = {
        environment: await find_webhook(parts.database.reader, account.partner_id, environment)
        for environment in ENVIRONMENTS
    }
    webhooks = {
        environment: webhook for environment, webhook in found.items() if webhook is not None
    }
    catalogue = parts.catalogue.published(trio.current_time())
    return partner_record(account, webhooks, catalogue, parts.games, parts.clock.now())


async def ask_account(core: Core, partner_id: str, command: Command[T]) -> T | BadRequest:
    """Return the account actor's reply; a `BadRequest` when there is no such partner."""
    known = await find_account(core, partner_id)
    if isinstance(known, BadRequest):
        return known
    return await core.directory.partner(partner_id).account().ask(command)


async def change_account(
    core: Core, partner_id: str, command: Command[AccountReply]
) -> PartnerRecord | Refusal | BadRequest:
    """Send a command that changes an account; return the changed account as operators see it."""
    reply = await ask_account(core, partner_id, command)
    return await record_of(core, reply) if isinstance(reply, Account) else reply
