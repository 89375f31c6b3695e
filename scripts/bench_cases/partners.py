"""What a launch costs with one partner, and with very many."""

import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path

import trio
from bench_cases import servers
from bench_cases.caller import call
from bench_cases.launch import mints
from bench_cases.servers import Server
from bench_cases.setting import Failed, Setting, prepare, seats
from rich.progress import Progress

from pgs.actors.messages.account.settings import SetRate
from pgs.app import open_core
from pgs.config import Config
from pgs.domain.members import PLATFORM
from pgs.domain.token_buckets import BUCKET_MAX

TITLE = "One partner, and ten thousand"
NUMBERS = (1, 100, 10_000)
# Calls that a partner's bucket holds. If the launches of all rounds, of two calls each, need more
# calls of one partner, every partner gets a larger bucket.
WIDE = 300


@dataclass
class Size:
    """What a service with that many partners used: memory in MB, times of calls in microseconds.

    `start_s`: seconds from the start of the process until its port answers.
    """

    partners: int
    start_s: float = 0.0
    idle_mb: float = 0.0
    used_mb: float = 0.0
    mint: list[float] = field(default_factory=list)
    seat: list[float] = field(default_factory=list)


def measure(
    folder: Path, numbers: tuple[int, ...], rounds: int, calls: int, progress: Progress
) -> list[Size]:
    """Return what each number of partners used. Raises `Failed`, `NoAnswers` and `NotStarted`.

    One service runs for each number, and each round measures them one after the other.
    """
    task = progress.add_task("Partners", total=len(numbers) * (rounds + 1))
    running: list[tuple[Size, Setting, Server]] = []
    try:
        for number in numbers:
            place = folder / str(number)
            place.mkdir()
            setting = prepare(place, number, rounds, calls)
            if (rounds + 1) * calls > WIDE * number // 2:
                trio.run(_widen, setting)
            began = time.perf_counter()
            server = servers.product(place)
            size = Size(number, time.perf_counter() - began, server.memory_kb() / 1024)
            running.append((size, setting, server))
        for number in range(-1, rounds):  # the first round warms up
            for size, setting, server in running:
                mint, seat = _launches(setting, server)
                if number >= 0:
                    size.mint.append(mint)
                    size.seat.append(seat)
                progress.advance(task)
        for size, _, server in running:
            size.used_mb = server.memory_kb() / 1024
    finally:
        for _, _, server in running:
            server.stop()
    return [size for size, _, _ in running]


async def _widen(setting: Setting) -> None:
    """Let the partners make as many calls as they like."""
    async with open_core(Config(data_dir=setting.folder / "data")) as core:
        for partner in setting.partners:
            account = core.directory.partner(partner.partner_id).account()
            await account.ask(SetRate(PLATFORM, BUCKET_MAX, BUCKET_MAX))


def _launches(setting: Setting, server: Server) -> tuple[float, float]:
    """Return the processor time of a mint and of a seat, in microseconds."""
    run, used = secrets.token_hex(4), []
    for requests in (
        list(mints(setting, server, run)),
        list(seats(server.address, setting.partners, setting.calls, run)),
    ):
        begun = server.cpu_s()
        outcome = call(server.address, iter(requests), connections=setting.connections)
        used.append((server.cpu_s() - begun) / len(requests) * 1e6)
        if outcome.bad():
            raise Failed(f"{len(setting.partners)} partners were answered with {outcome.statuses}")
    mint, seat = used
    return mint, seat
