"""One request line of an operator to its answer, whatever the line holds and whatever breaks on the way."""

import structlog

from pgs.actors.core import Core
from pgs.actors.kernel.mail import Crashed, Degraded, Overloaded
from pgs.keyfile import BadKeyFile
from pgs.operator.answers import Answer, BadCall, Failed, answer_to, decode_args, decode_request
from pgs.operator.commands import COMMANDS
from pgs.storage.transactions import OutcomeUnknown, StoreOutage, WriterFull

log = structlog.get_logger("pgs.operator")


async def execute(core: Core, line: bytes) -> Answer:
    """Return the answer to a request. Nothing that goes wrong is raised; what is a fault of ours is logged with its traceback."""
    try:
        request = decode_request(line)
        command = COMMANDS.get(request.command)
        if command is None:
            return Failed(
                f"There is no command {request.command!r}; there are {', '.join(COMMANDS)}."
            )
        args = decode_args(request.args, command.args)
    except BadCall as error:
        return Failed(f"This is no request that the service understands: {error}.")
    try:
        answer = answer_to(await command.run(core, args))
    except (Overloaded, WriterFull):
        answer = Failed("The service is too busy, or stopping. Nothing was done: try again.")
    except Degraded:
        answer = Failed(
            "This partner rests after a run of faults. Nothing was done: look at the log, and try again in half a minute."
        )
    except (Crashed, OutcomeUnknown):
        answer = Failed(
            "It broke on the way. Whether it was done is not known: look at the log and at the state before you try again."
        )
    except BadKeyFile as error:
        answer = Failed(f"Nothing was changed: {error}.")
    except StoreOutage as error:
        answer = Failed(
            f"The database could not do its part: {error}. Look at the disk, then try again."
        )
    except Exception:
        log.exception("operator_command_crashed", command=command.name)
        answer = Failed(
            "It broke inside the service. Whether it was done is not known: the log tells more."
        )
    # The arguments stay out: they name people.
    log.info("operator_command", command=command.name, answer=type(answer).__name__.lower())
    return answer
