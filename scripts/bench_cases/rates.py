"""How many seats a second a server gives out while it is called without pause."""

import itertools
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench_cases import servers
from bench_cases.caller import call
from bench_cases.reservations import COLYSEUS, end_rooms, reservations
from bench_cases.servers import Server
from bench_cases.setting import Failed, Setting, prepare, seats
from rich.progress import Progress

TITLE = "Seats a second"
PARTNERS = 200  # enough that no partner's bucket is empty at the highest rate
ROUNDS = 3  # at most: a round takes two minutes
SECONDS = 30.0  # twice the time for which Colyseus keeps a room whose players do not connect
WINDOWS = 15  # equal parts of a run
LATE = 5  # the windows at the end of a run, whose rate counts as the one that lasts
# With 32 connections, a server that commits calls together waits for callers, and the rate says how
# long a call takes and not how many a server can answer.
CONNECTIONS = 128


@dataclass(frozen=True)
class Run:
    """What one server gave out in one run.

    `rates`: seats a second, window by window. `cpu_us`: processor time of a seat in microseconds.
    """

    rates: list[float]
    cpu_us: float

    def first(self) -> float:
        """Return the rate of the first window, in which the server has little to remember."""
        return self.rates[0]

    def late(self) -> float:
        """Return the median rate of the last `LATE` windows."""
        return median(self.rates[-LATE:])


def measure(
    folder: Path, rounds: int, calls: int, seconds: float, progress: Progress
) -> tuple[dict[str, list[Run]], str | None]:
    """Return each server's runs, and why Colyseus is missing among them, or None.

    A round runs one server after the other, and the order rotates by one. In each round every
    server is new and has stored nothing; `calls` calls warm it up. Raises `Failed`, `NoAnswers` and
    `NotStarted`.
    """
    servers.install_peer()
    missing = servers.install_colyseus()
    turns: list[Callable[[Path], tuple[str, Run]]] = [
        lambda place: _paid(place, calls, seconds, servers.product),
        lambda place: _paid(place, calls, seconds, _peer("group")),
        lambda place: _paid(place, calls, seconds, _peer("call")),
    ]
    if missing is None:
        turns.append(lambda place: (COLYSEUS, reserved(place, calls, seconds)))
    found: dict[str, list[Run]] = {}
    task = progress.add_task("Rates", total=rounds * len(turns))
    for number in range(rounds):
        first = number % len(turns)
        for place, take in enumerate(turns[first:] + turns[:first]):
            own = folder / f"{number}-{place}"
            own.mkdir()
            name, run = take(own)
            shutil.rmtree(own)  # so that its pages are not written to the disk during the next run
            found.setdefault(name, []).append(run)
            progress.advance(task)
    return found, missing


def _peer(commit: str) -> Callable[[Path], Server]:
    return lambda folder: servers.peer(folder, folder / "keys.json", commit)


def _paid(
    folder: Path, calls: int, seconds: float, start: Callable[[Path], Server]
) -> tuple[str, Run]:
    setting = prepare(folder, PARTNERS, 1, calls)
    server = start(folder)
    try:
        _answer(server, itertools.islice(_seats(setting, server), calls))
        return server.name, _run(server, _seats(setting, server), seconds)
    finally:
        server.stop()


def reserved(folder: Path, calls: int, seconds: float) -> Run:
    """Return what a new Colyseus server gave out in a run; it is warm and begins without rooms."""
    server = servers.colyseus(folder)
    try:
        _answer(server, itertools.islice(reservations(server), calls))
        end_rooms(server)
        return _run(server, reservations(server), seconds)
    finally:
        server.stop()


def _seats(setting: Setting, server: Server) -> Iterator[bytes]:
    while True:
        run = secrets.token_hex(4)
        yield from seats(server.address, setting.partners, setting.calls, run)


def _answer(server: Server, requests: Iterator[bytes]) -> None:
    outcome = call(server.address, requests, connections=CONNECTIONS)
    if outcome.bad():
        raise Failed(f"{server.name} answered {outcome.statuses}")


def _run(server: Server, requests: Iterator[bytes], seconds: float) -> Run:
    """Call a server for some seconds, and return what it gave out."""
    window_s = seconds / WINDOWS
    # One more window for the answers that come after the last request.
    counts = [0] * (WINDOWS + 1)
    begun_cpu, began = server.cpu_s(), time.perf_counter()

    def count(_: int, __: bytes) -> None:
        counts[min(WINDOWS, int((time.perf_counter() - began) / window_s))] += 1

    def in_time() -> Iterator[bytes]:
        while time.perf_counter() < began + seconds:
            yield next(requests)

    outcome = call(server.address, in_time(), connections=CONNECTIONS, check=count)
    if outcome.bad():
        raise Failed(f"{server.name} answered {outcome.statuses}")
    cpu_us = (server.cpu_s() - begun_cpu) / outcome.answers * 1e6
    return Run([number / window_s for number in counts[:WINDOWS]], cpu_us)
