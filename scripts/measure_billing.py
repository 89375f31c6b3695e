#!/usr/bin/env python3
"""Measures what a partner asks for once a day, on histories of different length.

    scripts/measure_billing.py                        10,000, 100,000 and 1,000,000 seats
    scripts/measure_billing.py --seats 2000 --seats 20000 --month 2000 --rounds 5

Without `--seats` it rewrites two sections of docs/benchmarks.md; otherwise it writes only with
`--out`. Calls for one day go over HTTP to one service; the partners with the different histories
take turns. Then a month of many matches is assembled into an invoice while matches are played.
The exit code is 1 if a limit is exceeded.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import logging
import os
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import structlog
import trio
import typer
from billing_bench.calls import Caller
from billing_bench.history import FLOOR_USD_CENTS, PRIZE_USD_CENTS, TIER, write_history
from billing_bench.report import QUERIES, Section, month_section, queries_section
from nudge_bench.report import write_section
from rich.console import Console
from rich.progress import Progress

from pgs.actors.messages.account.settings import SetRate
from pgs.config import Config
from pgs.domain.days import day_of, first_day, format_month, month_of
from pgs.domain.members import PLATFORM
from pgs.operator.commands.invoice import INVOICE_ASSEMBLE, Month
from pgs.operator.ready_partners import make_ready, offer_tier
from pgs.serve import running

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
SEATS_A_DAY = 1000
MB = 1024 * 1024


def main(
    seats: Annotated[
        list[int] | None, typer.Option(min=1000, help="Seats of a history. Repeat it for more.")
    ] = None,
    month: Annotated[int, typer.Option(min=100, help="Matches of the month.")] = 100_000,
    rounds: Annotated[int, typer.Option(min=1, help="Calls of each kind for each history.")] = 50,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The document to write.")] = None,
) -> None:
    """Measure calls for one day, and the assembly of a month."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    sizes = seats or [10_000, 100_000, 1_000_000]
    console = Console(stderr=True)
    document = out or (DOCUMENT if seats is None else None)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        texts = [
            trio.run(_measure_queries, sizes, rounds, progress),
            trio.run(_measure_month, month, progress),
        ]
    for text in texts:
        print(f"## {text.title}\n\n{text.text}\n")
        if document is not None:
            write_section(document, text.title, text.text)
    raise typer.Exit(int(not all(text.holds for text in texts)))


async def _measure_queries(sizes: list[int], rounds: int, progress: Progress) -> Section:
    with TemporaryDirectory() as name:
        folder = Path(name) / "data"
        keys = await _make_partners(folder, [f"seats-{size}" for size in sizes])
        last = day_of(int(time.time())) - 2
        for size in sizes:
            days = max(1, size // SEATS_A_DAY)
            task = progress.add_task(f"History of {size:,} seats", total=size // 2)
            write_history(
                folder,
                f"seats-{size}",
                last + 1 - days,
                size // 2 // days,
                days,
                partial(progress.advance, task),
            )
        took: dict[str, dict[int, list[float]]] = {
            query: {size: [] for size in sizes} for query in QUERIES
        }
        task = progress.add_task("Calls", total=rounds * len(sizes) * len(QUERIES))
        async with running(_config(folder)) as service, Caller(service.base_url) as caller:
            for _ in range(rounds + 1):
                for query in QUERIES:
                    for size in sizes:
                        seconds = await caller.ask(query, keys[f"seats-{size}"], last)
                        took[query][size].append(seconds)
                        progress.advance(task)
    medians = {
        query: {size: statistics.median(times[1:]) * 1000 for size, times in by_size.items()}
        for query, by_size in took.items()
    }
    return queries_section(medians, SEATS_A_DAY, rounds)


async def _measure_month(matches: int, progress: Progress) -> Section:
    with TemporaryDirectory() as name:
        folder = Path(name) / "data"
        (key,) = (await _make_partners(folder, ["month"])).values()
        month = month_of(day_of(int(time.time()))) - 1
        days = first_day(month + 1) - first_day(month)
        task = progress.add_task(f"A month of {matches:,} matches", total=matches)
        write_history(
            folder,
            "month",
            first_day(month),
            matches // days,
            days,
            partial(progress.advance, task),
        )
        async with running(_config(folder)) as service, Caller(service.base_url) as caller:
            quiet = [await caller.launch(key) for _ in range(200)]
            before, busy = _memory(), list[float]()
            began = time.perf_counter()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_launch_until_cancelled, caller, key, busy)
                page = await INVOICE_ASSEMBLE.run(service.core, Month(format_month(month)))
                seconds = time.perf_counter() - began
                await trio.sleep(1)
                nursery.cancel_scope.cancel()
            (invoice,) = page.invoices  # type: ignore[union-attr]  # no refusal is possible
            return month_section(
                matches // days * days,
                invoice.total_usd_cents or 0,
                invoice.line_count or 0,
                seconds,
                _memory() - before,
                quiet,
                busy,
            )


async def _launch_until_cancelled(caller: Caller, key: str, took: list[float]) -> None:
    while True:
        took.append(await caller.launch(key))


async def _make_partners(folder: Path, names: list[str]) -> dict[str, str]:
    """Return the test key of each new partner. Its rate bucket is large enough for the calls."""
    async with running(_config(folder)) as service:
        await offer_tier(service.core, "test", TIER, FLOOR_USD_CENTS, PRIZE_USD_CENTS)
        keys = {}
        for name in names:
            made = await make_ready(service.core, name, name, f"admin@{name}.example")
            await (
                service.core.directory.partner(name)
                .account()
                .ask(SetRate(PLATFORM, 100_000, 100_000))
            )
            keys[name] = made.test_key
        return keys


def _config(folder: Path) -> Config:
    return Config(data_dir=folder, listen="127.0.0.1:0", internal_listen="127.0.0.1:0")


def _memory() -> float:
    """Return this process's resident memory in MB (proc(5), statm)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MB


if __name__ == "__main__":
    typer.run(main)
