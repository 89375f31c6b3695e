#!/usr/bin/env python3
"""Measures the memory of matched seats that nobody has joined.

    scripts/measure_seats.py                            100,000 seats: about three minutes
    scripts/measure_seats.py --seats 10000 --most 15    on a smaller scale

Without `--seats` and `--partners` it rewrites a section of docs/benchmarks.md, or of the file of
`--out`. With one of these two options it writes only to the file of `--out`.
It measures the seats of one partner and then of a hundred, each in its own process: first an idle
service with its listeners, then the same service with the seats. The exit code is 1 if the seats
take more than `--most` MB.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import ctypes
import gc
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import msgspec
import structlog
import trio
import typer
from nudge_bench.report import bars, cores, paragraph, write_section
from rich.console import Console
from rich.progress import Progress

from pgs.actors.core import Core
from pgs.actors.messages.seats import Seated, StakeSeat
from pgs.config import Config
from pgs.domain.seats import SeatRequest
from pgs.operator.ready_partners import make_ready, offer_tier
from pgs.process import SWITCH_INTERVAL_S, tune_garbage_collector
from pgs.serve import running

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
TITLE = "Seats that nobody has joined"
SEATS = 100_000
TIER, GAME, FLOOR_USD_CENTS, PRIZE_USD_CENTS = "test-bronze", "tic-tac-toe", 100, 180
LANES = 64  # tasks that take pairs of seats at the same time
MB = 1024 * 1024


class Cost(msgspec.Struct, frozen=True):
    """Memory of the process in MB: idle, with the seats, and trimmed.

    `trimmed` is measured with the seats, after a garbage collection and the return of free memory.
    """

    partners: int
    seats: int
    matches: int
    idle: float
    with_seats: float
    trimmed: float

    @property
    def taken(self) -> float:
        """The memory of the seats, in MB."""
        return self.trimmed - self.idle


def main(
    seats: Annotated[int, typer.Option(min=2, help="Seats; half as many matches.")] = SEATS,
    partners: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Partners; measure once for each number. By default 1 and 100."),
    ] = None,
    most: Annotated[float, typer.Option(metavar="MB", help="The seats' memory limit.")] = 100.0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The document to write; without other options docs/benchmarks.md."
        ),
    ] = None,
    alone: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Measure the memory of seats."""
    among = partners or [1, 100]
    if alone:
        _measure_here(seats, among[0])
        return
    costs = [_measured(seats, count) for count in among]
    text = _section(costs, most)
    print(f"## {TITLE}\n\n{text}")
    document = out or (DOCUMENT if (seats, partners) == (SEATS, None) else None)
    if document is not None:
        write_section(document, TITLE, text)
    raise typer.Exit(int(any(cost.taken > most for cost in costs)))


def _measured(seats: int, partners: int) -> Cost:
    """Return the result of a measurement in a new process."""
    command = [
        sys.executable,
        __file__,
        "--alone",
        "--seats",
        str(seats),
        "--partners",
        str(partners),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Cost)


def _measure_here(seats: int, partners: int) -> None:
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"Seats of {partners} partners", total=seats)
        cost = trio.run(_measure, seats, partners, lambda: progress.advance(task, 2))
    sys.stdout.write(msgspec.json.encode(cost).decode())


async def _measure(seats: int, partners: int, tick: Callable[[], None]) -> Cost:
    with TemporaryDirectory() as folder:
        config = Config(
            data_dir=Path(folder) / "data", listen="127.0.0.1:0", internal_listen="127.0.0.1:0"
        )
        names = [f"seats-{number:04}" for number in range(partners)]
        async with running(config) as service:
            await offer_tier(service.core, "test", TIER, FLOOR_USD_CENTS, PRIZE_USD_CENTS)
            for name in names:
                await make_ready(service.core, name, name, f"admin@{name}.example", games=(GAME,))
        # A second start: the idle figure must not include what creating the partners left behind.
        async with running(config) as service:
            tune_garbage_collector()
            _trim()
            idle = _memory()
            matches = await _fill(service.core, names, seats, tick)
            with_seats = _memory()
            gc.collect()
            _trim()
            return Cost(partners, seats, matches, idle, with_seats, _memory())


async def _fill(core: Core, names: list[str], seats: int, tick: Callable[[], None]) -> int:
    """Take the seats; return how many matches were made."""
    matches = 0
    numbers = iter(range(seats // 2))

    async def lane(name: str, own: Iterator[int]) -> None:
        nonlocal matches
        for number in own:
            for side in "ab":
                player = f"{side}-{number:06}"
                stake = StakeSeat(
                    SeatRequest(player, GAME, TIER, FLOOR_USD_CENTS, f"key-{player}", None)
                )
                seated = await core.directory.partner(name).seats("test").ask(stake)
                assert isinstance(seated, Seated), seated
                # True for the second seat of each pair, which starts the match.
                matches += seated.seat.match_id is not None
            tick()

    async with trio.open_nursery() as nursery:
        for number in range(max(LANES, len(names))):
            nursery.start_soon(lane, names[number % len(names)], numbers)
    return matches


def _memory() -> float:
    """Return this process's resident memory in MB (proc(5), statm)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MB


def _trim() -> None:
    """Return free memory to the system, where the C library can.

    glibc keeps freed memory for later; the seats do not use it.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _section(costs: list[Cost], most: float) -> str:
    first = costs[0]
    lines = [
        *paragraph(
            "How much memory do matched seats take before anybody joins the match? Measured by "
            f"`scripts/measure_seats.py` on {cores()}."
        ),
        "",
        *paragraph(
            f"{first.seats} seats of different players are taken in the test environment of a "
            "service with its listeners. *Partners* is the number of partners among which the "
            "seats are divided. The figures are resident memory of the whole process. *Idle* is "
            "measured just after its start, and *with seats* after the last seat. *Trimmed* is "
            "measured after a garbage collection and a `malloc_trim`, which returns freed memory "
            "that the C library keeps for later. *Taken* is *trimmed* minus *idle*."
        ),
        "",
        "| Partners | matches | idle, MB | with seats, MB | trimmed, MB | taken, MB "
        "| bytes a seat |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for cost in costs:
        figures = (cost.idle, cost.with_seats, cost.trimmed, cost.taken)
        cells = (
            str(cost.partners),
            str(cost.matches),
            *(f"{figure:.1f}" for figure in figures),
            f"{cost.taken * MB / cost.seats:.0f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    drawn = {
        f"{cost.partners} partner{'' if cost.partners == 1 else 's'}": cost.taken for cost in costs
    }
    lines += ["", *bars({**drawn, "allowed": most}, "MB"), ""]
    verdict = "holds" if all(cost.taken <= most for cost in costs) else "is **exceeded**"
    lines += paragraph(
        f"The limit is {most:g} MB: it {verdict}. Seats are rows. In memory, a seats actor keeps "
        "only its sequence numbers and the seats that wait. Up to 16 MB of what is taken are pages "
        "of the database that the writer keeps."
    )
    return "\n".join(lines)


if __name__ == "__main__":
    typer.run(main)
