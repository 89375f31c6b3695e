"""One call to the settlement server, bounded so that a bad server does no harm.

The call waits for a slot, the breaker may hold it back, and it ends within a bounded time. The time
and the outcome of each call are measured and remembered. A call without an answer is also logged.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec
import structlog
import trio

from pgs.actors.parts import Parts
from pgs.actors.ports import ChargeAnswer, UndefinedAnswer

ANSWER_S = 10.0
"""Seconds that settlement may take to answer a charge or a payout. After that the seat stays
pending and its call is answered with 503, or the payout stays due."""

SLOT_WAIT_S = 2.0
"""Seconds of `ANSWER_S` that an ask may wait for a slot. The call itself then still has 8 s, so if
it gets no answer in time, that is the server's fault."""

TOO_SLOW = f"no answer within {ANSWER_S:.0f} seconds"

log = structlog.get_logger("pgs.settlement")


class Question(msgspec.Struct, frozen=True):
    """What is asked. `request` makes the call; `names` are for the log.

    `again`: settlement was asked before, and nobody waits for the answer.
    """

    kind: Literal["charge", "payout"]
    partner_id: str
    item_id: str
    request: Callable[[], Awaitable[ChargeAnswer]]
    again: bool
    names: dict[str, str]


async def ask(parts: Parts, question: Question) -> ChargeAnswer | None:
    """Return settlement's answer; None if it was not asked or gave no valid answer in time.

    Raises what the port raises, except `UndefinedAnswer`.
    """
    settlements, deadline = parts.settlements, trio.current_time() + ANSWER_S
    limit = settlements.again if question.again else settlements.first
    has_slot = False
    if not (limit.is_full or settlements.breaker.refuses(trio.current_time())):
        with trio.move_on_after(SLOT_WAIT_S):
            await limit.slots.acquire()
            has_slot = True
    if not has_slot:
        parts.on_event("settlement_held_back")
        return None
    try:
        # The breaker may have opened while this call waited for its slot.
        if not settlements.breaker.begin(question.item_id, trio.current_time()):
            parts.on_event("settlement_held_back")
            return None
        return await _call(parts, question, deadline)
    finally:
        limit.slots.release()


async def _call(parts: Parts, question: Question, deadline: float) -> ChargeAnswer | None:
    settlements, began = parts.settlements, trio.current_time()
    answer: ChargeAnswer | None = None
    why = TOO_SLOW
    try:
        with trio.move_on_at(deadline):
            answer = await question.request()
    except UndefinedAnswer as error:
        why = str(error)
    except BaseException:  # a bug of the port, or this task was cancelled
        settlements.breaker.abandoned(question.item_id)
        raise
    seconds = trio.current_time() - began
    settlements.on_call(question.kind, answer or "unanswered", seconds)
    settlements.asks.note(
        question.partner_id, question.item_id, answer, answer or why, parts.clock.now()
    )
    if answer is None:
        _unanswered(parts, question, why)
    elif settlements.breaker.answered():
        parts.on_event("settlement_calls_resumed")
        log.info("settlement_calls_resumed")
    return answer


def _unanswered(parts: Parts, question: Question, why: str) -> None:
    tries = parts.settlements.asks.find(question.partner_id, question.item_id).tries
    parts.on_event("settlement_unanswered")
    log.warning(
        "settlement_unanswered",
        partner_id=question.partner_id,
        error=why,
        tries=tries,
        **question.names,
    )
    stopped_s = parts.settlements.breaker.unanswered(question.item_id, trio.current_time())
    if stopped_s is not None:
        parts.on_event("settlement_calls_stopped")
        log.warning("settlement_calls_stopped", seconds=stopped_s, error=why)
