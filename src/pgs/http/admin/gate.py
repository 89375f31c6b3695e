"""From an identity token to a caller, in the order of gates that the admin API promises: identity, membership, role, step-up.

The gates come before bodies and look-ups, and so does If-Match, once they are passed: whatever a write is about, it is told first that it
builds on an account which has changed. The account actor checks both once more in its own step, since a member may be removed, and
somebody else may write, while a call waits; `change` hands it the rule and the revision for that.
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
from pgs.domain.keys import parse_bearer
from pgs.domain.members import is_uid
from pgs.domain.roles import AdminRule, Role, admit, needs_factor, rule_of
from pgs.domain.stepup import Factor, lock_left
from pgs.http.api.auth import overloaded
from pgs.http.api.endpoint import CallBy, Reply, Request
from pgs.http.api.services import Services
from pgs.http.identity import Identity
from pgs.http.transport.asgi import Headers
from pgs.storage.factors import find_factor

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=Command[Any])

_SIGN_IN_REQUIRED: Final = refuse("sign_in_required")
_REVISION = re.compile(r'("?)([0-9]{1,18})\1', re.ASCII)
_BAD_REVISION: Final = BadRequest(
    "The header If-Match must be the account's revision: an integer, bare or in quotes."
)


class Caller(msgspec.Struct, frozen=True):
    """Who calls the admin API. `known` is None for somebody who is no member of any account: an invite's acceptance lets them through.

    `seen` is the revision that a write names in If-Match; None without one.
    """

    identity: Identity
    rule: AdminRule
    known: KnownMember | None
    seen: int | None = None

    @property
    def uid(self) -> str:
        """The subject of the caller's token, which names them everywhere."""
        return self.identity.uid

    @property
    def partner_id(self) -> str | None:
        """The account that the caller is a member of."""
        return self.known.account.partner_id if self.known else None

    @property
    def account(self) -> Account:
        """The caller's account, as it stood when the call was admitted. Only behind the membership gate."""
        return self._member().account

    @property
    def role(self) -> Role:
        """The caller's role. Only behind the membership gate."""
        return self._member().member.role

    def _member(self) -> KnownMember:
        if self.known is None:
            raise LookupError("this call is not behind the membership gate")
        return self.known


AdminCall = CallBy[Caller]
"""A call with an identity token, past its gates."""


class Verifier(Protocol):
    """Tells whom an identity token is about; `pgs.http.identity.IdentityVerifier` is one."""

    async def verify(self, token: str) -> Identity | Refusal:
        """Return who it is, or the refusal."""
        ...


class IdentityAuthenticator:
    """Admits callers of the admin API. Without a verifier nobody can sign in, and everybody is told to."""

    def __init__(self, verifier: Verifier | None) -> None:
        self._verifier = verifier

    async def __call__(self, request: Request, /) -> Caller | Refusal | BadRequest | Reply:
        """Return the caller, or the first gate that does not open, or what is wrong with the revision that a write names."""
        services = request.services
        admission = services.parts.process_admission.admit(trio.current_time())
        if not admission.allowed:
            return Reply(refuse("rate_limited"), overloaded(admission.retry_after))
        given = [value for name, value in request.headers if name == b"authorization"]
        token = parse_bearer(given[0]) if len(given) == 1 else None
        if token is None or self._verifier is None:
            return _SIGN_IN_REQUIRED
        identity = await self._verifier.verify(token)
        if isinstance(identity, Refusal):
            return identity
        if not is_uid(identity.uid):
            return _SIGN_IN_REQUIRED
        # Nothing waits from here to the handler's first await: what is let through is what the registry says now.
        caller = await _admit(
            services, identity, rule_of(request.endpoint.method, request.endpoint.path)
        )
        return (
            caller
            if isinstance(caller, Refusal) or request.endpoint.method == "GET"
            else _with_revision(caller, request.headers)
        )


async def _admit(services: Services, identity: Identity, rule: AdminRule) -> Caller | Refusal:
    registry = services.parts.registry
    if registry.is_closed(trio.current_time()):
        return refuse("registry_unavailable")
    known = registry.member(identity.uid)
    role = known.member.role if known else None
    factor = await factor_of(services, known) if needs_factor(rule, role) else Factor()
    refusal = admit(rule, role, factor, services.parts.clock.now())
    return refusal or Caller(identity, rule, known)


async def may_go_on(call: AdminCall) -> bool:
    """Return whether an answer that takes long may go on: its token has not expired, and its caller would be let in to the same account."""
    services, caller = call.services, call.principal
    if services.parts.clock.now_ms() >= caller.identity.expires_at * 1000:
        return False
    anew = await _admit(services, caller.identity, caller.rule)
    return isinstance(anew, Caller) and anew.partner_id == caller.partner_id


async def factor_of(services: Services, known: KnownMember | None) -> Factor:
    """Return a member's authenticator as it is in rows; none for who is no member."""
    if known is None:
        return Factor()
    return find_factor(services.parts.database.reader, known.account.partner_id, known.member.uid)


def _with_revision(caller: Caller, headers: Headers) -> Caller | Refusal | BadRequest:
    """Give the caller with the revision that If-Match names. One that is stale ends the call here, unless the account is not the caller's.

    Who accepts an invite writes the account that it is of, which is found with the invite: its actor compares the revision.
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
    """Ask the caller's account actor to change something; return its reply. `kind` is a command, `args` its fields after `by`."""
    command = build(call, kind, *args, **kwargs)
    return (
        await call.services.directory.partner(call.principal.account.partner_id)
        .account()
        .ask(command)
    )


def build(
    call: AdminCall, kind: Callable[Concatenate[str, P], C], /, *args: P.args, **kwargs: P.kwargs
) -> C:
    """Return the command of a call, with the revision that its caller has seen and the gates that they passed."""
    command = kind(call.principal.uid, *args, **kwargs)
    if isinstance(command, AccountCommand):
        return msgspec.structs.replace(
            command, if_revision=call.principal.seen, rule=call.principal.rule
        )
    return command


async def locked(services: Services, known: KnownMember | None, refusal: Refusal) -> Reply:
    """Return a `step_up_locked` with the seconds to wait."""
    factor = await factor_of(services, known)
    return Reply(refusal, overloaded(lock_left(factor, services.parts.clock.now())))


def account_now(call: AdminCall) -> Account:
    """Return the caller's account as the registry has it at this moment."""
    return (
        call.services.parts.registry.account(call.principal.account.partner_id)
        or call.principal.account
    )
