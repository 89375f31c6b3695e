"""The account itself: `GET account`, its domain, switching it off and on."""

import msgspec
import trio
from msgspec import UNSET, UnsetType

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import SetDomain
from pgs.actors.seating import stopping
from pgs.actors.seating.closing import switch_on
from pgs.domain.accounts import Account
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.stepup import standing
from pgs.http.admin.gate import AdminCall, account_now, build, change, factor_of
from pgs.http.api.endpoint import Answer, Endpoint


class Pins(msgspec.Struct, frozen=True):
    """The version on which each environment's calls are answered."""

    live: int
    test: int


class StepUp(msgspec.Struct, frozen=True, rename="camel"):
    """What the caller's authenticator has opened, in epoch seconds; absent where it is closed, or where there is no lock."""

    enrolled: bool
    until: int | UnsetType = UNSET
    fresh_until: int | UnsetType = UNSET
    locked_until: int | UnsetType = UNSET


class AgreedTerms(msgspec.Struct, frozen=True, rename="camel"):
    """Which rake terms are on offer, and which the account has agreed to; absent where it is none."""

    offered_version: int | UnsetType = UNSET
    agreed_version: int | UnsetType = UNSET
    agreed_at: int | UnsetType = UNSET


class AccountRecord(msgspec.Struct, frozen=True, rename="camel"):
    """The account as one of its members sees it. `revision` is what If-Match takes."""

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
    admin_domain: str | UnsetType = UNSET


class NewDomain(msgspec.Struct, frozen=True):
    """The domain in which the addresses of future members must lie."""

    domain: str


def pins(account: Account) -> Pins:
    """Return an account's pins as they are shown."""
    return Pins(account.pins["live"], account.pins["test"])


async def account_record(call: AdminCall, account: Account) -> AccountRecord:
    """Return the account as it is shown to the caller, with the caller's own step-up of this moment."""
    parts, caller = call.services.parts, call.principal
    now = standing(await factor_of(call.services, caller.known), parts.clock.now())
    catalogue = parts.catalogue.published(trio.current_time())
    offered = catalogue.offered_terms_version if catalogue else None
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
            now.enrolled, _set(now.until), _set(now.fresh_until), _set(now.locked_until)
        ),
        rake_terms=AgreedTerms(
            _set(offered), _set(account.agreed_terms_version), _set(account.agreed_terms_at)
        ),
        admin_domain=UNSET if account.admin_domain is None else account.admin_domain,
    )


def _set(value: int | None) -> int | UnsetType:
    return UNSET if value is None else value


async def shown(call: AdminCall, reply: Account | Refusal | BadRequest) -> Answer:
    """Return a changed account as it is shown, or the refusal."""
    return await account_record(call, reply) if isinstance(reply, Account) else reply


async def read_account(call: AdminCall) -> Answer:
    """Return the account."""
    return await account_record(call, account_now(call))


async def set_domain(call: AdminCall) -> Answer:
    """Set the admin domain, once and for all."""
    body: NewDomain = call.body
    return await shown(
        call, await change(call, SetDomain, call.principal.identity.email, body.domain)
    )


async def deactivate(call: AdminCall) -> Answer:
    """Switch the account off and end its open play."""
    command = build(call, SwitchAccount, False)
    reply, _ = await stopping.deactivate(
        call.services.directory.partner(call.principal.account.partner_id), command
    )
    return await shown(call, reply)


async def reactivate(call: AdminCall) -> Answer:
    """Switch the account on again."""
    command = build(call, SwitchAccount, True)
    return await shown(
        call,
        await switch_on(
            call.services.directory.partner(call.principal.account.partner_id), command
        ),
    )


_PATH = "/partner/admin/account"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_PATH,
        handler=read_account,
        response=AccountRecord,
        credential="identity",
        summary="The account and the caller",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/domain",
        handler=set_domain,
        request=NewDomain,
        response=AccountRecord,
        credential="identity",
        errors=(
            "invalid_domain",
            "domain_already_set",
            "address_outside_domain",
            "partner_changed",
        ),
        summary="Set the admin domain",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/deactivate",
        handler=deactivate,
        response=AccountRecord,
        credential="identity",
        errors=("account_inactive", "partner_changed"),
        summary="Switch the account off",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/reactivate",
        handler=reactivate,
        response=AccountRecord,
        credential="identity",
        errors=("account_active", "partner_changed"),
        summary="Switch the account on",
    ),
)
