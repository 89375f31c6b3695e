#!/usr/bin/env python3
"""A fresh data folder for load tests: partners who can play at once, and a file with their keys.

    scripts/seed.py --data DIR --partners 1000 --out partners.json

Every partner `load-0001`, `load-0002` … has a test and a live key, every game of the catalogue on in both environments and the rake terms
agreed. Both environments have one tier, `test-bronze` and `live-bronze`: floor 100, prize 180 US cents. It all goes through the account
commands, on the data folder, while no service runs there.
"""

import in_venv  # noqa: F401  first: what follows is installed there

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
from pgs.operator.ready import NotMade, ReadyPartner, make_ready, offer_tier

AT_ONCE = 32  # partners in the making: enough to fill the writer's groups, few enough to keep every mailbox short
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
        typer.Option(
            metavar="DIR", help="The data folder to make; one that is already in use is refused."
        ),
    ],
    partners: Annotated[int, typer.Option(min=1, max=100_000, help="How many partners.")],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Where to write the keys, as JSON that only you can read."
        ),
    ],
) -> None:
    """Make a fresh data folder for load tests."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    if (data / "pgs.db").exists():
        raise stop(
            f"{data} holds a database already. Name another folder, or remove this one: seeding adds to nothing.",
            REFUSED,
        )
    if not out.absolute().parent.is_dir():
        raise stop(f"there is no folder {out.absolute().parent} to write {out.name} into", REFUSED)
    if out.exists() and not out.is_file():
        raise stop(f"{out} is no file that could be replaced: name another one", REFUSED)
    console = Console(stderr=True)
    with expected(), Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("Partners", total=partners)
        try:
            made = trio.run(seed, data, partners, lambda: progress.advance(task))
        except* NotMade as refused:
            raise stop(f"{_first(refused)}. Remove {data} and start again.", REFUSED) from None
        write_keys(out, made)


async def seed(
    data: Path, partners: int, tick: Callable[[], None] = lambda: None
) -> list[ReadyPartner]:
    """Return the partners that were made, by id. `tick` is called after each.

    Raises a group of `NotMade`, and what opening a folder raises.
    """
    made: dict[str, ReadyPartner] = {}
    async with open_core(Config(data_dir=data)) as core:
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
    """Make partners until the numbers, which all makers share, run out."""
    for number in numbers:
        partner_id = f"load-{number:04}"
        made[partner_id] = await make_ready(
            core, partner_id, f"Load {number:04}", f"admin@{partner_id}.example", label="load test"
        )
        tick()


def _first(error: BaseException) -> BaseException:
    """Return an exception, or the first one of a nest of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def write_keys(out: Path, made: list[ReadyPartner]) -> None:
    """Write the file, whole or not at all, readable by its owner alone."""
    entries = [
        Seeded(partner.partner_id, partner.test_key, partner.live_key, "test-bronze")
        for partner in made
    ]
    part = out.with_name(out.name + ".new")
    part.unlink(missing_ok=True)  # its mode would outlive it
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(entries), indent=2) + b"\n")
    part.replace(out)


if __name__ == "__main__":
    typer.run(main)
