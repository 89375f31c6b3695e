#!/usr/bin/env python3
"""Creates a data folder for load tests: partners that are ready to play, and a file of their keys.

    scripts/seed.py --data DIR --partners 1000 --out partners.json

Each partner (`load-0001`, `load-0002` …) has a test and a live key and every game in both
environments, and has agreed to the rake terms. Each environment has one tier, `test-bronze` or
`live-bronze`: floor 100, prize 180 US cents. The script uses the account commands on the data
folder; no service may run there.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import structlog
import trio
import typer
from rich.console import Console
from rich.progress import Progress

from pgs.actors.core import Core
from pgs.app import open_core
from pgs.cli.errors import REFUSED, expected, stop
from pgs.config import Config
from pgs.domain.environments import ENVIRONMENTS
from pgs.operator.ready_partners import NotMade, ReadyPartner, make_ready, offer_tier

# Partners that are created at the same time: enough to fill the writer's groups, and few enough to
# keep mailboxes short.
AT_ONCE = 32
FLOOR_USD_CENTS, PRIZE_USD_CENTS = 100, 180


class Seeded(msgspec.Struct, frozen=True, rename="camel"):
    """One partner's entry in the file."""

    partner_id: str
    test_key: str
    live_key: str
    tier_id: str


def main(
    data: Annotated[
        Path,
        typer.Option(metavar="DIR", help="The data folder to create. It must not hold a database."),
    ],
    partners: Annotated[int, typer.Option(min=1, max=100_000, help="How many partners.")],
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The JSON file for the keys. Only you can read it."),
    ],
) -> None:
    """Create a data folder for load tests."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    if (data / "pgs.db").exists():
        raise stop(
            f"{data} holds a database already. Name another folder, or remove this one.",
            REFUSED,
        )
    if not out.absolute().parent.is_dir():
        raise stop(f"there is no folder {out.absolute().parent} to write {out.name} into", REFUSED)
    if out.exists() and not out.is_file():
        raise stop(f"{out} is not a regular file: name another one", REFUSED)
    console = Console(stderr=True)
    with expected(), Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("Partners", total=partners)
        try:
            made = trio.run(seed, data, partners, lambda: progress.advance(task))
        except* NotMade as refused:
            raise stop(f"{_first(refused)}. Remove {data} and start again.", REFUSED) from None
        write_keys(out, made)


async def seed(
    data: Path,
    partners: int,
    tick: Callable[[], None] = lambda: None,
    database_url: str = "",
) -> list[ReadyPartner]:
    """Create the partners; return them in the order of their ids. `tick` is called after each.

    Raises a group of `NotMade`, and what opening a folder raises.
    """
    made: dict[str, ReadyPartner] = {}
    async with open_core(Config(data_dir=data, database_url=database_url)) as core:
        for environment in ENVIRONMENTS:
            await offer_tier(
                core,
                environment,
                f"{environment}-bronze",
                FLOOR_USD_CENTS,
                PRIZE_USD_CENTS,
                "Bronze",
            )
        numbers = iter(range(1, partners + 1))
        async with trio.open_nursery() as nursery:
            for _ in range(min(AT_ONCE, partners)):
                nursery.start_soon(_make, core, numbers, made, tick)
    return [made[partner_id] for partner_id in sorted(made)]


async def _make(
    core: Core, numbers: Iterator[int], made: dict[str, ReadyPartner], tick: Callable[[], None]
) -> None:
    """Create partners until `numbers`, which all tasks share, is exhausted."""
    for number in numbers:
        partner_id = f"load-{number:04}"
        made[partner_id] = await make_ready(
            core, partner_id, f"Load {number:04}", f"admin@{partner_id}.example", label="load test"
        )
        tick()


def _first(error: BaseException) -> BaseException:
    """Return an exception, or the first exception in nested groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def write_keys(out: Path, made: list[ReadyPartner]) -> None:
    """Write the file with mode 0600, whole or not at all."""
    entries = [
        Seeded(partner.partner_id, partner.test_key, partner.live_key, "test-bronze")
        for partner in made
    ]
    part = out.with_name(out.name + ".new")
    part.unlink(missing_ok=True)  # O_EXCL refuses a file that a killed run has left.
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(entries), indent=2) + b"\n")
    part.replace(out)


if __name__ == "__main__":
    typer.run(main)
