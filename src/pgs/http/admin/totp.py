"""The caller's own authenticator: enrolling it, and stepping up with its codes."""

import msgspec

from pgs.actors.messages.account import factors
from pgs.actors.messages.account.factors import EnrollTotp, Enrolment, VerifyTotp
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.secrets import HidesSecrets
from pgs.http.admin.authorization import AdminCall, change, locked
from pgs.http.admin.endpoints import admin_write
from pgs.http.admin.qr import qr_svg
from pgs.http.api.endpoint import Answer


class EnrolmentRecord(HidesSecrets, msgspec.Struct, frozen=True, rename="camel"):
    """A new authenticator's secret, shown once.

    It is given as text, as the URI that apps read, and as that URI's QR code in SVG.
    `replaces_pending`: whether it replaces an earlier secret that still waited for its first code.
    """

    SECRETS = frozenset({"secret", "otpauth_uri", "qr_svg"})

    secret: str
    otpauth_uri: str
    qr_svg: str
    replaces_pending: bool


class Code(HidesSecrets, msgspec.Struct, frozen=True):
    """The six digits that the authenticator shows."""

    SECRETS = frozenset({"code"})

    code: str


class SteppedUp(msgspec.Struct, frozen=True, rename="camel"):
    """The times at which the two step-up windows close, in epoch seconds."""

    step_up_until: int
    fresh_until: int


async def enrol(call: AdminCall) -> Answer:
    """Return a new authenticator's secret. The authenticator takes effect with its first code."""
    reply = await change(call, EnrollTotp)
    if isinstance(reply, Enrolment):
        picture = qr_svg(reply.otpauth_uri)
        return EnrolmentRecord(reply.secret, reply.otpauth_uri, picture, reply.replaces_pending)
    return await _refused(call, reply)


async def verify(call: AdminCall) -> Answer:
    """Open the step-up windows with a code; return when they close."""
    body: Code = call.body
    reply = await change(call, VerifyTotp, body.code)
    return (
        SteppedUp(reply.until, reply.fresh_until)
        if isinstance(reply, factors.SteppedUp)
        else await _refused(call, reply)
    )


async def _refused(call: AdminCall, reply: Refusal | BadRequest) -> Answer:
    if isinstance(reply, Refusal) and reply.reason == "step_up_locked":
        return await locked(call.services, call.principal.known, reply)
    return reply


ENDPOINTS = (
    admin_write(
        "POST",
        "totp/enroll",
        enrol,
        EnrolmentRecord,
        "Enrol an authenticator",
        errors=("step_up_locked",),
    ),
    admin_write(
        "POST",
        "totp/verify",
        verify,
        SteppedUp,
        "Step up with a code",
        request=Code,
        errors=("totp_not_enrolled", "step_up_locked", "invalid_code"),
        elsewhere=("totp_not_enrolled",),
    ),
)
