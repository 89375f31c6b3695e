"""Makes days final. The figures of a final day never change again."""

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.seats import FinalDay, FinaliseDays
from pgs.actors.seating.seats_state import SeatsState
from pgs.domain.days import last_final_day


async def finalise_days(seats: SeatsState, _: FinaliseDays, __: Envelope) -> FinalDay:
    """Make every day final that can be final; return the last final day."""
    last = last_final_day(seats.parts.clock.now(), await seats.first_open_day())
    if last > seats.final_day:
        plan = seats.plan()
        plan.make_final(last)
        await seats.commit(plan)
    return FinalDay(seats.final_day)
