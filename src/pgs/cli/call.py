"""From a command and its arguments to its answer: through the running service's socket, else on the data folder itself."""

import logging
import sys
from typing import TypeVar

import structlog
import trio

from pgs.cli.errors import NoDatabase
from pgs.config import Config
from pgs.operator.answers import Answer, decode_args, decode_request, encode_request
from pgs.operator.commands import Args, OperatorCommand
from pgs.operator.protocol import NotRunning, call_operator
from pgs.operator.records import Record
from pgs.storage.database import DataFolderInUse

A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Record)

WAIT_S = 5.0  # how long a folder may be held by what answers no operator: a service that starts or stops, or another of these commands
LOOK_AGAIN_S = 0.05


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
            return await _on_the_folder(config, line)
        except DataFolderInUse:
            if trio.current_time() >= give_up_at:
                raise
            await trio.sleep(LOOK_AGAIN_S)


async def _on_the_folder(config: Config, line: bytes) -> Answer:
    # Here, not above: most calls find a running service, and need nothing of it in this process.
    from pgs.app import open_core
    from pgs.operator.execute import execute

    async with open_core(config) as core:
        return await execute(core, line)


def log_to_stderr() -> None:
    """Keep standard output to the command's answer: of the log only what is wrong is shown, on standard error."""
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        # Looked up anew for each logger: standard error is not always the one that the process began with.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
