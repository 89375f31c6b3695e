"""How long seats wait: at half the highest rate, and in a burst of one partner."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from bench_cases import servers
from bench_cases.caller import Outcome, call
from bench_cases.launch import Failed
from bench_cases.setting import Setting, seats
from rich.progress import Progress

from pgs.operator.ready_partners import ReadyPartner

TITLE = "How long a seat takes"
PARTNERS = 200
BURST = 300  # seats in one burst: what a partner's bucket holds


@dataclass(frozen=True)
class Waits:
    """The highest rate of seats a second, the run at half of it, and the last answers of bursts.

    `bursts_s`: seconds from the first request of a burst until its last answer, burst by burst.
    """

    highest: float
    half: Outcome
    bursts_s: list[float]


def measure(setting: Setting, progress: Progress) -> Waits:
    """Return how long seats took. Raises `Failed`, `NoAnswers` and `NotStarted`."""
    server = servers.product(setting.folder)
    task = progress.add_task("Waits", total=setting.rounds + 2)

    def run(count: int, partners: Sequence[ReadyPartner], **how: float) -> Outcome:
        ready = list(seats(server.address, partners, count, secrets.token_hex(4)))
        connections = int(how.pop("connections", setting.connections))
        outcome = call(server.address, iter(ready), connections=connections, rate=how.get("rate"))
        if outcome.bad():
            raise Failed(f"seats were answered with {outcome.statuses}")
        return outcome

    try:
        run(setting.calls, setting.partners)
        full = run(setting.calls, setting.partners)
        highest = full.answers / full.seconds
        progress.advance(task)
        half = run(setting.calls, setting.partners, rate=highest / 2)
        progress.advance(task)
        bursts = []
        for number in range(setting.rounds):
            one = [setting.partners[number % len(setting.partners)]]
            bursts.append(run(BURST, one, connections=BURST).last_s)
            progress.advance(task)
    finally:
        server.stop()
    return Waits(highest, half, bursts)
