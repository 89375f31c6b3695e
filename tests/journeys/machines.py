"""The machine of a node, on which a test gives operators' commands."""

import subprocess
from pathlib import Path
from typing import TypeVar

import msgspec
import trio

from pgs.cli.call import perform
from pgs.config import Config
from pgs.operator.command import Args, OperatorCommand
from pgs.operator.messages import Answer, Done
from pgs.operator.records import Record
from tests.cli.support import process

A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Record)


class Machine:
    """The machine of one node, where an operator gives commands."""

    def __init__(self, folder: Path, name: str) -> None:
        self._config = Config(data_dir=folder / name)

    async def ask(self, command: OperatorCommand[A, R], args: A) -> Answer:
        """Return the answer to a command that is given on this machine."""
        return await perform(self._config, command, args)

    async def do(self, command: OperatorCommand[A, R], args: A) -> R:
        """Return the result of a command, which must succeed."""
        answer = await self.ask(command, args)
        assert isinstance(answer, Done), answer
        return msgspec.json.decode(answer.result, type=command.result)

    async def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Return how a command of the command line ended."""
        return await trio.to_thread.run_sync(
            lambda: process(*arguments, "--data", self._config.data_dir, **environ)
        )
