"""`POST emergency-stop`: ends every session of an environment immediately."""

import msgspec

from pgs.actors.messages.account.lifecycle import EmergencyStop
from pgs.actors.seating.emergency_stop import Stopped, emergency_stop
from pgs.domain.environments import Environment
from pgs.http.admin.authorization import AdminCall, build
from pgs.http.admin.endpoints import admin_write
from pgs.http.api.endpoint import Answer


class StopRequest(msgspec.Struct, frozen=True):
    """The environment whose sessions end."""

    environment: Environment


class StopRecord(msgspec.Struct, frozen=True, rename="camel"):
    """What an emergency stop did.

    No token issued before `sessions_ended_at`, in epoch seconds, is accepted any more.
    """

    environment: str
    sessions_ended_at: int
    matches_ended: int


async def stop_sessions(call: AdminCall) -> Answer:
    """Invalidate every session token of an environment, end its open play and refund the stakes."""
    body: StopRequest = call.body
    command = build(call, EmergencyStop, body.environment)
    reply = await emergency_stop(
        call.services.directory.partner(call.principal.account.partner_id), command
    )
    return (
        StopRecord(reply.environment, reply.sessions_ended_at, reply.matches_ended)
        if isinstance(reply, Stopped)
        else reply
    )


ENDPOINTS = (
    admin_write(
        "POST",
        "emergency-stop",
        stop_sessions,
        StopRecord,
        "End every session of an environment",
        request=StopRequest,
    ),
)
