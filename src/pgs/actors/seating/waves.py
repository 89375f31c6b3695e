"""Waves: once a second the seats that wait in live are paired, one page in each transaction."""

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.seats import NextWave, Wave
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.seating.pulse import WAVE_S
from pgs.actors.seating.seats_state import SeatsState
from pgs.domain import ids
from pgs.domain.first_moves import moves_first
from pgs.domain.live_pairing import explain
from pgs.storage.bulk import read_in_bulk
from pgs.storage.ratings import partners_with_seats_to_pair


async def pair_in_wave(seats: SeatsState, command: Wave, _: Envelope) -> NextWave:
    """Commit the next page of pairs; return in how many seconds the pulse must ask again."""
    if command.pulse is None or command.pulse is not seats.pulse:
        # Without a pulse, the command only opens the actor. A pulse from before a restart must end.
        return NextWave(None)
    if seats.active_account is not None:  # if it is off, its seats get closed instead
        await _commit_next_pairs(seats)
        if seats.lobby.unfinished:
            return NextWave(0.0)
    if seats.lobby.crowded:
        return NextWave(WAVE_S)
    seats.pulse = None
    return NextWave(None)


async def _commit_next_pairs(seats: SeatsState) -> None:
    plan = seats.plan()
    for pair in await seats.lobby.next_pairs(plan.now):
        older, newer = pair.older.seat, pair.newer.seat
        lot = seats.parts.rng.bytes(1)[0]
        counts = await seats.first_moves(older), await seats.first_moves(newer)
        first, second = (older, newer) if moves_first(*counts, lot) else (newer, older)
        explanation = explain(pair, plan.now, first.player_id)
        started = plan.start(first, second, seats.new_id(ids.MATCH, plan), explanation)
        plan.count_first_moves(started)
        by_id = {seat.seat_id: seat for seat in started.seats}
        for was in (older, newer):
            plan.save(was, by_id[was.seat_id])
    await seats.commit(plan)


async def wake_lobbies(parts: Parts, directory: PartnerDirectory) -> None:
    """Open the seats actor of every partner with live seats to pair. Raises `StoreOutage`.

    This runs after the start and when the node takes shards over, because a seats actor that is not
    open starts no waves.
    """
    for partner_id in await read_in_bulk(parts.database, partners_with_seats_to_pair):
        partner = directory.owned(partner_id)
        if partner is not None:
            partner.seats("live").tell(Wave(None))
