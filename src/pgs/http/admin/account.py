"""The account itself: reading it, setting its domain, switching it off and on."""

import msgspec
import trio
from msgspec import UNSET, UnsetType

from pgs.actors.kernel.written import already_written
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import SetDomain
from pgs.actors.seating import switching_off
from pgs.actors.seating.switching_off import switch_on
from pgs.domain.accounts import Account
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.factors import factor_state
from pgs.http.admin.authorization import AdminCall, account_now, build, change, factor_of
from pgs.http.admin.endpoints import admin_read, admin_write
from pgs.http.api.endpoint import Answer
from pgs.http.api.responses import or_unset
from pgs.storage.accounts import count_open_play


class Pins(msgspec.Struct, frozen=True):
    """The API version to which each environment is pinned."""

    live: int
    test: int


class StepUp(msgspec.Struct, frozen=True, rename="camel"):
    """The caller's step-up windows, and the lock of the caller's authenticator.

    A right code opens two windows for the caller's sign-in, in which the caller may make calls that
    need step-up. `until` is the time at which the longer window closes. `fresh_until` is the time
    at which the shorter one closes; calls that create a credential or switch the account on need
    this one. Both are in epoch seconds. Each time is absent while its window is closed.
    `locked_until` is the end of the lock, absent if there is no lock or only a reset ends it.
    `needs_reset`: no code is checked until another admin or the operator resets the authenticator.
    `tries_left`: after a wrong code, how many more wrong codes in a row set a lock; absent
    otherwise.
    """

    enrolled: bool
    until: int | UnsetType = UNSET
    fresh_until: int | UnsetType = UNSET
    locked_until: int | UnsetType = UNSET
    needs_reset: bool | UnsetType = UNSET
    tries_left: int | UnsetType = UNSET


class AgreedTerms(msgspec.Struct, frozen=True, rename="camel"):
    """The version of the rake terms on offer, and the version that the account has agreed to.

    Each is absent if there is none. `agreed_at` in epoch seconds.
    """

    offered_version: int | UnsetType = UNSET
    agreed_version: int | UnsetType = UNSET
    agreed_at: int | UnsetType = UNSET


class OpenPlay(msgspec.Struct, frozen=True, rename="camel"):
    """The waiting seats and running matches that a deactivation or an emergency stop would end."""

    waiting_seats: int
    running_matches: int


class OpenByEnvironment(msgspec.Struct, frozen=True):
    """How many seats wait and how many matches run in each environment."""

    live: OpenPlay
    test: OpenPlay


class AccountRecord(msgspec.Struct, frozen=True, rename="camel"):
    """The account as one of its members sees it. `revision` is the value for If-Match."""

    partner_id: str
    name: str
    active: bool
    role: str
    uid: str
    email: str
    revision: int
    pins: Pins
    step_up: StepUp
    rake_terms: AgreedTerms
    open: OpenByEnvironment
    admin_domain: str | UnsetType = UNSET


class NewDomain(msgspec.Struct, frozen=True):
    """The domain that the e-mail addresses of future members must have."""

    domain: str


def pins(account: Account) -> Pins:
    """Return the versions to which an account's environments are pinned."""
    return Pins(account.pins["live"], account.pins["test"])


async def account_record(call: AdminCall, account: Account) -> AccountRecord:
    """Return the account's record for the caller, with the state of the caller's step-up."""
    parts, caller = call.services.parts, call.principal
    factor = await factor_of(call.services, caller.known)
    step_up = factor_state(factor, caller.identity.sign_in, parts.clock.real())
    catalogue = parts.catalogue.published(trio.current_time())
    offered = catalogue.offered_terms_version if catalogue else None
    open_play = await count_open_play(parts.database.reader, account.partner_id)
    return AccountRecord(
        partner_id=account.partner_id,
        name=account.name,
        active=account.active,
        role=caller.role,
        uid=caller.uid,
        email=caller.identity.email,
        revision=account.revision,
        pins=pins(account),
        step_up=StepUp(
            enrolled=step_up.enrolled,
            until=or_unset(step_up.until),
            fresh_until=or_unset(step_up.fresh_until),
            locked_until=or_unset(step_up.locked_until),
            needs_reset=step_up.needs_reset or UNSET,
            tries_left=or_unset(step_up.tries_left),
        ),
        rake_terms=AgreedTerms(
            or_unset(offered),
            or_unset(account.agreed_terms_version),
            or_unset(account.agreed_terms_at),
        ),
        open=OpenByEnvironment(OpenPlay(*open_play["live"]), OpenPlay(*open_play["test"])),
        admin_domain=or_unset(account.admin_domain),
    )


async def shown(call: AdminCall, reply: Account | Refusal | BadRequest) -> Answer:
    """Return a changed account's record, or the refusal."""
    if not isinstance(reply, Account):
        return reply
    with already_written():
        return await account_record(call, reply)


async def read_account(call: AdminCall) -> Answer:
    return await account_record(call, account_now(call))


async def set_domain(call: AdminCall) -> Answer:
    """Set the admin domain. Afterwards only an operator can change it."""
    body: NewDomain = call.body
    return await shown(
        call, await change(call, SetDomain, call.principal.identity.email, body.domain)
    )


async def deactivate(call: AdminCall) -> Answer:
    """Switch the account off and end its open play."""
    command = build(call, SwitchAccount, False)
    off = await switching_off.deactivate(
        call.services.directory.partner(call.principal.account.partner_id), command
    )
    return await shown(call, off.reply)


async def reactivate(call: AdminCall) -> Answer:
    """Switch the account on again."""
    command = build(call, SwitchAccount, True)
    return await shown(
        call,
        await switch_on(
            call.services.directory.partner(call.principal.account.partner_id), command
        ),
    )


ENDPOINTS = (
    admin_read("account", read_account, AccountRecord, "The account and the caller"),
    admin_write(
        "POST",
        "account/domain",
        set_domain,
        AccountRecord,
        "Set the admin domain",
        request=NewDomain,
        errors=("invalid_domain", "domain_already_set", "address_outside_domain"),
    ),
    admin_write(
        "POST",
        "account/deactivate",
        deactivate,
        AccountRecord,
        "Switch the account off",
        errors=("account_inactive",),
    ),
    admin_write(
        "POST",
        "account/reactivate",
        reactivate,
        AccountRecord,
        "Switch the account on",
        errors=("account_active",),
    ),
)
