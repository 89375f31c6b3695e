"""Runs the service's background work. An error in one chore affects only that chore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, get_args

import msgspec
import trio

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.actors.kernel.restarts import RESTART_LIMIT, RestartCounter, RestartLimit
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.storage.transactions import StoreOutage, WriterFull

RunOutcome = Literal["done", "failed", "broke"]

EXPECTED = (StoreOutage, WriterFull, Overloaded, Crashed)
"""Errors that a chore may meet although it has no defect."""


class Chore(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of background work.

    `name`: its label in the log and the metrics.
    `work`: one run.
    `every_s`: the pause after each run, in seconds.
    `first_after_s`: when the first run comes, in seconds after the start.
    `wait`: for work that events trigger; each run begins when it returns.
    `failed`: the event that is logged and counted when a run ends in an expected error.
    `once`: it does not run again after its first success.
    `required`: the service is not ready before its first success.
    """

    name: str
    work: Callable[[Parts, PartnerDirectory], Awaitable[None]]
    every_s: float
    first_after_s: float = 0.0
    wait: Callable[[Parts], Awaitable[None]] | None = None
    failed: str = "chore_failed"
    once: bool = False
    required: bool = False


class ChoreRunner:
    """Runs chores side by side, and counts how their runs ended.

    After any error the chore runs again after its pause. An unexpected error also counts as a
    crash; after too many crashes the chore is degraded for the limit's cool-down.
    """

    def __init__(
        self,
        chores: Sequence[Chore],
        parts: Parts,
        directory: PartnerDirectory,
        limit: RestartLimit = RESTART_LIMIT,
    ) -> None:
        self._chores = chores
        self._parts = parts
        self._directory = directory
        self._limit = limit
        self._succeeded_at: dict[str, float] = {}  # trio's time
        self._idle: set[str] = set()  # chores that wait for something to do
        self._started_at = trio.current_time()
        self.required_have_run = trio.Event()
        self.runs: Counter[tuple[str, RunOutcome]] = Counter(
            {(chore.name, outcome): 0 for chore in chores for outcome in get_args(RunOutcome)}
        )

    def start(self, nursery: trio.Nursery) -> None:
        """Start every chore in a separate task."""
        for chore in self._chores:
            nursery.start_soon(self._run, chore, name=f"chore {chore.name}")

    def not_yet_run(self) -> list[str]:
        """Return the names of the required chores that have not succeeded yet."""
        return [
            chore.name
            for chore in self._chores
            if chore.required and chore.name not in self._succeeded_at
        ]

    def success_ages(self, now: float) -> dict[str, float]:
        """Return the seconds since each chore's last success, or since the start if it had none.

        The age of a chore that has nothing to do is 0.
        """
        return {
            chore.name: 0.0
            if chore.name in self._idle
            else now - self._succeeded_at.get(chore.name, self._started_at)
            for chore in self._chores
        }

    async def _run(self, chore: Chore) -> None:
        broken = RestartCounter(self._limit)
        await trio.sleep(chore.first_after_s)
        while True:
            outcome = await self._run_once(chore)
            if chore.once and outcome == "done":
                self._idle.add(chore.name)
                return
            pause_s = chore.every_s
            if outcome == "broke" and broken.crashed(trio.current_time()):
                pause_s = max(pause_s, self._limit.cool_down_s)
                self._parts.system.report("chore_degraded", chore=chore.name, seconds=pause_s)
            await trio.sleep(pause_s)

    async def _run_once(self, chore: Chore) -> RunOutcome:
        outcome: RunOutcome = "done"
        try:
            if chore.wait is not None:
                self._idle.add(chore.name)
                await chore.wait(self._parts)
            self._idle.discard(chore.name)
            await chore.work(self._parts, self._directory)
            self._succeeded_at[chore.name] = trio.current_time()
            if not self.not_yet_run():
                self.required_have_run.set()
        except EXPECTED as error:
            outcome = "failed"
            self._parts.system.report(chore.failed, error, chore=chore.name)
        except Exception as error:
            outcome = "broke"
            self._parts.system.report("chore_broke", error, chore=chore.name)
        self.runs[chore.name, outcome] += 1
        return outcome
