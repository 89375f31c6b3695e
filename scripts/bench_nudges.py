#!/usr/bin/env python3
"""Measures nudges: their cost, and whether endpoints that hang slow the other endpoints down.

    scripts/bench_nudges.py isolation    500 endpoints, 50 of which hang: about five minutes
    scripts/bench_nudges.py cpu          processor time of a nudge: about 15 seconds

Each command rewrites its section of docs/benchmarks.md. `isolation` exits with 1 when its limit is
exceeded. `--quick` measures on a small scale, checks no limit, and writes only with `--out`.

The service's core runs in this process, with the real courier and outbound client. All endpoints
run in another process, scripts/nudge_endpoints.py, behind TLS on loopback.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import structlog
import trio
import typer
from nudge_bench.cost import Cpu, cpu_section, measure_cpu
from nudge_bench.isolation import Isolation, isolation_section, measure_isolation
from nudge_bench.report import write_section
from nudge_bench.scene import DOMAIN, Failed
from rich.console import Console
from rich.progress import Progress

from pgs.demo.loopback import LoopbackResolver
from pgs.process import SWITCH_INTERVAL_S

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"

P = TypeVar("P")
R = TypeVar("R")

app = typer.Typer(add_completion=False, no_args_is_help=True)

Quick = Annotated[bool, typer.Option(help="A few seconds on a small scale, to see that it works.")]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help=f"The document to write; without --quick docs/{DOCUMENT.name}."
    ),
]


@app.command()
def isolation(quick: Quick = False, out: Out = None) -> None:
    """Measure whether endpoints that hang slow the others down."""
    plan = (
        Isolation(partners=20, hanging=2, rate=40, settle_s=0.5, measured_s=1, pairs=1)
        if quick
        else Isolation()
    )
    pairs = _measured(measure_isolation, plan)
    section, holds = isolation_section(plan, pairs)
    _report("Endpoints that hang", section, quick, out)
    if not holds and not quick:
        raise typer.Exit(1)


@app.command()
def cpu(quick: Quick = False, out: Out = None) -> None:
    """Measure the processor time of a nudge."""
    plan = Cpu(partners=8, warm_up=8, counted=40) if quick else Cpu()
    _report("The cost of a nudge", cpu_section(plan, _measured(measure_cpu, plan)), quick, out)


def _measured(measure: Callable[[P, Progress], Awaitable[R]], plan: P) -> R:
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    console = Console(stderr=True)

    async def main() -> R:
        trio.socket.set_custom_hostname_resolver(LoopbackResolver(DOMAIN))
        return await measure(plan, progress)

    with Progress(console=console, disable=not console.is_terminal) as progress:
        try:
            return trio.run(main)
        except* Failed as failed:
            console.print(str(_first(failed)))
    raise typer.Exit(1)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _report(title: str, section: str, quick: bool, out: Path | None) -> None:
    print(f"## {title}\n\n{section}")
    document = out or (None if quick else DOCUMENT)
    if document is not None:
        write_section(document, title, section)


if __name__ == "__main__":
    app()
