#!/usr/bin/env python3
"""Puts a load on the partners' actors in this process, without HTTP, and checks the results.

    scripts/load_actors.py --rate 500 --seconds 20

Each launch takes two seats. Matches are decided right after their start, and their rows are read
from the feed. The times are shown in milliseconds by percentile. The exit code is 1 if a row, an
amount or the ledger is wrong, if a call is refused, or if the actors cannot keep up with the rate.
In the last two cases nothing is checked, and the report and the picture have what was measured.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from load.actor_driver import ActorDriver
from load.check import ledger_faults
from load.command import Script, carry_out
from load.options import Decided, Partners, Picture, PollEvery, Rate, Report, Seconds, SeedOf
from load.story import Load, Mix
from seed import FLOOR_USD_CENTS, PRIZE_USD_CENTS, seed

from pgs.app import open_core
from pgs.config import Config

GAME, TIER = "tic-tac-toe", "test-bronze"


def main(
    rate: Rate = 200,
    seconds: Seconds = 20,
    partners: Partners = 50,
    poll_every: PollEvery = 0.25,
    decided: Decided = 1.0,
    seed_of: SeedOf = 1,
    database_url: Annotated[
        str, typer.Option(metavar="URL", help="An empty database of PostgreSQL; else SQLite.")
    ] = "",
    json: Report = None,
    picture: Picture = None,
) -> None:
    """Launch, decide and read on the actors."""

    async def run(tick: Callable[[], None]) -> tuple[Load, list[str]]:
        with TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            config = Config(data_dir=data, database_url=database_url)
            made = await seed(data, partners, database_url=database_url)
            async with open_core(config) as core:
                driver = ActorDriver(core, GAME, TIER, FLOOR_USD_CENTS)
                names = [partner.partner_id for partner in made]
                load = Load(driver, names, FLOOR_USD_CENTS, mix, tick)
                began = time.process_time()
                await load.run()
                spent = time.process_time() - began
            if load.failure:
                return load, []
            print(f"{spent / launches * 1e6:,.0f} µs of processor time a launch")
            return load, await ledger_faults(config, list(load.books.values()))

    mix = Mix(rate, seconds, poll_every, decided, seed_of)
    launches = int(rate * seconds)
    script = Script("load_actors", launches, PRIZE_USD_CENTS)
    raise typer.Exit(carry_out(script, run, json, picture))


if __name__ == "__main__":
    typer.run(main)
