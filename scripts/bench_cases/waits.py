"""How long seats wait: at half the highest rate, and in a burst of one partner."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench_cases import servers
from bench_cases.caller import Outcome, call
from bench_cases.setting import Failed, Setting, seats
from rich.progress import Progress

from pgs.operator.ready_partners import ReadyPartner

TITLE = "How long a seat takes"
PARTNERS = 200
BURST = 300  # seats in one burst: what a partner's bucket holds
# How many pairs of runs: the first run at the highest rate, the second at half of that rate. A run
# takes about a second, and the p99 of so short a run depends on what else the machine does then.
PAIRS = 3


@dataclass(frozen=True)
class Waits:
    """The highest rates of seats a second, the runs at half of them, and the bursts' last answers.

    `half`: runs at half the rates of `highest`, in the same order. `bursts_s`: seconds from the
    first request of a burst until its last answer, burst by burst.
    """

    highest: list[float]
    half: list[Outcome]
    bursts_s: list[float]

    def half_us(self, share: float) -> float:
        """Return the median over the runs of a percentile of the times at half the rate."""
        return float(median(one.times_us.get_value_at_percentile(share) for one in self.half))


def measure(setting: Setting, progress: Progress) -> Waits:
    """Return how long seats took. Raises `Failed`, `NoAnswers` and `NotStarted`."""
    server = servers.product(setting.folder)
    task = progress.add_task("Waits", total=setting.rounds + 2 * PAIRS)

    def run(count: int, partners: Sequence[ReadyPartner], **how: float) -> Outcome:
        ready = list(seats(server.address, partners, count, secrets.token_hex(4)))
        connections = int(how.pop("connections", setting.connections))
        outcome = call(server.address, iter(ready), connections=connections, rate=how.get("rate"))
        if outcome.bad():
            raise Failed(f"seats were answered with {outcome.statuses}")
        return outcome

    try:
        run(setting.calls, setting.partners)  # warms up
        highest, half = [], []
        for _ in range(PAIRS):
            full = run(setting.calls, setting.partners)
            highest.append(full.answers / full.seconds)
            progress.advance(task)
            half.append(run(setting.calls, setting.partners, rate=highest[-1] / 2))
            progress.advance(task)
        bursts = []
        for number in range(setting.rounds):
            one = [setting.partners[number % len(setting.partners)]]
            bursts.append(run(BURST, one, connections=BURST).last_s)
            progress.advance(task)
    finally:
        server.stop()
    return Waits(highest, half, bursts)
