#!/usr/bin/env python3
"""Puts a load on the service over HTTP, as partners' backends do, and checks the results.

    scripts/load_http.py --rate 100 --seconds 30
    scripts/load_http.py --url https://games.example --keys partners.json --rate 50

Each launch mints two sessions and takes two seats; the match is decided right after its start, and
every partner reads its feed by cursor. At the end the script checks the feed: that each match has
its rows, and that the money in them is right. Without --url it starts the service on a new folder,
and checks the ledger too. With --url it cannot read the database, so it does not check the ledger:
run `pgs ledger check` on that machine. --keys is the file that scripts/seed.py writes. The exit
code is 1 if something is wrong, if a call is refused, or if the service cannot keep up with the
rate. In the last two cases nothing is checked, and the report and the picture have what was
measured.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import msgspec
import typer
from game_load.round import Service
from load.check import ledger_faults
from load.command import Script, carry_out
from load.http_driver import HttpDriver
from load.options import Decided, Partners, Picture, PollEvery, Rate, Report, Seconds, SeedOf
from load.story import Load, LoadFailed, Mix
from seed import FLOOR_USD_CENTS, PRIZE_USD_CENTS, Seeded, seed

from pgs.config import Config

GAME, TIER = "tic-tac-toe", "test-bronze"


def main(
    rate: Rate = 50,
    seconds: Seconds = 20,
    partners: Partners = 20,
    url: Annotated[
        str | None, typer.Option(help="The service, if it runs already. Its ledger is not checked.")
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its partners' keys; needed with --url.")
    ] = None,
    poll_every: PollEvery = 0.25,
    decided: Decided = 1.0,
    seed_of: SeedOf = 1,
    json: Report = None,
    picture: Picture = None,
) -> None:
    """Launch, decide and read over HTTP. Check the feed's money, and without --url the ledger."""
    if (url is None) != (keys is None):
        raise typer.BadParameter("give --url and --keys together, or neither")

    async def run(tick: Callable[[], None]) -> tuple[Load, list[str]]:
        async with AsyncExitStack() as stack:
            if url is not None and keys is not None:
                known = msgspec.json.decode(keys.read_bytes(), type=list[Seeded])
                tokens = {entry.partner_id: entry.test_key for entry in known}
                return await _run(url.rstrip("/"), tokens, tick), []
            data = Path(stack.enter_context(TemporaryDirectory())) / "data"
            made = await seed(data, partners)
            service = Service(data)
            stack.callback(service.kill)
            tokens = {partner.partner_id: partner.test_key for partner in made}
            load = await _run(service.base_url, tokens, tick)
            if load.failure:
                return load, []
            faults = _stop(service)
            faults += await ledger_faults(Config(data_dir=data), list(load.books.values()))
            return load, faults

    async def _run(base_url: str, tokens: dict[str, str], tick: Callable[[], None]) -> Load:
        driver = HttpDriver(base_url, tokens, GAME, TIER, FLOOR_USD_CENTS)
        load = Load(driver, list(tokens), FLOOR_USD_CENTS, mix, tick)
        try:
            await load.run()
        finally:
            await driver.aclose()
        return load

    mix = Mix(rate, seconds, poll_every, decided, seed_of)
    launches = int(rate * seconds)
    unchecked = "" if url is None else "the script has no access to the service's database"
    script = Script("load_http", launches, PRIZE_USD_CENTS, unchecked)
    raise typer.Exit(carry_out(script, run, json, picture))


def _stop(service: Service) -> list[str]:
    """Stop the service; return what was wrong with its end or its log."""
    try:
        service.stop()
    except LoadFailed as failed:
        return [str(failed)]
    return []


if __name__ == "__main__":
    typer.run(main)
