"""Switches accounts off and on. Switching off ends the account's seats and matches as no contest.

Deactivations and emergency stops call `switch_off`, which returns how many seats and matches it
ended. If a deactivation fails or the process dies, `close_switched_off` closes the rest.
`void_removed_games` ends the matches of games that are no longer installed.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Generic, TypeVar

import msgspec
import structlog
import trio
from outcome import Error, Value

from pgs.actors.kernel.mail import Command, Crashed, Interrupted, NotOwned, Overloaded
from pgs.actors.kernel.written import already_written
from pgs.actors.messages.account.command import AccountReply
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.seats import CloseMatches, CloseSeats
from pgs.actors.partners import PartnerActors, PartnerDirectory
from pgs.actors.parts import Parts
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.seats import EndReason
from pgs.storage import seats as rows
from pgs.storage.accounts import switched_off_with_open_play
from pgs.storage.bulk import read_in_bulk

PAGE = 50
"""Seats or matches closed in one transaction. Stakes of the same partner are handled between two
pages."""

log = structlog.get_logger("pgs.closing")


R = TypeVar("R")
T = TypeVar("T")


class SwitchedOff(msgspec.Struct, Generic[R], frozen=True):
    """The account actor's reply, and how many seats and matches were ended (0 after a refusal)."""

    reply: R
    ended: int


def _always() -> bool:
    return True


async def switch_off(
    partner: PartnerActors,
    mark: Command[R],
    end_reason: EndReason = "account_inactive",
    environments: Sequence[Environment] = ENVIRONMENTS,
) -> SwitchedOff[R]:
    """Switch play off and close what is open.

    `mark` is the command that is committed first: `SwitchAccount`, after which no new play starts,
    or `EmergencyStop`, after which no session token from before is valid. That stays so even if
    closing the open play fails. Such a failure raises `Interrupted` or `Crashed`; within a minute,
    `close_switched_off` or `finish_stops` closes what is still open.
    """

    def wanted() -> bool:  # an account that was switched on again keeps its open play
        return end_reason != "account_inactive" or _is_off(partner.parts, partner.partner_id)

    with partner.parts.closings.begun(partner.partner_id, environments):
        reply = await partner.account().ask(mark)
        if isinstance(reply, Refusal | BadRequest):
            return SwitchedOff(reply, 0)
        with already_written():
            ended = [
                await close_play(partner, environment, end_reason, wanted)
                for environment in environments
            ]
        return SwitchedOff(reply, sum(ended))


async def deactivate(partner: PartnerActors, command: SwitchAccount) -> SwitchedOff[AccountReply]:
    """Switch an account off and end its play, even if the caller is cancelled meanwhile."""
    return await carry_through(partner, lambda: switch_off(partner, command, "account_inactive"))


async def carry_through(partner: PartnerActors, work: Callable[[], Awaitable[T]]) -> T:
    """Return what `work` returns, or raise what it raises.

    `work` runs as a task of the actor system, so cancelling the caller does not stop it.
    """
    done = trio.Event()
    result: list[Value[T] | Error] = []

    async def run() -> None:
        try:
            result.append(Value(await work()))
        except Exception as error:
            result.append(Error(error))
        finally:
            done.set()

    if partner.given_up:
        raise NotOwned(partner.partner_id)
    partner.spawn(run)
    if partner.parts.system.stopping:
        raise Overloaded("stopping")
    await done.wait()
    if not result:
        raise Interrupted("stopped in the middle")
    return result[0].unwrap()


async def switch_on(partner: PartnerActors, mark: Command[R]) -> R:
    """Close play that an interrupted `switch_off` left open, then switch the account on.

    `mark` is the command that switches it on. Returns the account actor's reply.
    """
    with partner.parts.closings.begun(partner.partner_id, ENVIRONMENTS):
        if _is_off(partner.parts, partner.partner_id):
            for environment in ENVIRONMENTS:
                await close_play(partner, environment, "account_inactive")
        return await partner.account().ask(mark)


def _is_off(parts: Parts, partner_id: str) -> bool:
    account = parts.registry.account(partner_id)
    return account is not None and not account.active


