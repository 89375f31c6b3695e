"""Invites: how somebody becomes a member."""

import msgspec

from pgs.actors.messages.account.people import AcceptInvite, CreateInvite, RevokeInvite
from pgs.domain.errors import refuse
from pgs.domain.invites import Invite
from pgs.domain.roles import Role
from pgs.http.admin.gate import AdminCall, change
from pgs.http.admin.lists import LIST_QUERY, Wanted, cut, wanted_page
from pgs.http.api.endpoint import Answer, Endpoint
from pgs.storage.invites import END, find_account_of, invites_page


class NewInvite(msgspec.Struct, frozen=True):
    """Whom to invite, and as what."""

    email: str
    role: Role


class InviteRecord(msgspec.Struct, frozen=True, rename="camel"):
    """An invite. `status` is of this moment; `expires_at` in epoch seconds."""

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


_KIND = "admin.invites"


def _record(call: AdminCall, invite: Invite) -> InviteRecord:
    status = invite.status(call.services.parts.clock.now())
    return InviteRecord(invite.invite_id, invite.email, invite.role, status, invite.expires_at)


async def list_invites(call: AdminCall) -> Answer:
    """Return a page of the invites."""
    wanted = wanted_page(call, _KIND)
    if not isinstance(wanted, Wanted):
        return wanted
    before = wanted.after if isinstance(wanted.after, int) else END
    found = invites_page(
        call.services.parts.database.reader,
        call.principal.account.partner_id,
        before,
        wanted.limit + 1,
    )
    shown, page = cut(call, _KIND, wanted, found, lambda numbered: numbered[0])
    return InvitePage(
        [_record(call, invite) for _, invite in shown], page.next_cursor, page.has_more
    )


async def create_invite(call: AdminCall) -> Answer:
    """Invite somebody."""
    body: NewInvite = call.body
    reply = await change(call, CreateInvite, body.email, body.role)
    return _record(call, reply) if isinstance(reply, Invite) else reply


async def accept_invite(call: AdminCall) -> Answer:
    """Make a member of the caller, who need not be one of any account yet."""
    services, caller = call.services, call.principal
    invite_id = call.path["invite_id"]
    partner_id = find_account_of(services.parts.database.reader, invite_id)
    if partner_id is None:
        return refuse("invite_not_found")
    command = AcceptInvite(caller.uid, caller.identity.email, invite_id, if_revision=caller.seen)
    reply = await services.directory.partner(partner_id).account().ask(command)
    return _record(call, reply) if isinstance(reply, Invite) else reply


async def revoke_invite(call: AdminCall) -> Answer:
    """Revoke an invite that nobody has accepted."""
    reply = await change(call, RevokeInvite, call.path["invite_id"])
    return _record(call, reply) if isinstance(reply, Invite) else reply


_PATH = "/partner/admin/invites"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_PATH,
        handler=list_invites,
        response=InvitePage,
        credential="identity",
        query=LIST_QUERY,
        errors=("invalid_cursor",),
        summary="The account's invites",
    ),
    Endpoint(
        method="POST",
        path=_PATH,
        handler=create_invite,
        request=NewInvite,
        response=InviteRecord,
        credential="identity",
        errors=("invalid_email", "address_outside_domain", "partner_changed"),
        summary="Invite somebody",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/{{invite_id}}/accept",
        handler=accept_invite,
        response=InviteRecord,
        credential="identity",
        errors=(
            "invite_not_found",
            "already_accepted",
            "expired",
            "wrong_address",
            "already_administers_another_partner",
            "already_a_member",
            "partner_changed",
        ),
        summary="Accept an invite",
    ),
    Endpoint(
        method="DELETE",
        path=f"{_PATH}/{{invite_id}}",
        handler=revoke_invite,
        response=InviteRecord,
        credential="identity",
        errors=("invite_not_found", "already_accepted", "partner_changed"),
        summary="Revoke an invite",
    ),
)
