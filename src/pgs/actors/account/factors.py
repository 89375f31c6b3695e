"""The rules about members' authenticators.

The actor keeps no authenticator in memory: each command reads the rows that it needs.
"""

from typing import Final

import msgspec

from pgs.actors.account.decisions import AccountDecision, Context, Unlogged, Write
from pgs.actors.messages.account.factors import (
    EnrollTotp,
    Enrolment,
    ResetFactor,
    SteppedUp,
    VerifyTotp,
)
from pgs.domain import factors, totp
from pgs.domain.accounts import Account
from pgs.domain.errors import Refusal, refuse
from pgs.domain.factors import Factor, Verified
from pgs.storage import factors as rows
from pgs.storage.reader import Reader

ISSUER: Final = "Partner Game Service"
"""The name under which an authenticator app lists the code."""


async def read_factor(reader: Reader, account: Account, command: EnrollTotp, now: int) -> Factor:
    """Return the caller's authenticator."""
    return await rows.find_factor(reader, account.partner_id, command.by)


def enrol_totp(
    account: Account, command: EnrollTotp, context: Context, held: Factor
) -> AccountDecision:
    """Decide to add an authenticator that waits for its first code.

    Only the reply shows its secret; rows hold it sealed. Enrolling again before the first code
    replaces the secret without another event. A member can repeat this call without a code, so one
    event for each call could fill the log.
    """
    member = account.members.get(command.by)
    if member is None:
        return refuse("not_a_partner_admin")
    secret = totp.new_secret(context.random(totp.ENTROPY_BYTES))
    sealed = context.seal(secret, factor_context(account.partner_id, member.uid))
    after = factors.enrol(held, sealed, command.sign_in, context.real)
    if isinstance(after, Refusal):
        return after
    stmt = rows.put_factor(account.partner_id, member.uid, after)
    again = held.pending_sealed_secret is not None
    enrolment = Enrolment(secret, totp.otpauth_uri(secret, member.email, ISSUER), again)
    if again:
        return Unlogged(stmt, enrolment)
    return Write(
        account=account,
        stmts=(stmt,),
        action="totp.enrolled",
        detail={"replaces": held.enrolled},
        reply=lambda _: enrolment,
        revises=False,
    )


def reset_factor(account: Account, command: ResetFactor, context: Context) -> AccountDecision:
    """Decide to delete a lost authenticator, together with its open windows and its lock.

    Nobody may reset their own authenticator. Otherwise somebody with a stolen sign-in could enrol a
    new one.
    """
    if command.by == command.uid:
        return refuse("role_forbidden")
    member = account.members.get(command.uid)
    if member is None:
        return refuse("member_not_found")
    return Write(
        account=account,
        stmts=(rows.delete_factor(account.partner_id, member.uid),),
        action="totp.reset",
        detail={"uid": member.uid},
        reply=lambda _: member,
        revises=False,
    )


class CheckedCode(msgspec.Struct, frozen=True):
    """The result of checking a code: the authenticator's new state, and a write or a refusal.

    Commit `factor` before you reply with the refusal.
    """

    factor: Factor
    verdict: Write | Refusal


def check_code(
    account: Account, command: VerifyTotp, factor: Factor, context: Context
) -> CheckedCode:
    """Return the result of checking a code. `factor`: as it was before the attempt was counted."""
    uid, now = command.by, context.real
    purpose = factor_context(account.partner_id, uid)

    def step(sealed: str | None) -> int | None:
        secret = context.open(sealed, purpose)
        return None if secret is None else totp.matching_step(secret, command.code, now)

    after, verdict = factors.verify(
        factor,
        step(factor.sealed_secret),
        step(factor.pending_sealed_secret),
        command.sign_in,
        now,
    )
    write = Write(
        account=account,
        stmts=(rows.put_factor(account.partner_id, uid, after),),
        action="totp.verified",
        detail={},
        reply=lambda _: SteppedUp(now + factors.WINDOW_S, now + factors.FRESH_S),
        revises=False,
    )
    if isinstance(verdict, Verified):
        action = "totp.activated" if verdict.enrolled else "totp.verified"
        return CheckedCode(after, msgspec.structs.replace(write, action=action))
    if factors.lock_left(after, now):
        locked = msgspec.structs.replace(
            write,
            action="totp.locked",
            detail={"needsReset": True} if after.needs_reset else {"until": after.locked_until},
            reply=lambda _: verdict,
        )
        return CheckedCode(after, locked)
    return CheckedCode(after, verdict)


def factor_context(partner_id: str, uid: str) -> str:
    """Return the context in which an authenticator's secret is sealed and opened."""
    return f"{partner_id}|{uid}|totp"
