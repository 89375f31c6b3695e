#!/usr/bin/env python3
"""Plays a thousand matches together and checks them. Rewrites a section of docs/benchmarks.md.

    scripts/load_games.py             1,000 matches, 2,000 sockets, two rounds: about five minutes
    scripts/load_games.py --quick     50 matches, one round; writes only with --out

The service runs in its own process on a fresh data folder; the bots run in this one. The exit code
is 1 unless the feed has every match with the result that its players saw and with its money, and
the ledger is sound.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import logging
import sys
from pathlib import Path
from typing import Annotated

import structlog
import trio
import typer
from game_load.report import section
from game_load.round import Failed, Figures, play_round
from nudge_bench.report import write_section
from rich.console import Console
from rich.progress import Progress

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
TITLE = "A thousand matches"
GAMES = "tic-tac-toe,connect-four,reversi"


def main(
    matches: Annotated[
        int | None, typer.Option(min=1, help="Matches at once; without --quick 1000.")
    ] = None,
    think: Annotated[
        list[float] | None,
        typer.Option(metavar="SECONDS", help="Play a round for each; without --quick 0 and 1.5."),
    ] = None,
    games: Annotated[str, typer.Option(metavar="ID,ID", help="The games, played in turn.")] = GAMES,
    quick: Annotated[
        bool, typer.Option(help="A few seconds on a small scale, to see that it works.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The document to write; without other options docs/benchmarks.md."
        ),
    ] = None,
) -> None:
    """Play matches to their ends."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    console = Console(stderr=True)
    full = matches is None and think is None and games == GAMES and not quick
    count, pauses = matches or (50 if quick else 1000), think or ([0.0] if quick else [0.0, 1.5])

    async def rounds() -> list[Figures]:
        return [await play_round(count, think_s, games.split(","), progress) for think_s in pauses]

    with Progress(console=console, disable=not console.is_terminal) as progress:
        try:
            found = trio.run(rounds)
        except* Failed as failed:
            console.print(str(_first(failed)), soft_wrap=True)
            raise typer.Exit(1) from None
    text = section(found, games.split(","))
    print(f"## {TITLE}\n\n{text}")
    document = out or (DOCUMENT if full else None)
    if document is not None:
        write_section(document, TITLE, text)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    typer.run(main)
