#!/usr/bin/env python3
"""Compares the service with what users would run instead. Rewrites parts of docs/benchmarks.md.

    scripts/bench.py                 every case: about half an hour on a free machine
    scripts/bench.py launch waits    some cases: launch, rates, instructions, feed, waits, engines,
                                     nodes, partners, sockets, noise
    scripts/bench.py --quick         two minutes on a small scale; writes only with --out

Each case is a file of scripts/bench_cases. The compared servers run in turn, so that a busy machine
slows all of them alike. The peer, a FastAPI service, is installed into .venv-bench. Colyseus is
installed with npm; without npm the report says that it is missing. Without valgrind the case
`instructions` is left out, and without PostgreSQL the cases `engines` and `nodes`; `nodes` also
needs the right to make control groups. The exit code is 1 if a server answers wrongly, or if a case
that was asked for by name is left out.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import logging
import sys
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import msgspec
import structlog
import typer
from bench_cases import (
    core_shares,
    engines,
    feed,
    instructions,
    launch,
    nodes,
    noise,
    partners,
    rates,
    report,
    scale_report,
    sockets,
    waits,
)
from bench_cases.caller import NoAnswers
from bench_cases.engines_report import engines_section
from bench_cases.instructions_report import instructions_section
from bench_cases.nodes_report import nodes_section
from bench_cases.rates_report import rates_section
from bench_cases.servers import NotStarted
from bench_cases.setting import Failed, prepare
from cluster_parts.machines import Missing
from nudge_bench.report import write_section
from rich.console import Console
from rich.progress import Progress

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
ROUNDS, CALLS = 9, 4000
QUICK_ROUNDS, QUICK_CALLS = 2, 400
INSTRUCTED_ROUNDS = 3  # more would tell nothing new: a server's rounds differ by 2 %


class Case(StrEnum):
    """What can be measured."""

    LAUNCH = "launch"
    RATES = "rates"
    INSTRUCTIONS = "instructions"
    FEED = "feed"
    WAITS = "waits"
    ENGINES = "engines"
    NODES = "nodes"
    PARTNERS = "partners"
    SOCKETS = "sockets"
    NOISE = "noise"


def main(
    cases: Annotated[list[Case] | None, typer.Argument(help="Without one: all.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Turns of each server.")] = None,
    quick: Annotated[bool, typer.Option(help="A small scale, to see that it works.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The document to write. Without one: docs/benchmarks.md, or none with --quick.",
        ),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every round's figures there.")
    ] = None,
) -> None:
    """Measure the cases, one after the other, and write a section of the document for each."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    console = Console(stderr=True)
    turns, calls = rounds or (QUICK_ROUNDS if quick else ROUNDS), QUICK_CALLS if quick else CALLS
    document = out or (None if quick else DOCUMENT)
    found: dict[str, Any] = {}
    left_out = False
    with Progress(console=console, disable=not console.is_terminal) as progress:
        for case in cases or list(Case):
            try:
                title, text, figures = _run(case, turns, calls, document, progress)
            except Missing as missing:
                console.print(f"bench: {case} IS LEFT OUT: {missing}", soft_wrap=True)
                left_out = True
                continue
            except (Failed, NoAnswers, NotStarted) as failed:
                console.print(f"bench: {failed}", soft_wrap=True)
                raise typer.Exit(1) from None
            print(f"## {title}\n\n{text}\n")
            found[case] = figures
            if document is not None:
                write_section(document, title, text)
    if json is not None:
        json.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    if left_out and cases:
        raise typer.Exit(1)


def _run(
    case: Case, rounds: int, calls: int, document: Path | None, progress: Progress
) -> tuple[str, str, dict[str, Any]]:
    """Return title, text and figures of a case."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        pictures = (document.parent if document else folder) / "benchmarks"
        match case:
            case Case.LAUNCH:
                setting = prepare(folder, launch.PARTNERS * calls // CALLS, rounds, calls)
                costs, missing = launch.measure(setting, progress)
                return launch.TITLE, *report.launch_section(costs, missing, calls, pictures)
            case Case.RATES:
                turns, seconds = min(rounds, rates.ROUNDS), rates.SECONDS * calls / CALLS
                runs, missing = rates.measure(folder, turns, calls, seconds, progress)
                return rates.TITLE, *rates_section(runs, missing, seconds, pictures)
            case Case.INSTRUCTIONS:
                turns, few = min(rounds, INSTRUCTED_ROUNDS), calls // instructions.SLOWER
                setting = prepare(folder, instructions.PARTNERS, turns, few)
                counted = instructions.measure(setting, progress)
                return instructions.TITLE, *instructions_section(counted, turns, few)
            case Case.FEED:
                count = max(feed.AGAIN_SHARE, feed.PARTNERS * calls // CALLS)
                setting = prepare(folder, count, rounds, calls)
                return feed.TITLE, *report.feed_section(feed.measure(setting, progress))
            case Case.WAITS:
                setting = prepare(folder, waits.PARTNERS, rounds, calls)
                found = waits.measure(setting, progress)
                return waits.TITLE, *report.waits_section(found, calls, pictures)
            case Case.ENGINES:
                setting = prepare(folder, engines.PARTNERS * calls // CALLS, rounds, calls)
                return engines.TITLE, *engines_section(engines.measure(setting, progress), calls)
            case Case.NODES:
                limits = core_shares.shares()
                count = max(24, nodes.PARTNERS * calls // CALLS)
                seconds = nodes.SECONDS * calls / CALLS
                seen = nodes.measure(folder, limits, rounds, count, seconds, progress)
                return nodes.TITLE, *nodes_section(seen, count, seconds, pictures)
            case Case.PARTNERS:
                numbers = tuple(max(1, number * calls // CALLS) for number in partners.NUMBERS)
                sizes = partners.measure(folder, numbers, rounds, calls, progress)
                return partners.TITLE, *scale_report.partners_section(sizes, calls)
            case Case.SOCKETS:
                count = sockets.SOCKETS * calls // CALLS
                seconds = sockets.REST_S * calls / CALLS
                setting = prepare(folder, count // sockets.EACH, 1, count)
                idle = sockets.measure(setting, count, seconds, progress)
                return sockets.TITLE, *scale_report.sockets_section(idle, seconds)
            case Case.NOISE:
                seconds = noise.SECONDS * calls / CALLS
                setting = prepare(folder, 2, rounds, calls)
                heard = noise.measure(setting, seconds, progress)
                return noise.TITLE, *scale_report.noise_section(heard, seconds)


if __name__ == "__main__":
    typer.run(main)
