"""`partner.…`: the accounts of partners."""

from typing import Annotated

from msgspec import Meta

from pgs.actors.core import Core
from pgs.actors.messages.account import lifecycle
from pgs.actors.messages.account.factors import ResetFactor
from pgs.actors.messages.account.members import CreateInvite
from pgs.actors.messages.account.settings import CorrectAccount, SetRate
from pgs.actors.seating.switching_off import switch_off, switch_on
from pgs.domain.accounts import Account
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.invites import Invite
from pgs.domain.members import PLATFORM, UID_MAX, Member
from pgs.domain.roles import Role
from pgs.domain.token_buckets import BUCKET_MAX
from pgs.operator.accounts import ask_account, change_account, find_account, record_of
from pgs.operator.command import Args, Id, OperatorCommand, Text
from pgs.operator.forwarding import of_partner
from pgs.operator.records import (
    AuthenticatorReset,
    InviteMade,
    PartnerCreated,
    PartnerPage,
    PartnerRecord,
    PartnerSummary,
    PartnerSwitchedOff,
)

PAGE = 10_000
"""Partners in one answer: such an answer has a few MB and takes less than a second."""

Rate = Annotated[int, Meta(ge=-BUCKET_MAX, le=BUCKET_MAX)]


class NewPartner(Args, frozen=True):
    """A new account, and the e-mail address of its first admin."""

    partner_id: Id
    name: Text
    admin_email: Text


class PartnersAfter(Args, frozen=True):
    """A page of the list of partners: those whose id is greater than `after`."""

    after: Id = ""
    limit: Annotated[int, Meta(ge=1, le=PAGE)] = PAGE


class PartnerId(Args, frozen=True):
    """The partner that a command is about."""

    partner_id: Id


class PartnerSettings(Args, frozen=True):
    """A partner's rate bucket, name and admin domain.

    `burst`: requests that the full bucket allows; `rate`: requests a second after that. What is
    None stays as it is. An empty `admin_domain` removes the domain.
    """

    partner_id: Id
    burst: Rate | None = None
    rate: Rate | None = None
    name: Text | None = None
    admin_domain: Text | None = None


class NewInvite(Args, frozen=True):
    """An invite of a further member, by default as an admin."""

    partner_id: Id
    email: Text
    role: Role = "admin"


class MemberOf(Args, frozen=True):
    """A member of a partner, by the user id in their identity tokens."""

    partner_id: Id
    uid: Annotated[str, Meta(max_length=UID_MAX)]


async def create_partner(core: Core, args: NewPartner) -> PartnerCreated | Refusal | BadRequest:
    """Open an account, and invite its first admin."""
    reply = (
        await core.directory.partner(args.partner_id)
        .account()
        .ask(lifecycle.CreatePartner(args.name, args.admin_email))
    )
    if not isinstance(reply, lifecycle.PartnerCreated):
        return reply
    return PartnerCreated.of(
        await record_of(core, reply.account),
        invite_id=reply.invite_id,
        invite_url=core.link_of_invite(reply.invite_id),
    )


async def list_partners(core: Core, args: PartnersAfter) -> PartnerPage:
    """Return a page of partners, in the order of their ids."""
    limit = min(args.limit, PAGE)
    accounts = [
        account for account in core.parts.registry.accounts() if account.partner_id > args.after
    ]
    page = [PartnerSummary.of(account) for account in accounts[:limit]]
    return PartnerPage(page, page[-1].partner_id if len(accounts) > limit else None)


async def show_partner(core: Core, args: PartnerId) -> PartnerRecord | BadRequest:
    """Return a partner's account with everything that its calls depend on."""
    account = await find_account(core, args.partner_id)
    return account if isinstance(account, BadRequest) else await record_of(core, account)


