"""Errors of the command line: each is one line on standard error and an exit code."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from pgs.config import BadSettings
from pgs.games.installed import BadGame
from pgs.keyfile import BadKeyFile
from pgs.operator.messages import BadCall
from pgs.operator.unix_socket import ConnectionLost, SocketObstructed, is_running
from pgs.storage.data_folder import BadSource, DataFolderInUse, DataRefused
from pgs.storage.migrations import SchemaNewer
from pgs.storage.transactions import StoreOutage

REFUSED = 1
"""Exit code of a command that was understood, and then refused or failed, as the operations page
promises."""

WRONG_CALL = 2
"""Exit code of a command that was not understood. It is typer's own code for wrong options."""

INTERRUPTED = 130
"""Exit code after Ctrl-C: what a shell reports for SIGINT, 128 + 2."""


# The arguments that `BadCall` may name, and what they are called on the command line.
_AS_TYPED = {
    "partner_id": "the partner's ID",
    "game_id": "the game's id",
    "tier_id": "the tier's ID",
    "match_id": "the match's ID",
    "invoice_id": "the invoice's ID",
    "kid": "KID",
    "uid": "UID",
    "item_id": "the ID of the charge or payout",
    "name": "--name",
    "admin_email": "--admin-email",
    "email": "--email",
    "admin_domain": "--admin-domain",
    "burst": "--burst",
    "rate": "--rate",
    "note": "--note",
    "floor_usd_cents": "--floor",
    "prize_usd_cents": "--prize",
    "folder": "FOLDER",
    "text": "the text in FILE",
}


class NoDatabase(Exception):
    """The data folder holds no database, and the command does not create one."""


class OthersRun(Exception):
    """The node of this machine, `name`, does not run, but other nodes do: `running`."""

    def __init__(self, name: str, running: Sequence[str]) -> None:
        super().__init__(name, running)
        self.name = name
        self.running = running


def plain(text: str) -> str:
    """Return a text with its control characters replaced.

    Partners choose some of the text that operators see, and a terminal would obey escape codes.
    """
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def stop(message: str, code: int) -> typer.Exit:
    """Write a message to standard error; return the exit to raise."""
    if sys.stderr is not None:  # None when it was closed before the start
        with suppress(OSError):
            sys.stderr.write(f"pgs: {plain(message)}\n")
    return typer.Exit(code)


@contextmanager
def printing() -> Iterator[None]:
    """Guard a block that prints an answer: if printing fails, write an error and exit with 1.

    For a closed pipe there is no error message: its reader has left on purpose.
    """
    if sys.stdout is None:
        raise stop(
            "there is no standard output. The command was carried out, and its answer is lost.",
            REFUSED,
        )
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        raise typer.Exit(REFUSED) from None
    except OSError as error:
        _forget_output()
        raise stop(
            f"standard output: {error.strerror}. "
            "The command was carried out, and its answer is lost.",
            REFUSED,
        ) from None


@contextmanager
def printing_help() -> Iterator[None]:
    """Guard a block that may print help: if printing fails, write an error and exit with 1.

    It surrounds the whole program. Commands handle their own errors, so only help text is left.
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None or sys.stdout is None:  # the error is not about a stream
            raise
        _forget_output()
        stop(f"standard output: {error.strerror}", REFUSED)
        raise SystemExit(REFUSED) from None


def _forget_output() -> None:
    # The interpreter flushes standard output at its end and would report the same error again.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


@contextmanager
def expected() -> Iterator[None]:
    """Turn an error that an operator can repair into one line and an exit code.

    Other exceptions are bugs and pass unchanged.
    """
    try:
        yield
    except (Exception, BaseExceptionGroup, KeyboardInterrupt) as error:
        explained = _explain(_only(error))
        if explained is None:
            raise
        raise explained from None


def _only(group: BaseException) -> BaseException:
    """Return the only exception in nested groups, or the group when it holds several."""
    while isinstance(group, BaseExceptionGroup) and len(group.exceptions) == 1:
        group = group.exceptions[0]
    return group


def _explain(error: BaseException) -> typer.Exit | None:
    """Write an expected error to standard error and return the exit; None for any other error."""
    if isinstance(error, typer.Exit):
        return error
    if isinstance(error, KeyboardInterrupt):
        return stop("interrupted", INTERRUPTED)
    if isinstance(error, BadCall) and error.argument is not None:
        return stop(f"{_AS_TYPED.get(error.argument, error.argument)} {error.problem}", WRONG_CALL)
    if isinstance(error, BadCall | BadSettings):
        return stop(str(error), WRONG_CALL)
    message = _folder_message(error) or _service_message(error) or _system_message(error)
    return None if message is None else stop(message, REFUSED)


def _folder_message(error: BaseException) -> str | None:
    """Return the message for an error of the data folder or its files; None for another error."""
    if isinstance(error, NoDatabase):
        return (
            f"there is no database in {error}. Name the data folder with --data or PGS_DATA_DIR; "
            "`pgs serve` makes a new one."
        )
    if isinstance(error, DataFolderInUse) and is_running(Path(str(error))):
        return (
            f"a service runs on the data folder {error} already. "
            "Stop it first, or name another folder with --data."
        )
    if isinstance(error, DataFolderInUse):
        return (
            f"another process works on the data folder {error}: a service that starts or stops, "
            "or a command. Try again in a moment."
        )
    if isinstance(error, SocketObstructed):
        return (
            f"{error} is a folder, and the operator's socket belongs there. "
            "Move it away, then start again."
        )
    if isinstance(error, SchemaNewer):
        return (
            f"a newer version wrote this database ({error}). "
            "Use that version, or a backup from before it."
        )
    if isinstance(error, DataRefused | BadSource):
        return str(error)
    if isinstance(error, BadKeyFile):
        return (
            f"{error}. Put the file that belongs to this data folder back: "
            "without it stored secrets cannot be read."
        )
    return None


def _service_message(error: BaseException) -> str | None:
    """Return the message for an error of the service, its games or its database; else None."""
    if isinstance(error, ConnectionLost):
        return (
            f"the service took the command and did not answer ({error}). "
            "Look at the current state before you repeat it."
        )
    if isinstance(error, OthersRun):
        return (
            f"node {error.name} does not run here. Nothing was done: run the command on the "
            f"machine of a node that runs ({', '.join(error.running)})."
        )
    if isinstance(error, BadGame):
        return f"{error}. Remove the package that installs it."
    if isinstance(error, StoreOutage):
        return (
            f"the database cannot be used: {error}. "
            "Look at the disk and at the file's owner, or at PostgreSQL, then try again."
        )
    return None


def _system_message(error: BaseException) -> str | None:
    """Return the message for an error of the operating system; None for another error."""
    if not isinstance(error, OSError):
        return None
    place = f"{error.filename}: " if isinstance(error.filename, str) else ""
    if isinstance(error, PermissionError):
        return (
            f"{place}permission denied. "
            f"Run this as the user that the service runs as (you are {os.geteuid()})."
        )
    return f"{place}{error.strerror or error}"
