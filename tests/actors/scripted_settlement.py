"""A settlement that answers as a test's script says."""

from collections import defaultdict
from typing import Literal

import msgspec
import trio

from pgs.actors.ports import ChargeAnswer, UndefinedAnswer
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat

Answer = Literal["confirmed", "pending", "declined", "unpublished", "broken", "hang"]


class Late(msgspec.Struct, frozen=True):
    """An answer that comes after so many seconds."""

    after_s: float
    answer: Answer


Script = dict[str, list[Answer | Late]]


class ScriptedSettlement:
    """A remote settlement with a list of answers for each charge and payout.

    It gives the answers of a list in order, and repeats the last one from then on. A charge or
    payout without a list is confirmed.
    """

    instant = False

    def __init__(self, of_charge: Script | None = None, of_payout: Script | None = None) -> None:
        self.of_charge = of_charge or {}  # by idempotency key
        self.of_payout = of_payout or {}  # by player
        # When each charge was asked for, and its idempotency key.
        self.asked: list[tuple[float, str]] = []
        self.charged: dict[str, int] = {}  # seat id → US cents
        self.paid: dict[tuple[str, str, str], int] = {}  # match, seat, kind → US cents
        self.payouts_asked: dict[tuple[str, str], int] = defaultdict(int)

    async def charge(self, seat: Seat) -> ChargeAnswer:
        self.asked.append((trio.current_time(), seat.idempotency_key))
        answer = await _next_answer(self.of_charge.get(seat.idempotency_key, ["confirmed"]))
        if answer == "confirmed":
            self.charged[seat.seat_id] = seat.stake_usd_cents
        return answer

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        self.payouts_asked[match_id, payout.seat_id] += 1
        answer = await _next_answer(self.of_payout.get(payout.player_id, ["confirmed"]))
        if answer == "confirmed":
            self.paid[match_id, payout.seat_id, payout.kind] = payout.amount_usd_cents
        return answer


async def _next_answer(answers: list[Answer | Late]) -> ChargeAnswer:
    told = answers.pop(0) if len(answers) > 1 else answers[0]
    if isinstance(told, Late):
        await trio.sleep(told.after_s)
        told = told.answer
    if told == "hang":
        await trio.sleep_forever()
    elif told == "unpublished":
        raise UndefinedAnswer("502")
    elif told == "broken":
        raise RuntimeError("a fault of the port itself")
    else:
        return told
    raise AssertionError