async def close_play(
    partner: PartnerActors,
    environment: Environment,
    end_reason: EndReason,
    wanted: Callable[[], bool] = _always,
) -> int:
    """Close all open play in one environment; return how many seats and matches were ended.

    Call this after the commit of the mark (see `switch_off`). The seats actor skips seats and
    matches that have ended since a page was read. `wanted` is called before each page is read; when
    it returns False, the closing stops.
    """
    reader = partner.parts.database.reader
    # A seat that was accepted before the mark may not be written yet. The actor handles one message
    # at a time, so it answers this empty command only after that write.
    await partner.seats(environment).ask(CloseSeats((), end_reason))
    closed, last = 0, rows.OpenSeat()
    while wanted() and (
        seats := await rows.open_seats_after(reader, partner.partner_id, environment, last, PAGE)
    ):
        ids = tuple(seat.seat_id for seat in seats)
        reply = await partner.seats(environment).ask(CloseSeats(ids, end_reason))
        closed += reply.count
        last = seats[-1]
    after = ""
    while wanted() and (
        page := await rows.running_matches_after(
            reader, partner.partner_id, environment, after, PAGE
        )
    ):
        reply = await partner.seats(environment).ask(CloseMatches(tuple(page), end_reason))
        closed += reply.count
        after = page[-1]
    return closed


async def close_what_is_off(partner: PartnerActors, environment: Environment) -> None:
    """Close the play of an account that is off.

    Stops when the account is switched on, or when another closing of the play begins.
    """
    parts, partner_id = partner.parts, partner.partner_id

    def wanted() -> bool:
        return _is_off(parts, partner_id) and not parts.closings.under_way(partner_id, environment)

    if wanted():
        await close_play(partner, environment, "account_inactive", wanted)


async def close_switched_off(parts: Parts, directory: PartnerDirectory) -> None:
    """Close the open play of accounts that are off. Raises `StoreOutage`.

    `switch_off` closes the play of an account itself. This chore closes what `switch_off` left open
    after a crash, a failed write or a full mailbox.
    """

    async def close(partner: PartnerActors, environment: Environment) -> None:
        with parts.closings.finishing(partner.partner_id, environment):
            await close_what_is_off(partner, environment)

    for partner_id, environment in await read_in_bulk(parts.database, switched_off_with_open_play):
        partner = directory.owned(partner_id)
        if partner is not None and not parts.closings.is_finishing(partner_id, environment):
            partner.spawn(close, partner, environment)


async def void_removed_games(parts: Parts, directory: PartnerDirectory) -> None:
    """End the running matches of games that are not installed. Raises `StoreOutage`.

    If a write fails, a mailbox is full, the partner is degraded or another closing is under way,
    this run leaves the matches concerned to the next run. Waiting seats of a removed game can still
    be paired; a later run ends their matches.
    """
    for game_id in await read_in_bulk(parts.database, rows.running_games):
        if game_id not in parts.games:
            await _void(parts, directory, game_id)


async def _void(parts: Parts, directory: PartnerDirectory, game_id: str) -> None:
    last: rows.RunningMatch | None = None
    put_off: set[tuple[str, Environment]] = set()
    while page := await read_in_bulk(
        parts.database,
        partial(rows.running_matches_of_game, game_id=game_id, after=last, page_size=PAGE),
    ):
        for (partner_id, environment), matches in groupby(
            page, lambda match: (match.partner_id, match.environment)
        ):
            if (
                (partner_id, environment) in put_off
                or not directory.owns(partner_id)
                or parts.closings.under_way(partner_id, environment)
            ):
                continue
            command = CloseMatches(tuple(match.match_id for match in matches), "platform_void")
            try:
                await directory.partner(partner_id).seats(environment).ask(command)
            except (Overloaded, Crashed) as error:
                # Leave this partner's matches to the next run, so that other partners do not wait.
                put_off.add((partner_id, environment))
                parts.on_event("void_put_off")
                log.warning(
                    "void_put_off",
                    partner_id=partner_id,
                    environment=environment,
                    game_id=game_id,
                    why=str(error),
                )
        last = page[-1]
