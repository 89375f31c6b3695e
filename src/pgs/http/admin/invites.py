"""Invites, with which people become members."""

import hashlib

import msgspec

from pgs.actors.maintenance.registers import follow_others
from pgs.actors.messages.account.members import AcceptInvite, CreateInvite, RevokeInvite
from pgs.domain.emails import normalise_email, same_address
from pgs.domain.errors import refuse
from pgs.domain.invites import Invite
from pgs.domain.roles import Role
from pgs.http.admin.authorization import AdminCall, change
from pgs.http.admin.endpoints import admin_list, admin_write
from pgs.http.api.endpoint import Answer
from pgs.http.api.lists import Wanted, cut, wanted_page
from pgs.storage.columns import NEWEST
from pgs.storage.invites import find_account_of, invites_page, pending_for_address


class NewInvite(msgspec.Struct, frozen=True):
    """The address to invite, and the role to give."""

    email: str
    role: Role


class InviteRecord(msgspec.Struct, frozen=True, rename="camel"):
    """An invite with its present status. `expires_at` in epoch seconds."""

    invite_id: str
    email: str
    role: str
    status: str
    expires_at: int


class InvitePage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the invites, the newest first."""

    invites: list[InviteRecord]
    next_cursor: str | None
    has_more: bool


class OwnInvite(msgspec.Struct, frozen=True, rename="camel"):
    """A pending invite to the caller's address. `expires_at` in epoch seconds."""

    invite_id: str
    partner_name: str
    role: str
    expires_at: int


class OwnInvites(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the pending invites to the caller's address, the newest first."""

    invites: list[OwnInvite]
    next_cursor: str | None
    has_more: bool


_KIND = "admin.invites"
_OWN_KIND = "admin.own_invites"


def _record(call: AdminCall, invite: Invite) -> InviteRecord:
    status = invite.status(call.services.parts.clock.now())
    return InviteRecord(invite.invite_id, invite.email, invite.role, status, invite.expires_at)


async def list_invites(call: AdminCall) -> Answer:
    wanted = wanted_page(call, _KIND)
    if not isinstance(wanted, Wanted):
        return wanted
    found = await invites_page(
        call.services.parts.database.reader,
        call.principal.account.partner_id,
        wanted.before,
        wanted.limit + 1,
    )
    shown, page = cut(call, _KIND, wanted, found, lambda numbered: numbered[0])
    return InvitePage(
        [_record(call, invite) for _, invite in shown], page.next_cursor, page.has_more
    )


async def list_own_invites(call: AdminCall) -> Answer:
    """Return the invites that the caller may accept. Callers without an account may call this."""
    parts, email = call.services.parts, call.principal.identity.email
    address = (normalise_email(email) or email).lower()
    # The cursors of this list belong to the address. They contain its hash, because the address
    # itself may be too long for a cursor.
    owner = hashlib.sha256(address.encode()).hexdigest()
    wanted = wanted_page(call, _OWN_KIND, owner=owner)
    if not isinstance(wanted, Wanted):
        return wanted
    numbered = await pending_for_address(
        parts.database.reader, address, parts.clock.now(), _place(wanted), wanted.limit + 1
    )
    found, page = cut(call, _OWN_KIND, wanted, numbered, _position, owner=owner)
    unknown = any(parts.registry.account(partner_id) is None for partner_id, _ in found)
    if unknown and call.services.owners is not None:
        # Another node has made the account since this node last read the accounts.
        await follow_others(parts, call.services.directory)
    own = []
    for partner_id, invite in found:
        account = parts.registry.account(partner_id)
        if account is not None and same_address(invite.email, email):
            own.append(OwnInvite(invite.invite_id, account.name, invite.role, invite.expires_at))
    return OwnInvites(own, page.next_cursor, page.has_more)


def _position(found: tuple[str, Invite]) -> str:
    """Return the place of an invite in the list of its address; `_place` reads it."""
    _, invite = found
    return f"{invite.expires_at}:{invite.invite_id}"


def _place(wanted: Wanted) -> tuple[int, str]:
    if not isinstance(wanted.after, str):
        return NEWEST, ""
    expires_at, _, invite_id = wanted.after.partition(":")
    return int(expires_at), invite_id


async def create_invite(call: AdminCall) -> Answer:
    """Invite a person; return the invite."""
    body: NewInvite = call.body
    reply = await change(call, CreateInvite, body.email, body.role)
    return _record(call, reply) if isinstance(reply, Invite) else reply


async def accept_invite(call: AdminCall) -> Answer:
    """Make the caller a member. The caller needs no account."""
    services, caller = call.services, call.principal
    invite_id = call.path["invite_id"]
    partner_id = await find_account_of(services.parts.database.reader, invite_id)
    if partner_id is None:
        return refuse("invite_not_found")
    services.check_here(partner_id)
    command = AcceptInvite(caller.uid, caller.identity.email, invite_id, if_revision=caller.seen)
    reply = await services.directory.partner(partner_id).account().ask(command)
    return _record(call, reply) if isinstance(reply, Invite) else reply


async def revoke_invite(call: AdminCall) -> Answer:
    """Revoke an invite that nobody has accepted."""
    reply = await change(call, RevokeInvite, call.path["invite_id"])
    return _record(call, reply) if isinstance(reply, Invite) else reply


ENDPOINTS = (
    admin_list("invites", list_invites, InvitePage, "The account's invites"),
    admin_list("invites/mine", list_own_invites, OwnInvites, "The invites to the caller's address"),
    admin_write(
        "POST",
        "invites",
        create_invite,
        InviteRecord,
        "Invite somebody",
        request=NewInvite,
        errors=("invalid_email", "address_outside_domain"),
    ),
    admin_write(
        "POST",
        "invites/{invite_id}/accept",
        accept_invite,
        InviteRecord,
        "Accept an invite",
        errors=(
            "invite_not_found",
            "already_accepted",
            "expired",
            "wrong_address",
            "already_administers_another_partner",
            "already_a_member",
            "address_outside_domain",
        ),
    ),
    admin_write(
        "DELETE",
        "invites/{invite_id}",
        revoke_invite,
        InviteRecord,
        "Revoke an invite",
        errors=("invite_not_found", "already_accepted"),
    ),
)
