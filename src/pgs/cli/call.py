"""From a command and its arguments to its answer: through the running service's socket, else on the data folder itself."""

import logging
import sys
from contextlib import suppress
from typing import TypeVar

import structlog
import trio

from pgs.cli.errors import NoDatabase
from pgs.config import Config
from pgs.operator.answers import Answer, decode_args, decode_request, encode_request
from pgs.operator.command import Args, OperatorCommand
from pgs.operator.protocol import NotRunning, call_operator
from pgs.operator.records import Record
from pgs.storage.data_folder import DataFolderInUse
from pgs.storage.transactions import StoreOutage

A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Record)

WAIT_S = 5.0
"""Seconds that a command waits for a data folder that is locked by a process which answers no
commands: a service that starts or stops, or another command."""

LOOK_AGAIN_S = 0.05
"""Seconds between two tries to lock the folder: soon enough that nobody notices the wait."""

PAYOUTS_S = 5.0
"""Seconds that a command on a stopped service waits for the payouts that follow from it. The next
start makes the remaining ones."""

LOOK_FOR_PAYOUTS_S = 0.02
"""Seconds between two looks for payouts that are still due: soon enough that nobody notices the
wait."""


async def perform(config: Config, command: OperatorCommand[A, R], args: A) -> Answer:
    """Return a command's answer, whether or not the service runs; the same function does it either way.

    Raises `BadCall` for arguments that no such command takes, `NoDatabase`, `DataFolderInUse`, and what opening the folder raises.
    """
    line = encode_request(command.name, args)
    decode_args(decode_request(line).args, command.args)
    folder = config.data_dir
    give_up_at = trio.current_time() + WAIT_S
    while True:
        try:
            return await call_operator(folder, command.name, args)
        except NotRunning:
            if not command.starts_a_folder and not await trio.Path(folder / "pgs.db").exists():
                raise NoDatabase(str(folder)) from None
        try:
            return await _on_the_folder(config, line, stay=command.moves_money)
        except DataFolderInUse:
            if trio.current_time() >= give_up_at:
                raise
            await trio.sleep(LOOK_AGAIN_S)


async def _on_the_folder(config: Config, line: bytes, *, stay: bool) -> Answer:
    # Here, not above: most calls find a running service, and need nothing of it in this process.
    from pgs.app import open_core
    from pgs.operator.execute import execute
    from pgs.storage.seats import is_money_due

    async with open_core(config) as core:
        answer = await execute(core, line)
        if stay:
            with suppress(StoreOutage), trio.move_on_after(PAYOUTS_S):
                while await is_money_due(core.parts.database.reader):  # noqa: ASYNC110 - what is booked is told to rows alone
                    await trio.sleep(LOOK_FOR_PAYOUTS_S)
        return answer


def log_to_stderr() -> None:
    """Keep standard output to the command's answer: of the log only faults are shown, on standard error.

    Not warnings: a process that ends at once leaves things for the next start, and says so in words that mean nothing to an operator.
    """
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        # Looked up anew for each logger: standard error is not always the one that the process began with.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
