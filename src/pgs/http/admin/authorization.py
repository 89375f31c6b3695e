"""Who may call the admin API: identity, membership, role and step-up, checked in this order.

If-Match is checked after these, and before the body is read and before the path's record is looked
up. A stale revision is therefore refused before a fault in the body's fields or an unknown id in
the path. While a call waits for the account actor, its caller may be removed, or somebody else may
write. The actor therefore checks the caller and the revision again; `build` puts the rule and the
revision into the command.
"""

import re
from collections.abc import Callable
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

import msgspec
import trio

from pgs.actors.kernel.mail import Command
from pgs.actors.messages.account.command import AccountCommand
from pgs.actors.shared.registry import KnownMember
from pgs.domain.accounts import Account
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.factors import Factor, lock_left
from pgs.domain.keys import parse_bearer
from pgs.domain.members import is_uid
from pgs.domain.roles import AdminRule, Role, admit, needs_factor, rule_of
from pgs.http.api.auth import overloaded
from pgs.http.api.endpoint import CallBy, Reply, Request
from pgs.http.api.hints import sign_in_refusal
from pgs.http.api.services import Services
from pgs.http.identity.tokens import Identity
from pgs.http.transport.asgi import Headers
from pgs.storage.factors import find_factor
from pgs.storage.members import find_account_of

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=Command[Any])

_SIGN_IN_REQUIRED: Final = refuse("sign_in_required")
_REVISION = re.compile(r'("?)([0-9]{1,18})\1', re.ASCII)
_BAD_REVISION: Final = BadRequest(
    "The header If-Match must be the account's revision: an integer, bare or in quotes."
)


class Caller(msgspec.Struct, frozen=True):
    """Who calls the admin API.

    `known` is None for somebody who is not a member of any account; they may only list and accept
    the invites to their address.
    `seen` is the revision that a write names in If-Match, None if it names none.
    """

    identity: Identity
    rule: AdminRule
    known: KnownMember | None
    seen: int | None = None

    @property
    def uid(self) -> str:
        """The caller's user id: the subject of the token."""
        return self.identity.uid

    @property
    def partner_id(self) -> str | None:
        """The id of the caller's account, None if the caller has no account."""
        return self.known.account.partner_id if self.known else None

    @property
    def account(self) -> Account:
        """The caller's account as it was when the call was admitted.

        LookupError if the caller is not a member.
        """
        return self._member().account

    @property
    def role(self) -> Role:
        """The caller's role. LookupError if the caller is not a member."""
        return self._member().member.role

    def _member(self) -> KnownMember:
        if self.known is None:
            raise LookupError("the caller is not a member of any account")
        return self.known


AdminCall = CallBy[Caller]
"""A call of the admin API, made by somebody who may make it."""


class Verifier(Protocol):
    """Verifies identity tokens, as `pgs.http.identity.verifier.IdentityVerifier` does."""

    async def verify(self, token: str) -> Identity | Refusal:
        """Return the person whom the token identifies, or the refusal."""
        ...


class IdentityAuthenticator:
    """Admits callers of the admin API. Without a verifier, it admits nobody."""

    def __init__(self, verifier: Verifier | None) -> None:
        self._verifier = verifier

    async def __call__(self, request: Request, /) -> Caller | Refusal | BadRequest | Reply:
        """Return the caller, the refusal of the first failed check, or the fault of If-Match.

        Raises `NotHere` if the call is only for members and another node owns the caller's
        account.
        """
        services = request.services
        admission = services.directory.admission.process.admit(trio.current_time())
        if not admission.allowed:
            return Reply(refuse("rate_limited"), overloaded(admission.retry_after))
        given = [value for name, value in request.headers if name == b"authorization"]
        token = parse_bearer(given[0]) if len(given) == 1 else None
        if token is None or self._verifier is None:
            return sign_in_refusal(request.headers)
        identity = await self._verifier.verify(token)
        if isinstance(identity, Refusal):
            return (
                sign_in_refusal(request.headers)
                if identity.reason == "sign_in_required"
                else identity
            )
        if not is_uid(identity.uid):
            return _SIGN_IN_REQUIRED
        answer = services.directory.admission.admins.take(identity.uid, trio.current_time())
        if not answer.allowed:
            services.parts.on_event("rate_limited_by_admin")
            return Reply(refuse("rate_limited"), overloaded(answer.retry_after))
        rule = rule_of(request.endpoint.method, request.endpoint.path)
        if rule.membership:
            await _check_here(services, identity.uid)
        caller = await _admit(services, identity, rule)
        return (
            caller
            if isinstance(caller, Refusal) or request.endpoint.method == "GET"
            else _with_revision(caller, request.headers)
        )


