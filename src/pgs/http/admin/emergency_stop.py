"""`POST emergency-stop`: every session of an environment ends at once."""

import msgspec

from pgs.actors.messages.account.lifecycle import EmergencyStop
from pgs.actors.seating.stopping import Stopped, emergency_stop
from pgs.domain.environments import Environment
from pgs.http.admin.gate import AdminCall, build
from pgs.http.api.endpoint import Answer, Endpoint


class StopRequest(msgspec.Struct, frozen=True):
    """The environment whose sessions end."""

    environment: Environment


class StopRecord(msgspec.Struct, frozen=True, rename="camel"):
    """What an emergency stop did. `sessions_ended_at` in epoch seconds: no token issued before it is accepted any more."""

    environment: str
    sessions_ended_at: int
    matches_ended: int


async def stop_sessions(call: AdminCall) -> Answer:
    """Kill every session token of an environment and end its open play, stakes back."""
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
    Endpoint(
        method="POST",
        path="/partner/admin/emergency-stop",
        handler=stop_sessions,
        request=StopRequest,
        response=StopRecord,
        credential="identity",
        errors=("partner_changed",),
        summary="End every session of an environment",
    ),
)
