#!/usr/bin/env python3
"""Measures what a seat, a page of the feed, a nudge and a start cost with a long history.

    scripts/measure_growth.py                                  10,000 to 1,000,000 seats
    scripts/measure_growth.py --seats 10000 --seats 10000000   the sizes that you name
    scripts/measure_growth.py --keep /var/tmp/growth           keep the filled folders for later

Without `--seats` it rewrites a section of docs/benchmarks.md; with it, only the file of `--out`.
The cost of a nudge is that of the courier, the signature and the attempt log, without the call to
the webhook. The attempt log has one attempt for each seat of the history, all of one partner.

The script fills one data folder for each size, and then measures all of them in turn, each in a
process of its own, so that a slow moment of the machine affects every size. A start is measured in
elapsed time. A seat, a page and a nudge are measured in processor time of the whole process, its
writer's thread included. The figures are medians. The files are in the machine's memory: on a
machine with less memory, a seat also pays for reading a page from the disk. The exit code is 1 if a
seat in the largest history costs more than `--most` times one in the smallest.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import logging
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import msgspec
import structlog
import trio
import typer
from billing_bench.history import FLOOR_USD_CENTS, GAME, PRIZE_USD_CENTS, TIER, write_history
from nudge_bench.report import bars, cores, paragraph, write_section

from pgs.actors.messages.courier import Nudge
from pgs.actors.messages.seats import Seated, StakeSeat
from pgs.app import open_core
from pgs.config import Config
from pgs.domain.nudges import TryOutcome
from pgs.domain.seats import SeatRequest
from pgs.operator.ready_partners import make_ready, offer_tier
from pgs.process import SWITCH_INTERVAL_S, tune_garbage_collector
from pgs.storage.attempts import Attempt, insert_attempt
from pgs.storage.seats import feed_page, find_head
from pgs.storage.transactions import Tx

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
TITLE = "A long history"
SIZES = [10_000, 100_000, 1_000_000]  # seats of the histories that are measured by default
PARTNERS = [f"growth-{number}" for number in range(10)]
NUDGED, ENDPOINT = "growth-nudged", "https://growth.pgs-nudges.com/"
ATTEMPTS_EACH = 500  # attempts of a transaction
FIRST_DAY = 20_000  # 2024-10-04
DAYS = 100
LANES = 64  # tasks that take seats at the same time
SLICES, SLICE = 8, 256  # how many groups of calls are measured, and how many calls each group has
WARM_UP = 3  # groups of calls before the measured ones
FEED_PAGE = 100
READ_BYTES = 1 << 20


class Cost(msgspec.Struct, frozen=True):
    """Processor time of a seat, a feed page and a nudge, in µs; elapsed time of a start, in s."""

    seat: float
    page: float
    nudge: float
    start: float


class History(msgspec.Struct, frozen=True):
    """A database with this many seats, and what was measured in each round."""

    seats: int
    megabytes: float
    costs: list[Cost]


class Reached:
    """An endpoint that answers every nudge immediately, without a network."""

    def __init__(self) -> None:
        self.answered = trio.Semaphore(0)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> TryOutcome:
        """Return the outcome of a delivered nudge, without waiting."""
        await trio.lowlevel.checkpoint()
        self.answered.release()
        return TryOutcome(200, None, 1, "ok")

    def close_idle(self) -> None:
        """Do nothing: there are no connections."""

    def close(self) -> None:
        """Do nothing: there are no connections."""


def main(
    seats: Annotated[
        list[int] | None, typer.Option(min=2000, help="Seats of a history. Repeat it for more.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each size is measured.")] = 7,
    most: Annotated[
        float, typer.Option(help="Allowed ratio of a seat's cost: largest history to smallest.")
    ] = 1.2,
    keep: Annotated[Path | None, typer.Option(help="Keep the filled folders here.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The document to write; without --seats docs/benchmarks.md."
        ),
    ] = None,
    alone: Annotated[Path | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure how the costs of a seat, a feed page, a nudge and a start grow with the seats."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    if alone is not None:
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        sys.stdout.write(msgspec.json.encode(trio.run(_measure, alone)).decode())
        return
    with TemporaryDirectory() as scratch:
        histories = _histories(keep or Path(scratch), sorted(seats or SIZES), rounds)
    text = _section(histories, most)
    print(f"## {TITLE}\n\n{text}")
    document = out or (DOCUMENT if seats is None else None)
    if document is not None:
        write_section(document, TITLE, text)
    raise typer.Exit(int(_growth(histories)[0] > most))


def _histories(parent: Path, sizes: Sequence[int], rounds: int) -> list[History]:
    """Return the histories of these sizes, measured in turn. Fill those that `parent` lacks."""
    folders = {size: parent / str(size) for size in sizes}
    for size, folder in folders.items():
        if not folder.exists():
            print(f"filling {size:,} seats …", file=sys.stderr, flush=True)
            trio.run(_make, folder)
            _fill(folder, size)
            trio.run(_fill_attempts, folder, size)
    costs: dict[int, list[Cost]] = {size: [] for size in sizes}
    for number in range(1, rounds + 1):
        print(f"round {number} of {rounds} …", file=sys.stderr, flush=True)
        for size, folder in folders.items():
            costs[size].append(_measured(folder))
    return [
        History(
            size,
            sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6,
            costs[size],
        )
        for size, folder in folders.items()
    ]


def _growth(histories: Sequence[History]) -> tuple[float, float, float]:
    """Return the ratios of a seat's cost, largest to smallest history: median, least, greatest.

    Each round has a ratio, because the machine's speed changes between rounds, but hardly within
    one.
    """
    pairs = zip(histories[0].costs, histories[-1].costs, strict=True)
    ratios = [last.seat / first.seat for first, last in pairs]
    return median(ratios), min(ratios), max(ratios)


def _section(histories: Sequence[History], most: float) -> str:
    """Return the section of the document."""
    sizes, rounds = [history.seats for history in histories], len(histories[0].costs)
    named = "" if sizes == SIZES else "".join(f" --seats {size}" for size in sizes)
    rows = []
    for history in histories:
        seat, page, nudge, start = (
            median(getattr(cost, name) for cost in history.costs) for name in Cost.__annotations__
        )
        rows.append(
            f"| {history.seats:,} | {history.megabytes:,.0f} | {seat:.0f} | {page:.0f} "
            f"| {nudge:.0f} | {start:.2f} |"
        )
    chart = {
        f"{history.seats:,} seats": median(cost.seat for cost in history.costs)
        for history in histories
    }
    growth, least, greatest = _growth(histories)
    holds = "it holds" if growth <= most else "it does not hold"
    lines = [
        *paragraph(
            "Does a seat cost more once the database has a long history? Measured by "
            f"`scripts/measure_growth.py{named}` on {cores()}."
        ),
        "",
        *paragraph(
            f"Ten partners have the seats. {LANES} callers ask these partners' actors for new "
            "seats, without HTTP. A feed page has 100 rows from a random place. A nudge is "
            "delivered to an endpoint without a network, and the attempt log has as many attempts "
            "as there are seats. The figure of a start is elapsed time. The others are processor "
            f"time of the process with its writer's thread. All are medians of {rounds} rounds, "
            "in which the histories are measured in turn."
        ),
        "",
        "| Seats | database, MB | seat, µs | feed page, µs | nudge, µs | start, s |",
        "| --- | --- | --- | --- | --- | --- |",
        *rows,
        "",
        "A seat:",
        "",
        *bars(chart, "µs", 0),
        "",
        *paragraph(
            f"A seat in the largest history costs **{growth:.2f}** times one in the smallest: the "
            f"median of the rounds' ratios, which are {least:.2f} to {greatest:.2f}. The limit is "
            f"{most:g}: {holds}."
        ),
    ]
    return "\n".join(lines)


async def _make(folder: Path) -> None:
    async with open_core(Config(data_dir=folder)) as core:
        await offer_tier(core, "test", TIER, FLOOR_USD_CENTS, PRIZE_USD_CENTS)
        for name in PARTNERS:
            await make_ready(core, name, name, f"admin@{name}.example", games=(GAME,))
        # Nudges have a partner of their own, so that the others' seats cause none.
        await make_ready(
            core, NUDGED, NUDGED, f"admin@{NUDGED}.example", webhooks={"test": ENDPOINT}
        )


async def _fill_attempts(folder: Path, size: int) -> None:
    async with open_core(Config(data_dir=folder)) as core:
        now, writer = core.parts.clock.now(), core.parts.database.writer
        for begin in range(1, size + 1, ATTEMPTS_EACH):
            stmts = [
                insert_attempt(
                    NUDGED,
                    "test",
                    Attempt(
                        seq,
                        f"att_{seq:032x}",
                        f"nud_{seq:032x}",
                        now,
                        1,
                        True,
                        200,
                        20,
                        "ok",
                        f"mat_{seq:032x}",
                        False,
                        None,
                    ),
                )
                for seq in range(begin, min(begin + ATTEMPTS_EACH, size + 1))
            ]
            await writer.submit(Tx(NUDGED, tuple(stmts)))


def _fill(folder: Path, size: int) -> None:
    for name in PARTNERS:
        write_history(
            folder, name, FIRST_DAY, size // (2 * DAYS * len(PARTNERS)), DAYS, lambda _: None
        )


def _measured(folder: Path) -> Cost:
    """Return the result of a measurement in a new process."""
    _read_whole(folder)
    command = [sys.executable, __file__, "--alone", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Cost)


def _read_whole(folder: Path) -> None:
    """Let the kernel keep a folder's files in memory, as it does while a service uses them.

    Otherwise a seat would also pay for reading its page of the index of keys from the disk.
    """
    for file in folder.iterdir():
        if file.is_file():
            with file.open("rb", buffering=0) as opened:
                while opened.read(READ_BYTES):
                    pass


async def _measure(folder: Path) -> Cost:
    began, endpoint = time.perf_counter(), Reached()
    async with open_core(Config(data_dir=folder), outbound=endpoint) as core:
        start = time.perf_counter() - began
        tune_garbage_collector()
        chance = Random()
        heads = [await find_head(core.parts.database.reader, name, "test") for name in PARTNERS]

        async def seat(number: int) -> None:
            digest = chance.randbytes(12)
            request = SeatRequest(
                f"p-{digest[:6].hex()}", GAME, TIER, FLOOR_USD_CENTS, f"k-{digest.hex()}", None
            )
            ref = core.directory.partner(PARTNERS[number % len(PARTNERS)]).seats("test")
            assert isinstance(await ref.ask(StakeSeat(request)), Seated)

        async def page(number: int) -> None:
            which = number % len(PARTNERS)
            after = chance.randrange(max(1, heads[which].feed_position - FEED_PAGE))
            reader = core.parts.database.reader
            await feed_page(reader, PARTNERS[which], "test", after, FEED_PAGE + 1)

        async def nudge(number: int) -> None:
            assert core.directory.partner(NUDGED).courier("test").tell(Nudge(f"mat_{number}"))
            await endpoint.answered.acquire()

        return Cost(await _cost(seat), await _cost(page), await _cost(nudge), start)


async def _cost(call: Callable[[int], Awaitable[None]]) -> float:
    """Return the median of a call's processor time in microseconds.

    The first calls warm up: until then the writer has none of the pages that every seat needs.
    """
    taken = []
    for _ in range(WARM_UP + SLICES):
        numbers = iter(range(SLICE))

        async def lane(numbers: Iterator[int] = numbers) -> None:
            for number in numbers:
                await call(number)

        began = time.process_time()
        async with trio.open_nursery() as nursery:
            for _ in range(LANES):
                nursery.start_soon(lane)
        taken.append((time.process_time() - began) / SLICE * 1e6)
    return median(taken[WARM_UP:])


if __name__ == "__main__":
    typer.run(main)