async def deactivate_partner(
    core: Core, args: PartnerId
) -> PartnerSwitchedOff | Refusal | BadRequest:
    """Switch an account off, then end its seats and matches.

    The account's row is written first, so that no new seats are taken even if this process ends.
    """
    known = await find_account(core, args.partner_id)
    if isinstance(known, BadRequest):
        return known
    off = await switch_off(
        core.directory.partner(args.partner_id), lifecycle.SwitchAccount(by=PLATFORM, active=False)
    )
    return (
        PartnerSwitchedOff.of(await record_of(core, off.reply), ended=off.ended)
        if isinstance(off.reply, Account)
        else off.reply
    )


async def reactivate_partner(core: Core, args: PartnerId) -> PartnerRecord | Refusal | BadRequest:
    """Switch an account on, after all of its old seats and matches have ended."""
    known = await find_account(core, args.partner_id)
    if isinstance(known, BadRequest):
        return known
    reply = await switch_on(
        core.directory.partner(args.partner_id), lifecycle.SwitchAccount(by=PLATFORM, active=True)
    )
    return await record_of(core, reply) if isinstance(reply, Account) else reply


async def set_partner(core: Core, args: PartnerSettings) -> PartnerRecord | Refusal | BadRequest:
    """Set what is given of a partner's rate bucket, name and admin domain, in one change."""
    given = (args.name, args.admin_domain, args.burst, args.rate)
    if given == (None, None, None, None):
        return BadRequest("Nothing to set: name a burst, a rate, a name or an admin domain.")
    if args.name is None and args.admin_domain is None:
        return await change_account(core, args.partner_id, SetRate(PLATFORM, args.burst, args.rate))
    return await change_account(core, args.partner_id, CorrectAccount(PLATFORM, *given))


async def invite_member(core: Core, args: NewInvite) -> InviteMade | Refusal | BadRequest:
    """Invite a further member in the platform's name, for example if all admins have left."""
    reply = await ask_account(core, args.partner_id, CreateInvite(PLATFORM, args.email, args.role))
    if not isinstance(reply, Invite):
        return reply
    link = core.link_of_invite(reply.invite_id)
    return InviteMade.of(reply, partner_id=args.partner_id, invite_url=link)


async def reset_authenticator(
    core: Core, args: MemberOf
) -> AuthenticatorReset | Refusal | BadRequest:
    """Remove a member's lost authenticator, so that the member can enrol a new one."""
    reply = await ask_account(core, args.partner_id, ResetFactor(PLATFORM, args.uid))
    return (
        AuthenticatorReset.of(reply, partner_id=args.partner_id)
        if isinstance(reply, Member)
        else reply
    )


PARTNER_CREATE = OperatorCommand(
    "partner.create",
    NewPartner,
    PartnerCreated,
    create_partner,
    starts_a_folder=True,
    about=of_partner,
)
PARTNER_LIST = OperatorCommand("partner.list", PartnersAfter, PartnerPage, list_partners)
PARTNER_SHOW = OperatorCommand("partner.show", PartnerId, PartnerRecord, show_partner)
PARTNER_DEACTIVATE = OperatorCommand(
    "partner.deactivate",
    PartnerId,
    PartnerSwitchedOff,
    deactivate_partner,
    moves_money=True,
    about=of_partner,
)
PARTNER_REACTIVATE = OperatorCommand(
    "partner.reactivate", PartnerId, PartnerRecord, reactivate_partner, about=of_partner
)
PARTNER_SET = OperatorCommand(
    "partner.set", PartnerSettings, PartnerRecord, set_partner, about=of_partner
)
PARTNER_INVITE = OperatorCommand(
    "partner.invite", NewInvite, InviteMade, invite_member, about=of_partner
)
PARTNER_RESET_AUTHENTICATOR = OperatorCommand(
    "partner.reset-authenticator",
    MemberOf,
    AuthenticatorReset,
    reset_authenticator,
    about=of_partner,
)

COMMANDS = (
    PARTNER_CREATE,
    PARTNER_LIST,
    PARTNER_SHOW,
    PARTNER_DEACTIVATE,
    PARTNER_REACTIVATE,
    PARTNER_SET,
    PARTNER_INVITE,
    PARTNER_RESET_AUTHENTICATOR,
)
