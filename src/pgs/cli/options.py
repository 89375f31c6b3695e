"""The options that all operator commands share, and how their answers are printed."""

import dataclasses
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import trio
import typer
from rich.console import Console, RenderableType

from pgs.cli.call import log_to_stderr, perform
from pgs.cli.errors import REFUSED, expected, plain, printing, stop
from pgs.cli.widths import print_whole
from pgs.config import Config, check_config, load_config
from pgs.games.installed import GAMES
from pgs.operator.command import Args, OperatorCommand
from pgs.operator.messages import Answer, Done, Failed
from pgs.operator.records import Record

A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Record)
T = TypeVar("T")

PIPED_WIDTH = 160
"""Characters in each line of a table that goes to a file or a pipe. The longest ids fit."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value and nothing else.")]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file; PGS_ variables override it."),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="Data folder; overrides PGS_DATA_DIR and the settings file."
    ),
]

# Advice for operators about refusals whose own message is written for partners.
_NEXT_STEPS = {
    "unknown_tier": "`pgs tier list` shows the tiers.",
    "unknown_game": f"The games are {', '.join(GAMES)}.",
    "match_not_found": "The partner's results feed and the portal show the ids of its matches.",
    "invoice_not_found": "`pgs invoice list` shows all.",
    "address_outside_domain": "`pgs partner set ID --admin-domain D` corrects the domain.",
    "account_inactive": "`pgs partner reactivate` switches it on.",
}


Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


def make_sure(consequence: str, *, yes: bool, as_json: bool) -> None:
    """Ask a person at a terminal to confirm a command; exit unless they do.

    It does not ask with `--json` or `--yes`, or without a terminal.
    """
    if yes or as_json or not is_interactive():
        return
    if not typer.confirm(f"{plain(consequence)} Go on?", err=True):
        raise stop("nothing was done", REFUSED)


def is_interactive() -> bool:
    """Return whether a person can be asked: standard input and standard error are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def whole_cents(text: str) -> int:
    """Return an amount in whole US cents. Raises `typer.BadParameter` for any other spelling."""
    if re.fullmatch("[0-9]{1,18}", text, re.ASCII) is None:
        raise typer.BadParameter(
            f"{plain(text)[:40]!r} is not a number of whole US cents: for 10 dollars write 1000, "
            "without a point, a sign or a currency"
        )
    return int(text)


def settings(config: Path | None, data: Path | None) -> Config:
    """Return the settings from the settings file, the environment and the options.

    Raises `BadSettings`.
    """
    loaded = load_config(config)
    return check_config(dataclasses.replace(loaded, data_dir=data)) if data is not None else loaded


def ask(command: OperatorCommand[A, R], args: A, config: Path | None, data: Path | None) -> R:
    """Return a command's result. On an error, write it to standard error and raise the exit."""
    log_to_stderr()
    with expected():
        answer = trio.run(perform, settings(config, data), command, args)
        if isinstance(answer, Done):
            return msgspec.json.decode(answer.result, type=command.result)
        raise _refused(answer)


def _refused(answer: Answer) -> typer.Exit:
    if isinstance(answer, Done):
        raise TypeError("a result is not a refusal")
    if isinstance(answer, Failed):
        return stop(answer.error, REFUSED)
    details = [answer.reason] if answer.reason else []
    details += [f"{name}: {value}" for name, value in answer.extras.items()]
    message = f"{answer.error} ({', '.join(details)})" if details else answer.error
    hint = _NEXT_STEPS.get(answer.reason or "")
    return stop(f"{message} {hint}" if hint else message, REFUSED)


def show(result: T, draw: Callable[[T], RenderableType], *, as_json: bool) -> None:
    """Print a result as JSON, or as the table that `draw` returns."""
    with printing():
        if as_json:
            # Written as bytes: JSON is UTF-8, whatever the terminal's encoding is.
            sys.stdout.flush()
            sys.stdout.buffer.write(
                msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"
            )
            sys.stdout.buffer.flush()
        else:
            console = Console()
            console.width = console.width if console.is_terminal else PIPED_WIDTH
            print_whole(console, draw(result))
