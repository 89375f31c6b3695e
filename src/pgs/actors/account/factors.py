"""What is decided about members' authenticators. Their rows are read by key when a command comes; nothing of them is kept in memory."""

from typing import Final

from pgs.actors.account.decisions import AccountDecision, Context, Unlogged, Write
from pgs.actors.messages import account as m
from pgs.domain import stepup, totp
from pgs.domain.accounts import Account
from pgs.domain.errors import Refusal, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.stepup import Factor, Verified
from pgs.storage import factors as rows

ISSUER: Final = "Partner Game Service"
"""Whose code it is, as an authenticator app shows it."""


def enrol_totp(account: Account, command: m.EnrollTotp, context: Context) -> AccountDecision:
    """Decide on a new authenticator, which waits for its first code. Its secret is in the answer alone; rows hold it sealed.

    The log tells of the first one that waits. Whoever begins again before its first code replaces it, and adds nothing to the log: this
    call takes no code, so nobody can fill the log with it.
    """
    member = account.members.get(command.by)
    if member is None:
        return refuse("not_a_partner_admin")
    was = rows.find_factor(context.reader, account.partner_id, member.uid)
    secret = totp.new_secret(context.random(totp.ENTROPY_BYTES))
    after = stepup.enrol(
        was, context.seal(secret, factor_context(account.partner_id, member.uid)), context.now
    )
    if isinstance(after, Refusal):
        return after
    stmt = rows.put_factor(account.partner_id, member.uid, after)
    answer = m.Enrolment(secret, totp.otpauth_uri(secret, member.email, ISSUER))
    if was.pending_sealed_secret is not None:
        return Unlogged(stmt, answer)
    return Write(
        account,
        (stmt,),
        "totp.enrolled",
        {"replaces": was.enrolled},
        lambda _: answer,
        revises=False,
    )


def reset_factor(account: Account, command: m.ResetFactor, context: Context) -> AccountDecision:
    """Decide to drop a lost authenticator, with whatever it has opened or locked."""
    if command.by != PLATFORM:
        return refuse("role_forbidden")
    member = account.members.get(command.uid)
    if member is None:
        return refuse("member_not_found")
    stmt = rows.delete_factor(account.partner_id, member.uid)
    return Write(
        account, (stmt,), "totp.reset", {"uid": member.uid}, lambda _: member, revises=False
    )


def verify_totp(
    account: Account, uid: str, code: str, factor: Factor, context: Context
) -> tuple[Factor, Write | Refusal]:
    """Return the factor after a code, and the write or the refusal that it comes to.

    `factor` is the one from before the attempt was counted; what it was counted as is in rows by now. A refusal is an answer once the
    returned factor is in rows.
    """
    purpose = factor_context(account.partner_id, uid)

    def step(sealed: str | None) -> int | None:
        secret = context.open(sealed, purpose)
        return None if secret is None else totp.matching_step(secret, code, context.now)

    after, verdict = stepup.verify(
        factor, step(factor.sealed_secret), step(factor.pending_sealed_secret), context.now
    )
    stmt = rows.put_factor(account.partner_id, uid, after)
    if isinstance(verdict, Verified):
        now = context.now
        stepped_up = m.SteppedUp(now + stepup.WINDOW_S, now + stepup.FRESH_S)
        action = "totp.activated" if verdict.enrolled else "totp.verified"
        return after, Write(account, (stmt,), action, {}, lambda _: stepped_up, revises=False)
    if stepup.lock_left(after, context.now):
        return after, Write(
            account,
            (stmt,),
            "totp.locked",
            {"until": after.locked_until},
            lambda _: verdict,
            revises=False,
        )
    return after, verdict


def factor_context(partner_id: str, uid: str) -> str:
    """Return what an authenticator's secret is sealed for."""
    return f"{partner_id}|{uid}|totp"