async def _check_here(services: Services, uid: str) -> None:
    """Raise `NotHere` for a member of an account that another node owns."""
    known = services.parts.registry.member(uid)
    partner_id = known.account.partner_id if known else None
    if known is None and services.owners is not None:
        # Another node may have made this person a member a moment ago, so this node reads the
        # database.
        partner_id = await find_account_of(services.parts.database.reader, uid)
    if partner_id is not None:
        services.check_here(partner_id)


async def _admit(services: Services, identity: Identity, rule: AdminRule) -> Caller | Refusal:
    registry = services.parts.registry
    if registry.is_closed(trio.current_time()):
        return refuse("registry_unavailable")
    known = registry.member(identity.uid)
    role = known.member.role if known else None
    factor = await factor_of(services, known) if needs_factor(rule, role) else Factor()
    refusal = admit(rule, role, factor, identity.sign_in, services.parts.clock.real())
    return refusal or Caller(identity, rule, known)


async def may_go_on(call: AdminCall) -> bool:
    """Return whether a stream may go on.

    It may go on while this node owns the account, and while the caller's token is valid and would
    still admit the caller to the same account.
    """
    services, caller = call.services, call.principal
    if caller.known is not None and not services.is_here(caller.known.account.partner_id):
        return False
    if services.parts.clock.real_ms() >= caller.identity.expires_at * 1000:
        return False
    again = await _admit(services, caller.identity, caller.rule)
    return isinstance(again, Caller) and again.partner_id == caller.partner_id


async def factor_of(services: Services, known: KnownMember | None) -> Factor:
    """Return a member's authenticator as stored; `Factor()` for somebody who is not a member."""
    if known is None:
        return Factor()
    return await find_factor(
        services.parts.database.reader, known.account.partner_id, known.member.uid
    )


def _with_revision(caller: Caller, headers: Headers) -> Caller | Refusal | BadRequest:
    """Return the caller with the revision that If-Match names, or the refusal of a stale one.

    When an invite is accepted, only the actor of the invite's account compares the revision,
    because the caller is not a member of that account yet.
    """
    given = [value for name, value in headers if name == b"if-match"]
    if not given:
        return caller
    found = _REVISION.fullmatch(given[0].decode("latin-1").strip()) if len(given) == 1 else None
    if found is None:
        return _BAD_REVISION
    seen = int(found[2])
    if caller.rule.membership and seen != caller.account.revision:
        return refuse("partner_changed")
    return msgspec.structs.replace(caller, seen=seen)


async def change(
    call: AdminCall,
    kind: Callable[Concatenate[str, P], Command[R]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> R:
    """Return the reply of the caller's account actor to a command.

    `kind` is the command's type. The first field of each command is the uid of the member who acts;
    this function fills it in. `args` and `kwargs` are the other fields.
    """
    command = build(call, kind, *args, **kwargs)
    return (
        await call.services.directory.partner(call.principal.account.partner_id)
        .account()
        .ask(command)
    )


def build(
    call: AdminCall, kind: Callable[Concatenate[str, P], C], /, *args: P.args, **kwargs: P.kwargs
) -> C:
    """Return the command of a call.

    A command that changes the account also carries the revision that the caller named in If-Match,
    the rule that admitted the call, and the caller's sign-in.
    """
    command = kind(call.principal.uid, *args, **kwargs)
    if isinstance(command, AccountCommand):
        return msgspec.structs.replace(
            command,
            if_revision=call.principal.seen,
            rule=call.principal.rule,
            sign_in=call.principal.identity.sign_in,
        )
    return command


async def locked(services: Services, known: KnownMember | None, refusal: Refusal) -> Reply:
    """Return `refusal`, a `step_up_locked`, with the seconds to wait as Retry-After."""
    factor = await factor_of(services, known)
    return Reply(refusal, overloaded(lock_left(factor, services.parts.clock.real())))


def account_now(call: AdminCall) -> Account:
    """Return the caller's account as the registry has it now."""
    return (
        call.services.parts.registry.account(call.principal.account.partner_id)
        or call.principal.account
    )
