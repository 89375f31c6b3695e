"""A data folder with a partner whose players have seats, and an operator who runs commands."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
import trio

from pgs.actors.core import Core
from pgs.actors.messages.seats import Seated, StakeSeat
from pgs.app import open_core
from pgs.cli.call import perform
from pgs.config import Config
from pgs.domain.seats import SeatRequest
from pgs.operator.command import Args, OperatorCommand
from pgs.operator.messages import Answer, Done, Refused
from pgs.operator.ready_partners import ReadyPartner, make_ready, offer_tier
from pgs.operator.records import Record
from pgs.operator.unix_socket import serve_operator

A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Record)


@asynccontextmanager
async def serving(
    folder: Path, *, inline: bool = False, on_event: Callable[[str], None] = lambda name: None
) -> AsyncIterator[Core]:
    """Run a service without HTTP on a data folder: only its actors and the operator's socket."""
    async with (
        open_core(Config(data_dir=folder), inline=inline, on_event=on_event) as core,
        trio.open_nursery() as nursery,
    ):
        await nursery.start(serve_operator, core, folder)
        yield core
        nursery.cancel_scope.cancel()


async def prepare(folder: Path, *players: str) -> ReadyPartner:
    """Create the partner `acme` in a new data folder; seat its players for tic-tac-toe in test.

    The second player is matched with the first.
    """
    async with open_core(Config(data_dir=folder)) as core:
        await offer_tier(core, "test", "bronze", 100, 180, "Bronze")
        partner = await make_ready(core, "acme", "Acme", "admin@acme.example")
        for player in players:
            await seat(core, player)
        return partner


async def seat(core: Core, player: str) -> Seated:
    """Take a seat for a player."""
    seated = (
        await core.directory.partner("acme")
        .seats("test")
        .ask(StakeSeat(SeatRequest(player, "tic-tac-toe", "bronze", 100, f"for-{player}", None)))
    )
    assert isinstance(seated, Seated)
    return seated


class Operator:
    """Runs commands on a data folder, as the command line does."""

    def __init__(self, folder: Path) -> None:
        self.config = Config(data_dir=folder)

    async def ask(self, command: OperatorCommand[A, R], args: A) -> Answer:
        """Return the answer to a command."""
        return await perform(self.config, command, args)

    async def done(self, command: OperatorCommand[A, R], args: A) -> R:
        """Return the result of a command that must succeed."""
        answer = await self.ask(command, args)
        assert isinstance(answer, Done), answer
        return msgspec.json.decode(answer.result, type=command.result)

    async def refused(self, command: OperatorCommand[A, R], args: A) -> Refused:
        """Return the refusal of a command that must be refused."""
        answer = await self.ask(command, args)
        assert isinstance(answer, Refused), answer
        return answer
