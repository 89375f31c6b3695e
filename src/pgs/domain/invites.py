"""Invites: how somebody becomes a member.

An invite names an address and a role, and can be accepted once.
"""

from typing import Final, Literal

import msgspec

from pgs.domain.admin_domains import inside
from pgs.domain.emails import normalise_email, same_address
from pgs.domain.errors import Refusal, refuse
from pgs.domain.roles import Role, can_grant

INVITE_S: Final = 7 * 24 * 3600
"""Seconds for which an invite can be accepted: the 7 days that the interface promises."""

INVITES_MAX: Final = 1000
"""Invites stored for one account: as many as it may have members. At the limit, a new invite
replaces the oldest that is not pending."""

InviteStatus = Literal["pending", "accepted", "revoked", "expired"]


class Invite(msgspec.Struct, frozen=True):
    """An invite's record. `accepted_by` is the uid of the new member. Times in epoch seconds."""

    invite_id: str
    email: str
    role: Role
    created_at: int
    expires_at: int
    accepted_by: str | None = None
    revoked_at: int | None = None

    def status(self, now: int) -> InviteStatus:
        """Return the status. An invite can be accepted until the second before `expires_at`."""
        if self.revoked_at is not None:
            return "revoked"
        if self.accepted_by is not None:
            return "accepted"
        return "expired" if now >= self.expires_at else "pending"


def issue(
    invite_id: str, text: str, role: Role, granter: Role, admin_domain: str | None, now: int
) -> Invite | Refusal:
    """Return a new invite, or why it cannot be issued.

    `text` is the address as sent, any string. `granter` is the role of the member who invites.
    """
    if not can_grant(granter, role):
        return refuse("role_forbidden")
    email = normalise_email(text)
    if email is None:
        return refuse("invalid_email")
    if admin_domain is not None and not inside(email, admin_domain):
        return refuse("address_outside_domain")
    return Invite(invite_id, email, role, now, now + INVITE_S)


def accept(
    invite: Invite | None,
    partner_id: str,
    uid: str,
    email: str,
    member_of: str | None,
    admin_domain: str | None,
    now: int,
) -> Invite | Refusal:
    """Return the invite as accepted, or the first reason why it cannot be accepted.

    `invite` is an invite of `partner_id`, or None if no invite has the id. `uid` and `email` belong
    to the person who signed in; the issuer has verified the address. `member_of` is the id of the
    account that this person already belongs to, or None. `admin_domain` is the account's domain as
    it is now; it may have been set since the invite was issued.
    """
    status = None if invite is None else invite.status(now)
    if invite is None or status == "revoked":
        return refuse("invite_not_found")
    if status == "accepted":
        return refuse("already_accepted")
    if status == "expired":
        return refuse("expired")
    if not same_address(invite.email, email):
        return refuse("wrong_address")
    if member_of is not None:
        return refuse(
            "already_a_member" if member_of == partner_id else "already_administers_another_partner"
        )
    if admin_domain is not None and not inside(email, admin_domain):
        return refuse("address_outside_domain")
    return msgspec.structs.replace(invite, accepted_by=uid)


def revoke(invite: Invite | None, now: int) -> Invite | Refusal:
    """Return the invite as revoked, or why it cannot be revoked.

    An accepted invite cannot be revoked: remove the member instead. An expired one can be revoked.
    """
    status = None if invite is None else invite.status(now)
    if invite is None or status == "revoked":
        return refuse("invite_not_found")
    if status == "accepted":
        return refuse("already_accepted")
    return msgspec.structs.replace(invite, revoked_at=now)
