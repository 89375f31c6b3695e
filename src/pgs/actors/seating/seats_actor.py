"""The seats actor: one partner's seats and matches in one environment, one message at a time."""

from collections.abc import Mapping
from typing import ClassVar

from pgs.actors.kernel.dispatch import Handler
from pgs.actors.kernel.mail import Message
from pgs.actors.messages.seats import (
    AskChargeNow,
    AskPayoutsNow,
    CancelSeat,
    ChargeAnswered,
    CloseMatches,
    CloseSeats,
    DecideMatch,
    EndPlay,
    FinaliseDays,
    MatchDue,
    PaidOut,
    ResolveCharge,
    ResolvePayout,
    SeatDue,
    SeatTogether,
    StakeSeat,
    Wave,
)
from pgs.actors.seating.due import match_due, seat_due
from pgs.actors.seating.ending import (
    cancel_seat,
    close_matches,
    close_seats,
    decide_match,
    end_play,
)
from pgs.actors.seating.final_days import finalise_days
from pgs.actors.seating.payouts import paid_out
from pgs.actors.seating.resolving import (
    ask_charge_now,
    ask_payouts_now,
    resolve_charge,
    resolve_payout,
)
from pgs.actors.seating.seats_state import SeatsState
from pgs.actors.seating.staking import charge_answered, stake_seat
from pgs.actors.seating.two_seats import seat_together
from pgs.actors.seating.waves import pair_in_wave


class SeatsActor(SeatsState):
    """Each message has one handler: a function that takes the actor, the message and its envelope.

    A handler reads the rows that it needs, plans what follows, commits the plan, and then asks
    settlement for the money that has become due.
    """

    HANDLERS: ClassVar[Mapping[type[Message], Handler]] = {
        StakeSeat: stake_seat,
        SeatTogether: seat_together,
        ChargeAnswered: charge_answered,
        Wave: pair_in_wave,
        DecideMatch: decide_match,
        EndPlay: end_play,
        FinaliseDays: finalise_days,
        CancelSeat: cancel_seat,
        CloseSeats: close_seats,
        CloseMatches: close_matches,
        PaidOut: paid_out,
        SeatDue: seat_due,
        MatchDue: match_due,
        AskChargeNow: ask_charge_now,
        AskPayoutsNow: ask_payouts_now,
        ResolveCharge: resolve_charge,
        ResolvePayout: resolve_payout,
    }
