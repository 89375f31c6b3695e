"""The two settlements: the embedded one, and the server that the settings name."""

from collections.abc import Callable
from math import ceil

import trio

from pgs.actors.ports import SettlementPort
from pgs.actors.shared.circuit_breaker import Breaker
from pgs.actors.shared.settlement_asks import Asks
from pgs.domain.seats import SettlementSide

FIRST_CALLS = 32
"""Calls about new stakes and payouts that run at the same time. A server that takes 0.1 s for an
answer then decides some 300 a second."""

RETRY_CALLS = 16
"""Calls that repeat a request and run at the same time. They have their own slots: a backlog after
an outage must not keep new stakes waiting."""

WAITING_MAX = 256
"""Asks that may wait for a slot: this many first asks, and as many repeated ones. Further ones
would only run out of time; they are refused at once and made again later."""

PARKED_S = 600
"""Seconds until the service looks again at a stake or payout whose settlement server is no longer
in the settings. Only an operator can put the server back, with a restart."""


class CallLimit:
    """A bounded number of calls at the same time, and of asks that wait for a slot."""

    def __init__(self, calls: int) -> None:
        self.slots = trio.CapacityLimiter(calls)

    @property
    def is_full(self) -> bool:
        """Whether no further ask may wait."""
        return self.slots.statistics().tasks_waiting >= WAITING_MAX


class Settlements:
    """Who holds stakes, and whether the server answers.

    A new stake goes to the server if the settings name one, else to the embedded settlement.
    `on_call` is called after every call to the server, with its kind, its outcome and its seconds.
    """

    def __init__(
        self,
        embedded: SettlementPort,
        remote: SettlementPort | None,
        on_call: Callable[[str, str, float], None] = lambda kind, outcome, seconds: None,
    ) -> None:
        self.on_call = on_call
        self.asks = Asks()
        self.breaker = Breaker()
        self.first = CallLimit(FIRST_CALLS)
        self.again = CallLimit(RETRY_CALLS)
        self.side: SettlementSide = "embedded" if remote is None else "remote"
        self._ports: dict[SettlementSide, SettlementPort | None] = {
            "embedded": embedded,
            "remote": remote,
        }

    def port(self, side: SettlementSide) -> SettlementPort | None:
        """Return the settlement of a side; None for `remote` if the settings name no server."""
        return self._ports[side]

    def not_before(self, side: SettlementSide, now: int) -> int:
        """Return the epoch second before which it is useless to ask a side."""
        if self._ports[side] is None:
            return now + PARKED_S
        if side == "embedded":
            return now
        return now + ceil(self.breaker.wait_s(trio.current_time()))
