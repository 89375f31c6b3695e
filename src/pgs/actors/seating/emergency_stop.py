"""The emergency stop of an environment.

The stop first commits a mark that invalidates every session token, then closes all open play. It
goes on even if the caller leaves. After a crash, `finish_stops` completes it.
"""

from typing import Final

import msgspec

from pgs.actors.kernel.written import already_written
from pgs.actors.messages.account.lifecycle import (
    EmergencyStop,
    StopFinished,
    StopMarked,
)
from pgs.actors.partners import PartnerActors, PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.seating.switching_off import carry_through, close_play, switch_off
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.storage.bulk import read_in_bulk
from pgs.storage.emergency_stops import find_stop, unfinished_stops

EMERGENCY: Final = "emergency_stop"  # the end reason in the rows of matches and seats


class Stopped(msgspec.Struct, frozen=True):
    """A completed emergency stop.

    `sessions_ended_at`: session tokens minted before this epoch second are invalid.
    `matches_ended`: how many seats and matches were ended.
    """

    environment: Environment
    sessions_ended_at: int
    matches_ended: int


async def emergency_stop(
    partner: PartnerActors, command: EmergencyStop
) -> Stopped | Refusal | BadRequest:
    """Stop an environment; return once everything that was open before is closed.

    Raises what asking an actor raises.
    """

    async def stop() -> Stopped | Refusal | BadRequest:
        environments = (command.environment,)
        with partner.parts.closings.begun(partner.partner_id, environments):
            off = await switch_off(partner, command, EMERGENCY, environments)
            if isinstance(reply := off.reply, StopMarked):
                with already_written():
                    await partner.account().ask(StopFinished(command.environment, reply.generation))
                return Stopped(command.environment, reply.at, off.ended)
            return reply

    return await carry_through(partner, stop)


async def finish_stops(parts: Parts, directory: PartnerDirectory) -> None:
    """Finish emergency stops that were cut short. Raises `StoreOutage`."""
    for partner_id, environment, generation in await read_in_bulk(parts.database, unfinished_stops):
        partner = directory.owned(partner_id)
        if partner is not None:
            partner.spawn(_finish, partner, environment, generation)


async def _finish(partner: PartnerActors, environment: Environment, generation: int) -> None:
    parts = partner.parts
    # The call that ordered the stop may be closing play now, or may have finished since the rows
    # were read. Seats that were taken after it finished must stay open.
    if parts.closings.under_way(partner.partner_id, environment):
        return
    if await find_stop(parts.database.reader, partner.partner_id, environment) != generation:
        return
    with parts.closings.begun(partner.partner_id, (environment,)):
        await close_play(partner, environment, EMERGENCY)
        await partner.account().ask(StopFinished(environment, generation))
