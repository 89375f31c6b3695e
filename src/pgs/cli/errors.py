"""What the command line says when something cannot be done: one line on standard error and an exit code, never a traceback."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from pgs.config import BadSettings
from pgs.games.installed import BadGame
from pgs.keyfile import BadKeyFile
from pgs.operator.answers import BadCall
from pgs.operator.protocol import ConnectionLost, SocketObstructed, running
from pgs.storage.data_folder import DataFolderInUse
from pgs.storage.migrations import SchemaNewer
from pgs.storage.transactions import StoreOutage

REFUSED = 1
"""Exit code of a command that was understood and refused, as the operations page promises."""

WRONG_CALL = 2
"""Exit code of a command that was not understood. It is typer's own code for wrong options."""

INTERRUPTED = 130
"""Exit code after Ctrl-C: what a shell reports for SIGINT, 128 + 2."""


# Arguments of commands as an operator types them, where that is not their name.
_SPELLED = {
    "partner_id": "the partner's ID",
    "game_id": "the game's id",
    "tier_id": "the tier's ID",
    "match_id": "the match's ID",
    "name": "--name",
    "admin_email": "--admin-email",
    "burst": "--burst",
    "rate": "--rate",
    "note": "--note",
    "floor_usd_cents": "--floor",
    "prize_usd_cents": "--prize",
    "folder": "FOLDER",
    "text": "the text in FILE",
}


class NoDatabase(Exception):
    """The data folder holds no database, and the command cannot begin one."""


def plain(text: str) -> str:
    """Return a text without anything that a terminal would obey: partners choose some of what operators are shown."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def stop(message: str, code: int) -> typer.Exit:
    """Say why on standard error, if anybody can be told; return what to raise."""
    if sys.stderr is not None:  # it was closed before we began
        with suppress(OSError):
            sys.stderr.write(f"pgs: {plain(message)}\n")
    return typer.Exit(code)


@contextmanager
def printing() -> Iterator[None]:
    """Write a command's answer for a block; where that fails, say so and end with 1. Whoever closed a pipe wants to hear no more."""
    if sys.stdout is None:
        raise stop(
            "there is no standard output. What was asked for was done, and its answer is lost.",
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
            f"standard output: {error.strerror}. What was asked for was done, and its answer is lost.",
            REFUSED,
        ) from None


@contextmanager
def printing_help() -> Iterator[None]:
    """The same around everything: what is left when every command has dealt with its own failures is the help's text."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or sys.stdout is None:  # no stream's failure
            raise
        _forget_output()
        stop(f"standard output: {error.strerror}", REFUSED)
        raise SystemExit(REFUSED) from None


def _forget_output() -> None:
    # The interpreter writes out what is left when it ends, and would tell of the same failure again.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


@contextmanager
def expected() -> Iterator[None]:
    """Turn the failures that an operator can do something about into a line and an exit code; let bugs through."""
    try:
        yield
    except (Exception, BaseExceptionGroup, KeyboardInterrupt) as error:
        explained = _explain(_only(error))
        if explained is None:
            raise
        raise explained from None


def _only(group: BaseException) -> BaseException:
    """Return the one exception that a nest of groups holds, or the group."""
    while isinstance(group, BaseExceptionGroup) and len(group.exceptions) == 1:
        group = group.exceptions[0]
    return group


def _explain(error: BaseException) -> typer.Exit | None:
    """Return the exit that an expected failure makes, after saying so; None for another one."""
    if isinstance(error, BadCall) and error.argument is not None:
        return stop(f"{_SPELLED.get(error.argument, error.argument)} {error.problem}", WRONG_CALL)
    if isinstance(error, BadCall | BadSettings):
        return stop(str(error), WRONG_CALL)
    if isinstance(error, KeyboardInterrupt):
        return stop("interrupted", INTERRUPTED)
    if isinstance(error, NoDatabase):
        return stop(
            f"there is no database in {error}. Name the data folder with --data or PGS_DATA_DIR; `pgs serve` makes a new one.",
            REFUSED,
        )
    if isinstance(error, DataFolderInUse) and running(Path(str(error))):
        return stop(
            f"a service runs on the data folder {error} already. Stop it first, or name another folder with --data.",
            REFUSED,
        )
    if isinstance(error, DataFolderInUse):
        return stop(
            f"another process works on the data folder {error}: a service that starts or stops, or a command. Try again in a moment.",
            REFUSED,
        )
    if isinstance(error, ConnectionLost):
        return stop(
            f"the service took the command and did not answer ({error}). Look at what is there before you repeat it.",
            REFUSED,
        )
    if isinstance(error, SocketObstructed):
        return stop(
            f"{error} is a folder, and the operator's socket belongs there. Move it away, then start again.",
            REFUSED,
        )
    if isinstance(error, SchemaNewer):
        return stop(
            f"a newer version wrote this database ({error}). Use that version, or a backup from before it.",
            REFUSED,
        )
    if isinstance(error, BadKeyFile):
        return stop(
            f"{error}. Put the file that belongs to this data folder back: without it stored secrets cannot be read.",
            REFUSED,
        )
    if isinstance(error, BadGame):
        return stop(
            f"{error}. Remove the package that brings it, or one of two that bring the same.",
            REFUSED,
        )
    if isinstance(error, StoreOutage):
        return stop(
            f"the database cannot be used: {error}. Look at the disk and at the file's owner, then try again.",
            REFUSED,
        )
    if isinstance(error, PermissionError):
        return stop(
            f"{_place(error)}permission denied. Run this as the user that the service runs as (you are {os.geteuid()}).",
            REFUSED,
        )
    if isinstance(error, OSError):
        return stop(f"{_place(error)}{error.strerror or error}", REFUSED)
    return error if isinstance(error, typer.Exit) else None


def _place(error: OSError) -> str:
    return f"{error.filename}: " if isinstance(error.filename, str) else ""
