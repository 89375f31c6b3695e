#!/usr/bin/env python3
"""Plays a thousand matches together and checks them. Rewrites a section of docs/benchmarks.md.

    scripts/load_games.py             1,000 matches, 2,000 sockets, three rounds of two paces:
                                      less than two minutes on a free machine
    scripts/load_games.py --quick     50 matches, one round; writes only with --out
    scripts/load_games.py --think 1.5 --rounds 1 --out games.md
                                      players who think as long as people: two minutes

Each round has a new service, in its own process on a fresh data folder; the bots run in this one.
The exit code is 1 unless the feed has every match with the result that its players saw and with its
money, and the ledger is sound. If a round fails, no further one is played, and the report and the
picture have what was measured.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import logging
from pathlib import Path
from typing import Annotated, Any

import msgspec
import trio
import typer
from game_load.report import section
from game_load.round import Figures, play_round
from load.command import FEED, LEDGER, complain, shown_progress, write_files
from load.options import Picture, Report
from load.story import LoadFailed, first_of
from load.times import Times
from nudge_bench.report import write_section
from rich.progress import Progress

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
TITLE = "A thousand matches"
GAMES = "tic-tac-toe,connect-four,reversi"
MATCHES, QUICK_MATCHES = 1000, 50
ROUNDS, QUICK_ROUNDS = 3, 1
# Mean seconds before a move: with 0.2 s all rounds together take less than two minutes.
PACES, QUICK_PACES = (0.0, 0.2), (0.0,)


def main(
    matches: Annotated[
        int | None, typer.Option(min=1, help="Matches at once; without --quick 1000.")
    ] = None,
    think: Annotated[
        list[float] | None,
        typer.Option(
            metavar="SECONDS", help="Before a move; can be repeated. Without --quick 0 and 0.2."
        ),
    ] = None,
    games: Annotated[str, typer.Option(metavar="ID,ID", help="The games, played in turn.")] = GAMES,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="Rounds with each --think; without --quick 3."),
    ] = None,
    quick: Annotated[
        bool, typer.Option(help="A few seconds on a small scale, to see that it works.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The document to write. Without it docs/benchmarks.md, or none if matches, "
            "thinking, games or rounds are not the usual ones.",
        ),
    ] = None,
    json: Report = None,
    picture: Picture = None,
) -> None:
    """Play matches to their ends."""
    usual = matches is None and think is None and games == GAMES and rounds is None and not quick
    count = matches or (QUICK_MATCHES if quick else MATCHES)
    turns = rounds or (QUICK_ROUNDS if quick else ROUNDS)
    plan = [*(think or (QUICK_PACES if quick else PACES))] * turns
    times, found, failure = Times(), list[Figures](), ""
    with shown_progress(logging.WARNING) as (console, progress):
        try:
            trio.run(_play, count, plan, games.split(","), progress, times, found)
        except* LoadFailed as failed:
            failure = str(first_of(failed))
    faults = [fault for figures in found for fault in figures.faults]
    complain(console, "load_games", failure, faults)
    report = _report(count, turns, found, times, failure)
    write_files("load_games: times of moves", report, times, json, picture)
    if failure or faults:
        console.print(f"load_games: {len(faults)} faults; rounds played: {len(found)}")
        raise typer.Exit(1)
    text = section(found, games.split(","))
    print(f"## {TITLE}\n\n{text}")
    document = out or (DOCUMENT if usual else None)
    if document is not None:
        write_section(document, TITLE, text)


async def _play(
    matches: int,
    plan: list[float],
    games: list[str],
    progress: Progress,
    times: Times,
    found: list[Figures],
) -> None:
    """Play the rounds of a plan into `times` and `found`, until one has a fault."""
    for think_s in plan:
        found.append(await play_round(matches, think_s, games, progress, times))
        if found[-1].faults:
            return


def _report(
    matches: int, rounds: int, found: list[Figures], times: Times, failure: str
) -> dict[str, Any]:
    return {
        "matches": matches,
        "rounds": rounds,
        "played": [msgspec.to_builtins(figures) for figures in found],
        "timesMs": times.report(),
        # Each round that was played to its end was checked.
        "checked": [FEED, LEDGER] if found else [],
        "faults": [fault for figures in found for fault in figures.faults],
        "failure": failure or None,
    }


if __name__ == "__main__":
    typer.run(main)
