"""Closing a partner's play in one environment: every seat that waits and every match that runs ends without a contest."""

import structlog
import trio

from pgs.actors.house import Directory, House, Parts
from pgs.actors.messages import CloseMatches, CloseSeats
from pgs.domain.environments import Environment
from pgs.storage import seats as rows
from pgs.storage.accounts import switched_off_with_open_play
from pgs.storage.bulk import read_in_bulk
from pgs.storage.database import StoreOutage

PAGE = 50  # seats or matches in one transaction
LOOK_AGAIN_S = 60.0  # how soon a closing that broke half-way is taken up again

log = structlog.get_logger("pgs.closing")


async def close_play(house: House, environment: Environment, end_reason: str) -> int:
    """Return how many seats and matches were ended. Call it once the mark that forbids new ones has been committed.

    Pages through the rows by id; whatever is closed meanwhile by others is passed over by the seats actor.
    """
    reader = house.parts.database.reader
    # A seat that was decided on before the mark may still be on its way to disk. The actor answers this once it is there.
    await house.seats(environment).ask(CloseSeats((), end_reason))
    closed, after = 0, ""
    while page := rows.open_seats_after(reader, house.partner_id, environment, after, PAGE):
        closed += await house.seats(environment).ask(CloseSeats(tuple(page), end_reason))
        after = page[-1]
    after = ""
    while page := rows.running_matches_after(reader, house.partner_id, environment, after, PAGE):
        closed += await house.seats(environment).ask(CloseMatches(tuple(page), end_reason))
        after = page[-1]
    return closed


async def keep_closed(parts: Parts, directory: Directory) -> None:
    """Close what is open of accounts that are off, for ever: the mark in rows is the intent, whoever was to act on it.

    The first round, at the start, finishes what a crash cut short; the later ones what a failed write or a full mailbox did.
    """
    under_way: set[tuple[str, Environment]] = set()

    async def close(partner_id: str, environment: Environment) -> None:
        try:
            account = parts.registry.account(partner_id)
            if account is not None and not account.active:
                await close_play(directory.house(partner_id), environment, "account_inactive")
        finally:
            under_way.discard((partner_id, environment))

    while True:
        try:
            for play in await read_in_bulk(parts.database, switched_off_with_open_play):
                if play not in under_way:
                    under_way.add(play)
                    parts.system.spawn(close, *play)
        except StoreOutage:
            parts.on_event("closing_unreadable")
            log.exception("closing_unreadable")
        await trio.sleep(LOOK_AGAIN_S)
