"""The command line of `scripts/mutate`. The comment in that file shows how to use it."""

import os
import random
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import trio
import typer
from mutation.campaign import Result, UnmutatedFailure, run_all
from mutation.copies import Verdict
from mutation.mutants import (
    Accepted,
    Mutant,
    UnknownPath,
    chosen,
    drawn,
    mutants_of,
    read_accepted,
)
from mutation.report import Progress, next_step, outdated, survivors, table
from mutation.targets import all_targets

ROOT = Path(__file__).resolve().parents[2]
SURVIVORS, UNUSABLE = 1, 2
_SEEDS = 1_000_000  # a short number is easy to type again


def main(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files or folders to mutate, or lines as FILE:LINE. All by default."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="How many to draw at random.")] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the same ones again.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Tests at once.")] = os.cpu_count() or 1,
) -> None:
    """Mutate the rules, the ledger and the writer; list the mutations that no test notices."""
    seed = random.randrange(_SEEDS) if seed is None else seed
    accepted = read_accepted()
    known = all_mutants(ROOT)
    stale = [entry for entry in accepted if not any(entry.covers(mutant) for mutant in known)]
    try:
        picked = chosen(known, paths or [])
    except UnknownPath as unknown:
        message = f"{unknown}: nothing to mutate there; scripts/mutation/targets.py says where"
        raise typer.BadParameter(message) from None
    worth_trying = [m for m in picked if not any(entry.covers(m) for entry in accepted)]
    mutants = drawn(worth_trying, limit, seed)
    _tell(
        f"{len(mutants)} of {len(picked)} mutations, "
        f"{len(picked) - len(worth_trying)} are accepted, "
        f"seed {seed}, {workers} at once; first the tests without any"
    )
    try:
        results = trio.run(_run_until_stopped, mutants, workers)
    except UnmutatedFailure as failed:
        print(failed.output)
        _tell(f"fails without any mutation: {failed}. Mend that first; its output is above.")
        raise typer.Exit(UNUSABLE) from None
    code = report(sorted(results, key=lambda result: mutants.index(result.mutant)), stale)
    if len(results) < len(mutants):
        _tell(f"stopped by a signal after {len(results)} of {len(mutants)}")
        code = code or UNUSABLE
    raise typer.Exit(code)


async def _run_until_stopped(mutants: Sequence[Mutant], workers: int) -> list[Result]:
    """Return the results when all mutations are tested, or when SIGINT or SIGTERM comes."""
    results: list[Result] = []
    failures: list[UnmutatedFailure] = []
    progress = Progress(len(mutants))

    def hear(result: Result) -> None:
        results.append(result)
        progress.hear(result)

    async def run(whole: trio.CancelScope) -> None:
        try:
            await run_all(ROOT, mutants, workers, hear)
        except UnmutatedFailure as failure:
            failures.append(failure)
        whole.cancel()

    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run, nursery.cancel_scope)
            async for _ in signals:
                nursery.cancel_scope.cancel()
    if failures:
        raise failures[0]
    return results


def all_mutants(root: Path) -> list[Mutant]:
    """Return every mutation of the checkout at `root`."""
    return [
        mutant
        for target in all_targets(root)
        for mutant in mutants_of(target, (root / target.path).read_text(encoding="utf-8"))
    ]


def report(results: Sequence[Result], stale: Sequence[Accepted]) -> int:
    """Print the results; return the exit code."""
    survived = [result.mutant for result in results if result.verdict is Verdict.SURVIVED]
    print(table(results))
    if survived:
        print(f"\n{survivors(survived)}\n\n{next_step(survived)}")
    if stale:
        print(f"\n{outdated(stale)}")
    if not survived and not stale:
        print(f"\nNone of these {len(results)} mutations survived.")
    return SURVIVORS if survived or stale else 0


def _tell(line: str) -> None:
    sys.stderr.write(f"mutate: {line}\n")


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command()(main)
    app(prog_name="scripts/mutate")
