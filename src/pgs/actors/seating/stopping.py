"""What an admin stops: an environment in an emergency, or the whole account. The mark comes first, then whatever is open is closed.

Either goes on to its end when its caller has left. What a crash cuts short is taken up again: an emergency stop by `finish_stops`, an
account that is off by `pgs.actors.seating.closing`.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
import trio
from outcome import Error, Value

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.actors.messages.account.command import AccountReply
from pgs.actors.messages.account.lifecycle import (
    EmergencyStop,
    StopFinished,
    StopMarked,
    SwitchAccount,
)
from pgs.actors.partners import PartnerActors, PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.seating.closing import close_play, switch_off
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.storage.bulk import read_in_bulk
from pgs.storage.stops import find_stop, unfinished_stops

EMERGENCY = "emergency_stop"  # why a match ended, as its rows say

T = TypeVar("T")


class Stopped(msgspec.Struct, frozen=True):
    """An emergency stop that is through: since when older tokens are dead, in epoch seconds, and how many matches it ended."""

    environment: Environment
    sessions_ended_at: int
    matches_ended: int


async def emergency_stop(
    partner: PartnerActors, command: EmergencyStop
) -> Stopped | Refusal | BadRequest:
    """Return what the stop came to, once nothing of before is open any more. Raises what asking an actor raises."""

    async def stop() -> Stopped | Refusal | BadRequest:
        environments = (command.environment,)
        with partner.parts.closings.begun(partner.partner_id, environments):
            reply, ended = await switch_off(partner, command, EMERGENCY, environments)
            if isinstance(reply, StopMarked):
                await partner.account().ask(StopFinished(command.environment, reply.generation))
                return Stopped(command.environment, reply.at, ended)
            return reply

    return await _apart(partner, stop)


async def deactivate(partner: PartnerActors, command: SwitchAccount) -> tuple[AccountReply, int]:
    """Return the reply to a command that switches the account off, and how many seats and matches were ended."""
    return await _apart(partner, lambda: switch_off(partner, command, "account_inactive"))


async def finish_stops(parts: Parts, directory: PartnerDirectory) -> None:
    """Finish emergency stops that were cut short. Raises `StoreOutage`."""
    for partner_id, environment, generation in await read_in_bulk(parts.database, unfinished_stops):
        parts.system.spawn(_finish, directory.partner(partner_id), environment, generation)


async def _finish(partner: PartnerActors, environment: Environment, generation: int) -> None:
    parts = partner.parts
    # Whoever ordered it may be at it, or be through since the rows were read: what was taken after that must be left alone.
    if parts.closings.under_way(partner.partner_id, environment):
        return
    if await find_stop(parts.database.reader, partner.partner_id, environment) != generation:
        return
    with parts.closings.begun(partner.partner_id, (environment,)):
        await close_play(partner, environment, EMERGENCY)
        await partner.account().ask(StopFinished(environment, generation))


async def _apart(partner: PartnerActors, work: Callable[[], Awaitable[T]]) -> T:
    """Return what `work` returns, or raise what it raises. It runs as a task of the system, which outlives a caller who is cancelled."""
    done = trio.Event()
    result: list[Value[T] | Error] = []

    async def run() -> None:
        try:
            result.append(Value(await work()))
        except Exception as error:
            result.append(Error(error))
        finally:
            done.set()

    partner.parts.system.spawn(run)
    if partner.parts.system.stopping:
        raise Overloaded("stopping")
    await done.wait()
    if not result:
        raise Crashed("stopped in the middle")
    return result[0].unwrap()
