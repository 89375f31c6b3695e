"""What the load scripts share: a run with its progress, its checks, its JSON and its picture."""

import logging
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import structlog
import trio
from load.check import faults_of
from load.story import Load, LoadFailed, first_of
from load.times import Times
from rich.console import Console
from rich.progress import Progress

SHOWN = 5  # faults that are printed
FEED, LEDGER = "the feed's rows and money", "the ledger"  # what can be checked

Run = Callable[[Callable[[], None]], Awaitable[tuple[Load, list[str]]]]
"""Runs a load, and returns it with the ledger's faults. Calls its argument after each launch."""


@dataclass(frozen=True)
class Script:
    """A load script: its name, how many launches it begins, and the prize of a match in US cents.

    `unchecked`: why it cannot check the ledger, or empty.
    """

    name: str
    launches: int
    prize: int
    unchecked: str = ""


def carry_out(script: Script, run: Run, json: Path | None, picture: Path | None) -> int:
    """Run a load, print its report, write its files, and return the exit code of the script.

    A load that could not go on is reported too, with its failure and without checks.
    """
    load: Load | None = None
    failure, faults = "", list[str]()
    with shown_progress(logging.ERROR) as (console, progress):
        task = progress.add_task("Launches", total=script.launches)
        try:
            load, faults = trio.run(run, lambda: progress.advance(task))
        except* LoadFailed as group:
            failure = str(first_of(group))
    times, books = (load.times, list(load.books.values())) if load else (Times(), [])
    failure = failure or (load.failure if load else "")
    for each in books:
        faults += each.faults if failure else faults_of(each, script.prize)
    checked = [] if failure else [FEED] if script.unchecked else [FEED, LEDGER]
    matches, decided = (
        sum(len(each.matches) for each in books),
        sum(len(each.decided) for each in books),
    )
    report: dict[str, Any] = {
        "launches": script.launches,
        "matches": matches,
        "decided": decided,
        "timesMs": times.report(),
        "checked": checked,
        "notChecked": [what for what in (FEED, LEDGER) if what not in checked],
        "faults": faults,
        "failure": failure or None,
    }
    for kind, found in report["timesMs"].items():
        cells = "  ".join(f"{share} {value:,.1f}" for share, value in found.items())
        print(f"{kind:<8}{cells}")
    print(
        f"{decided} of {matches} matches decided, {len(faults)} faults. "
        f"{_what_was_checked(checked, script.unchecked)}"
    )
    complain(console, script.name, failure, faults)
    write_files(f"{script.name}: times of calls", report, times, json, picture)
    return 1 if faults or failure else 0


def _what_was_checked(checked: list[str], unchecked: str) -> str:
    if not checked:
        return "Nothing was checked, because the load could not go on."
    text = f"Checked: {', and '.join(checked)}."
    return f"{text} Not checked: {LEDGER}, because {unchecked}." if unchecked else text


@contextmanager
def shown_progress(log_level: int) -> Iterator[tuple[Console, Progress]]:
    """Log to standard error from a level on; show progress there if that is a terminal."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(log_level),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        yield console, progress


def complain(console: Console, name: str, failure: str, faults: list[str]) -> None:
    """Print why a load could not go on, and the first faults."""
    for sentence in [failure, *faults[:SHOWN]] if failure else faults[:SHOWN]:
        console.print(f"{name}: {sentence}", soft_wrap=True, markup=False)


def write_files(
    title: str, report: Mapping[str, Any], times: Times, json: Path | None, picture: Path | None
) -> None:
    """Write the report and the picture that were asked for. Without times there is no picture.

    `title`: that of the picture.
    """
    if json is not None:
        json.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    if picture is not None and times.report():
        picture.write_text(times.picture(title), encoding="utf-8")
