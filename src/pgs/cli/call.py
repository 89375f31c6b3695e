"""Carries out an operator command: through the running service, or on the data folder itself."""

import dataclasses
import logging
import sys
from contextlib import suppress
from typing import TypeVar

import structlog
import trio

from pgs.cli.errors import NoDatabase, OthersRun
from pgs.config import Config
from pgs.operator.command import Args, OperatorCommand
from pgs.operator.messages import Answer, decode_args, decode_request, encode_request
from pgs.operator.records import Record
from pgs.operator.unix_socket import NotRunning, call_operator
from pgs.storage.data_folder import DataFolderInUse
from pgs.storage.transactions import StoreOutage

A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Record)

WAIT_S = 5.0
"""Seconds that a command waits for a locked data folder whose owner answers no commands: a service
that starts or stops, or another command."""

LOOK_AGAIN_S = 0.05
"""Seconds between two tries to lock the folder: too short for people to notice."""

PAYOUTS_S = 5.0
"""Seconds that a command without a running service waits for the payouts that it causes. The next
start of the service makes the remaining ones."""

LOOK_FOR_PAYOUTS_S = 0.02
"""Seconds between two checks for payouts that are still due: too short for people to notice."""


async def perform(config: Config, command: OperatorCommand[A, R], args: A) -> Answer:
    """Return the answer to a command, from the running service or from the folder itself.

    `execute` carries the command out in both cases. Raises `BadCall` for arguments that the command
    does not take, `NoDatabase`, `OthersRun`, `DataFolderInUse`, the errors of opening the folder,
    and those of `call_operator` except `NotRunning`.
    """
    line = encode_request(command.name, args)
    decode_args(decode_request(line).args, command.args)
    folder = config.data_dir
    give_up_at = trio.current_time() + WAIT_S
    while True:
        try:
            return await call_operator(folder, command.name, args)
        except NotRunning:
            # Imported here: most calls find a running service and do not need these modules.
            from pgs.storage.engines import has_been_used

            if not command.starts_a_folder and not has_been_used(folder):
                raise NoDatabase(str(folder)) from None
        await _refuse_beside_nodes(config)
        try:
            return await _run_on_folder(config, line, await_payouts=command.moves_money)
        except DataFolderInUse:
            if trio.current_time() >= give_up_at:
                raise
            await trio.sleep(LOOK_AGAIN_S)


async def _refuse_beside_nodes(config: Config) -> None:
    """Raise `OthersRun` if the node of these settings does not run, and others do."""
    if not config.node_name:
        return
    # Imported here: most calls find a running service and do not need this module.
    from pgs.storage import engines

    # `nodes_of` raises StoreOutage also if no node has ever started on this database: then none
    # runs. After any other StoreOutage, opening the database fails later as well and says why.
    with suppress(StoreOutage):
        nodes = (await trio.to_thread.run_sync(engines.nodes_of, config)).nodes
        if running := [node.name for node in nodes if node.running]:
            raise OthersRun(config.node_name, running)


async def _run_on_folder(config: Config, line: bytes, *, await_payouts: bool) -> Answer:
    # Imported here: most calls find a running service and do not need these modules.
    from pgs.app import open_core
    from pgs.operator.execute import execute
    from pgs.storage.seats import is_money_due

    # Open the core without a node's name, so that it owns every partner: with a name, it would own
    # none until it has taken shards. While another node runs, the database refuses a core without a
    # name.
    alone = dataclasses.replace(config, node_name="", node_address="")
    async with open_core(alone) as core:
        answer = await execute(core, line)
        if await_payouts:
            with suppress(StoreOutage), trio.move_on_after(PAYOUTS_S):
                # Polled: payouts are only recorded in rows, and no event announces them.
                while await is_money_due(core.parts.database.reader):  # noqa: ASYNC110  reads rows
                    await trio.sleep(LOOK_FOR_PAYOUTS_S)
        return answer


def log_to_stderr() -> None:
    """Log errors to standard error, and nothing to standard output, which is for the answer.

    Warnings are left out: this process ends soon and leaves work to the next start, and an operator
    does not need a warning about that.
    """
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        # `sys.stderr` is looked up for each logger because tests replace it.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
