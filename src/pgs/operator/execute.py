"""Carries out one request line of an operator and returns the answer, whatever goes wrong."""

from typing import Final

import msgspec
import structlog

from pgs.actors.core import Core
from pgs.actors.kernel.mail import Crashed, Degraded, NotOwned, Overloaded
from pgs.keyfile import BadKeyFile
from pgs.operator.commands import COMMANDS
from pgs.operator.forwarding import NotHere, answer_at_owner
from pgs.operator.messages import (
    Answer,
    BadCall,
    Failed,
    decode_args,
    decode_request,
    encode_answer,
)
from pgs.storage.transactions import OutcomeUnknown, StoreOutage, WriterFull

log = structlog.get_logger("pgs.operator")


NOT_HERE: Final = Failed("This node does not own what the command is about. Nothing was done.")


async def execute_for_node(core: Core, line: bytes) -> bytes:
    """Return the answer to a command that another node has sent.

    The answer is empty if this node does not own what the command is about.
    """
    answer = await execute(msgspec.structs.replace(core, nodes=None), line)
    return b"" if answer is NOT_HERE else encode_answer(answer)


async def execute(core: Core, line: bytes) -> Answer:
    """Return the answer to a request line.

    No exception leaves this function: every error becomes an answer. An exception that is not
    expected is a bug and is logged with its traceback.
    """
    try:
        request = decode_request(line)
        command = COMMANDS.get(request.command)
        if command is None:
            return Failed(
                f"There is no command {request.command!r}; there are {', '.join(COMMANDS)}."
            )
        args = decode_args(request.args, command.args)
    except BadCall as error:
        return Failed(f"The service does not understand this request: {error}.")
    try:
        answer = await answer_at_owner(core, command, args)
    except NotHere:
        return NOT_HERE
    except NotOwned:
        answer = Failed(
            "The partner moved to another node while the command was carried out. Look at the "
            "current state, then try again."
        )
    except (Overloaded, WriterFull):
        answer = Failed("The service is too busy, or stopping. Nothing was done: try again.")
    except Degraded:
        answer = Failed(
            "This partner is degraded: its actors broke too often. Nothing was done: look at the "
            "log, and try again in half a minute."
        )
    except (Crashed, OutcomeUnknown):
        answer = Failed(
            "A fault stopped the command. It may or may not have been done: look at the log and at "
            "the current state before you try again."
        )
    except BadKeyFile as error:
        answer = Failed(f"Nothing was changed: {error}.")
    except StoreOutage as error:
        answer = Failed(
            f"The database cannot be used: {error}. Look at the disk, or at PostgreSQL, then try "
            "again."
        )
    except Exception:
        log.exception("operator_command_crashed", command=command.name)
        core.parts.on_event("operator_command_crashed")
        answer = Failed(
            "A fault in the service stopped the command. It may or may not have been done: look "
            "at the log."
        )
    # The arguments are not logged: they name people.
    log.info("operator_command", command=command.name, answer=type(answer).__name__.lower())
    return answer
