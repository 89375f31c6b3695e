"""What both load scripts share: a run with its progress, its checks, its JSON and its picture."""

import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import structlog
import trio
from load.check import faults_of
from load.story import Load, LoadFailed
from rich.console import Console
from rich.progress import Progress

SHOWN = 5  # faults that are printed

Run = Callable[[Callable[[], None]], Awaitable[tuple[Load, list[str]]]]
"""Runs a load, and returns it with the ledger's faults. Calls its argument after each launch."""


def carry_out(
    name: str, run: Run, launches: int, prize: int, json: Path | None, picture: Path | None
) -> int:
    """Run a load, print its report, write its files, and return the exit code of the script."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    console = Console(stderr=True)
    load: Load | None = None
    failed, faults = "", list[str]()
    with Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("Launches", total=launches)
        try:
            load, faults = trio.run(run, lambda: progress.advance(task))
        except* LoadFailed as group:
            failed = str(_first(group))
    if load is None:
        console.print(f"{name}: {failed}", soft_wrap=True)
        return 1
    for books in load.books.values():
        faults += faults_of(books, prize)
    report: dict[str, Any] = {
        "launches": launches,
        "matches": sum(len(books.matches) for books in load.books.values()),
        "decided": sum(len(books.decided) for books in load.books.values()),
        "timesMs": load.times.report(),
        "faults": faults,
    }
    for kind, times in report["timesMs"].items():
        cells = "  ".join(f"{share} {value:,.1f}" for share, value in times.items())
        print(f"{kind:<8}{cells}")
    print(f"{report['decided']} of {report['matches']} matches decided, {len(faults)} faults")
    for fault in faults[:SHOWN]:
        console.print(f"{name}: {fault}", soft_wrap=True)
    if json is not None:
        json.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    if picture is not None:
        picture.write_text(load.times.picture(f"{name}: times of calls"), encoding="utf-8")
    return 1 if faults else 0


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
