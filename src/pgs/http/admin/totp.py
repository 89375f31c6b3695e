"""The caller's own authenticator: enrolling one, and stepping up with a code of it."""

import msgspec

from pgs.actors.messages.account import factors
from pgs.actors.messages.account.factors import EnrollTotp, Enrolment, VerifyTotp
from pgs.domain.errors import BadRequest, Refusal
from pgs.http.admin.gate import AdminCall, change, locked
from pgs.http.admin.qr import qr_svg
from pgs.http.api.endpoint import Answer, Endpoint


class EnrolmentRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A new authenticator's secret, shown once: as text, as the URI that apps read, and as that URI's QR code, an SVG document."""

    secret: str
    otpauth_uri: str
    qr_svg: str


class Code(msgspec.Struct, frozen=True):
    """The six digits that the authenticator shows."""

    code: str


class SteppedUp(msgspec.Struct, frozen=True, rename="camel"):
    """Until when the windows are open, in epoch seconds."""

    step_up_until: int
    fresh_until: int


async def enrol(call: AdminCall) -> Answer:
    """Begin a new authenticator; it is in force with its first code."""
    reply = await change(call, EnrollTotp)
    if isinstance(reply, Enrolment):
        return EnrolmentRecord(reply.secret, reply.otpauth_uri, qr_svg(reply.otpauth_uri))
    return await _refused(call, reply)


async def verify(call: AdminCall) -> Answer:
    """Open the step-up window with a code."""
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
    Endpoint(
        method="POST",
        path="/partner/admin/totp/enroll",
        handler=enrol,
        response=EnrolmentRecord,
        credential="identity",
        errors=("step_up_locked", "partner_changed"),
        summary="Enrol an authenticator",
    ),
    Endpoint(
        method="POST",
        path="/partner/admin/totp/verify",
        handler=verify,
        request=Code,
        response=SteppedUp,
        credential="identity",
        elsewhere=("totp_not_enrolled",),
        errors=("totp_not_enrolled", "step_up_locked", "invalid_code", "partner_changed"),
        summary="Step up with a code",
    ),
)
