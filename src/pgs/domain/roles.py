"""The roles, and one table of who may make each call of the admin API.

The endpoints take their rules from the table, and a test compares every route with it. A call that
is not in the table cannot be made.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from pgs.domain.errors import Refusal, refuse
from pgs.domain.factors import Factor, Need, step_up_refusal

Role = Literal["admin", "developer", "viewer"]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

ROLES: Final[tuple[Role, ...]] = ("admin", "developer", "viewer")
"""Every role; the one with the most rights comes first."""


class AdminRule(msgspec.Struct, frozen=True):
    """One call of the admin API, and who may make it.

    `path` is a template with `{names}`. `roles`: who may call. `step_up`: the step-up window that
    the caller needs. `membership`: whether the caller must belong to an account; if not, neither
    role nor step-up is checked. `once_enrolled`: step-up is only checked for callers who have an
    authenticator.
    """

    method: Method
    path: str
    roles: frozenset[Role]
    step_up: Need = "none"
    membership: bool = True
    once_enrolled: bool = False


def rank(role: Role) -> int:
    """Return the role's rank. A role with more rights has a greater rank."""
    return len(ROLES) - ROLES.index(role)


def can_grant(granter: Role, role: Role) -> bool:
    """Return whether a member may give somebody a role: their own role or one with fewer rights."""
    return rank(granter) >= rank(role)


def may(role: Role, rule: AdminRule) -> bool:
    """Return whether a rule's roles include a member's role."""
    return role in rule.roles


def needs_factor(rule: AdminRule, role: Role | None) -> bool:
    """Return whether `admit` needs the member's authenticator."""
    return rule.step_up != "none" and role is not None and may(role, rule)


def admit(
    rule: AdminRule, role: Role | None, factor: Factor, sign_in: str, now: int
) -> Refusal | None:
    """Return the first refusal of the checks of membership, role and step-up, or None.

    `role` is None for somebody who is not a member. `factor` is the member's authenticator, and
    `sign_in` the sign-in that makes the call. Neither is used if `needs_factor` is false.
    """
    if not rule.membership:
        return None
    if role is None:
        return refuse("not_a_partner_admin")
    if not may(role, rule):
        return refuse("role_forbidden")
    if rule.once_enrolled and not factor.enrolled:
        return None
    return step_up_refusal(factor, rule.step_up, sign_in, now)


def may_see_invites(role: Role) -> bool:
    """Return whether a member with the role may read invites and the events about them."""
    return may(role, rule_of("GET", f"{_PREFIX}invites"))


def rule_of(method: str, path: str) -> AdminRule:
    """Return the rule of a call. `path` is its template. KeyError if it is not in the table."""
    return _BY_CALL[method, path]


_EVERYONE: Final[frozenset[Role]] = frozenset(ROLES)
_DEVELOPERS: Final[frozenset[Role]] = frozenset({"admin", "developer"})
_ADMINS: Final[frozenset[Role]] = frozenset({"admin"})

_PREFIX: Final = "/partner/admin/"


def _reads(*paths: str) -> Iterator[AdminRule]:
    return (AdminRule("GET", _PREFIX + path, _EVERYONE) for path in paths)


def _call(method: Method, path: str, roles: frozenset[Role], step_up: Need = "none") -> AdminRule:
    return AdminRule(method, _PREFIX + path, roles, step_up)


ADMIN_RULES: Final[tuple[AdminRule, ...]] = (
    *_reads(
        "account",
        "rake-terms",
        "keys",
        "origins",
        "prices/{env}",
        "tiers",
        "members",
        "games",
        "theme/{env}",
        "events",
        "live",
        "readiness",
        "matches",
        "matches/{match_id}",
        "seats",
        "seats/{seat_id}",
    ),
    *_reads("webhooks/{env}", "webhooks/{env}/attempts"),
    *_reads("usage/{env}", "seat-summary/{env}"),
    *_reads("invoices", "invoices/{invoice_id}", "invoices/{invoice_id}/lines"),
    *_reads("invoices/{invoice_id}/lines/{line_id}/matches"),
    # The account itself
    _call("POST", "account/domain", _ADMINS, "open"),
    _call("POST", "account/deactivate", _ADMINS, "open"),
    _call("POST", "account/reactivate", _ADMINS, "fresh"),
    _call("POST", "emergency-stop", _ADMINS, "open"),
    _call("POST", "rake-terms", _ADMINS, "open"),
    _call("POST", "api-version", _DEVELOPERS, "open"),
    # What the partner's own systems use. A call that makes a credential needs a fresh window; a
    # call that only removes one does not.
    _call("POST", "keys", _DEVELOPERS, "fresh"),
    _call("POST", "keys/{key_id}/rotate", _DEVELOPERS, "fresh"),
    _call("DELETE", "keys/{key_id}", _DEVELOPERS, "open"),
    _call("POST", "origins", _DEVELOPERS, "open"),
    _call("DELETE", "origins", _DEVELOPERS, "open"),
    _call("PUT", "prices/{env}", _ADMINS, "open"),
    _call("POST", "webhooks/{env}", _DEVELOPERS, "fresh"),
    _call("POST", "webhooks/{env}/rotate-secret", _DEVELOPERS, "fresh"),
    _call("POST", "webhooks/{env}/disable", _DEVELOPERS),
    _call("POST", "webhooks/{env}/test", _DEVELOPERS),
    _call("POST", "webhooks/{env}/attempts/{attempt_id}/resend", _DEVELOPERS),
    _call("PUT", "theme/{env}", _DEVELOPERS, "open"),
    # Games
    _call("POST", "games/{game_id}/test", _DEVELOPERS, "open"),
    _call("DELETE", "games/{game_id}/test", _DEVELOPERS, "open"),
    _call("POST", "games/{game_id}/live-request", _ADMINS, "open"),
    _call("DELETE", "games/{game_id}/live-request", _ADMINS, "open"),
    # A test match needs no step-up: it has test players and test money, and it grants nothing.
    _call("POST", "test-match", _DEVELOPERS),
    # People. Only admins read invites, because invites name people who are not members.
    _call("PATCH", "members/{uid}", _ADMINS, "open"),
    _call("DELETE", "members/{uid}", _ADMINS, "open"),
    _call("DELETE", "members/{uid}/totp", _ADMINS, "open"),
    _call("GET", "invites", _ADMINS),
    _call("POST", "invites", _ADMINS, "open"),
    _call("DELETE", "invites/{invite_id}", _ADMINS, "open"),
    AdminRule("GET", f"{_PREFIX}invites/mine", _EVERYONE, membership=False),
    AdminRule("POST", f"{_PREFIX}invites/{{invite_id}}/accept", _EVERYONE, membership=False),
    # Everyone's own authenticator
    AdminRule("POST", f"{_PREFIX}totp/enroll", _EVERYONE, "fresh", once_enrolled=True),
    _call("POST", "totp/verify", _EVERYONE),
)
"""Every call of the admin API."""

_BY_CALL: Final[Mapping[tuple[str, str], AdminRule]] = MappingProxyType(
    {(rule.method, rule.path): rule for rule in ADMIN_RULES}
)
