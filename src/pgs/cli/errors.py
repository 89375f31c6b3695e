"""What the command line says when something cannot be done: one line on standard error and an exit code, never a traceback."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from pgs.config import BadSettings
from pgs.keyfile import BadKeyFile
from pgs.operator.answers import BadCall
from pgs.operator.protocol import ConnectionLost
from pgs.storage.database import DataFolderInUse, SchemaNewer, StoreOutage

REFUSED = 1  # understood, and not done
WRONG_CALL = 2  # not understood; typer's own code for wrong options
INTERRUPTED = 130  # what a shell makes of SIGINT


class NoDatabase(Exception):
    """The data folder holds no database, and the command cannot begin one."""


def plain(text: str) -> str:
    """Return a text without anything that a terminal would obey: partners choose some of what operators are shown."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def stop(message: str, code: int) -> typer.Exit:
    """Say why on standard error; return what to raise."""
    sys.stderr.write(f"pgs: {plain(message)}\n")
    return typer.Exit(code)


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
    if isinstance(error, BadCall | BadSettings):
        return stop(str(error), WRONG_CALL)
    if isinstance(error, KeyboardInterrupt):
        return stop("interrupted", INTERRUPTED)
    if isinstance(error, NoDatabase):
        return stop(
            f"there is no database in {error}. Name the data folder with --data or PGS_DATA_DIR; `pgs serve` makes a new one.", REFUSED
        )
    if isinstance(error, DataFolderInUse):
        return stop(
            f"another process works on the data folder {error} and answers no operator. Once it has started or stopped, try again.",
            REFUSED,
        )
    if isinstance(error, ConnectionLost):
        return stop(f"the service took the command and did not answer ({error}). Look at what is there before you repeat it.", REFUSED)
    if isinstance(error, SchemaNewer):
        return stop(f"a newer version wrote this database ({error}). Use that version, or a backup from before it.", REFUSED)
    if isinstance(error, BadKeyFile):
        return stop(f"{error}. Put the file that belongs to this data folder back: without it stored secrets cannot be read.", REFUSED)
    if isinstance(error, StoreOutage):
        return stop(f"the database cannot be used: {error}. Look at the disk and at the file's owner, then try again.", REFUSED)
    if isinstance(error, PermissionError):
        return stop(f"{_place(error)}permission denied. Run this as the user that the service runs as (you are {os.geteuid()}).", REFUSED)
    if isinstance(error, OSError):
        return stop(f"{_place(error)}{error.strerror or error}", REFUSED)
    return error if isinstance(error, typer.Exit) else None


def _place(error: OSError) -> str:
    return f"{error.filename}: " if isinstance(error.filename, str) else ""
