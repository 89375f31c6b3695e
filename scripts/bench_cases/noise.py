"""How long the seats of a quiet partner take beside a partner that calls without pause."""

import multiprocessing
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event
from typing import Any

from bench_cases import servers
from bench_cases.caller import Outcome, call
from bench_cases.setting import Failed, Setting, seats
from rich.progress import Progress

from pgs.operator.ready_partners import ReadyPartner

TITLE = "A noisy partner beside a quiet one"
RATE = 50.0  # seats a second of the quiet partner, below the 80 that its bucket allows
SECONDS = 5.0  # of a round
NOISY_CONNECTIONS = 32
FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Noise:
    """The quiet partner's seats alone and beside the noisy partner, in microseconds.

    `refused` and `answered`: calls of the noisy partner with status 429, and all of them.
    """

    alone: list[Outcome]
    beside: list[Outcome]
    refused: int
    answered: int


def measure(setting: Setting, seconds: float, progress: Progress) -> Noise:
    """Return how long a quiet partner's seats took. Raises `Failed` and `NotStarted`.

    Rounds with and without the noisy partner take turns.
    """
    quiet, noisy = setting.partners[:2]
    server = servers.product(setting.folder)
    task = progress.add_task("Noise", total=2 * setting.rounds)
    alone: list[Outcome] = []
    beside: list[Outcome] = []
    noise: list[dict[int, int]] = []

    def take_seats() -> Outcome:
        run = secrets.token_hex(4)
        requests = seats(server.address, [quiet], int(RATE * seconds), run)
        outcome = call(server.address, requests, connections=8, rate=RATE)
        if outcome.bad():
            raise Failed(f"the quiet partner was answered with {outcome.statuses}")
        progress.advance(task)
        return outcome

    try:
        take_seats()  # warms up
        for _ in range(setting.rounds):
            alone.append(take_seats())
            # A process of its own, so that the two callers do not wait for each other.
            over, told = FORK.Event(), FORK.SimpleQueue()
            process = FORK.Process(target=_make_noise, args=(server.address, noisy, over, told))
            process.start()
            try:
                beside.append(take_seats())
            finally:
                over.set()
                noise.append(told.get())
                process.join()
    finally:
        server.stop()
    answered = sum(sum(statuses.values()) for statuses in noise)
    return Noise(alone, beside, sum(statuses.get(429, 0) for statuses in noise), answered)


def _make_noise(
    address: tuple[str, int], partner: ReadyPartner, over: Event, told: "SimpleQueue[Any]"
) -> None:
    """Take seats as fast as they are answered, until `over`; tell how many got which status."""

    def until_over() -> Iterator[bytes]:
        while not over.is_set():
            yield from seats(address, [partner], 100, secrets.token_hex(4))

    told.put(call(address, until_over(), connections=NOISY_CONNECTIONS).statuses)
