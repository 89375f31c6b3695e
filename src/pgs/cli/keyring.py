"""`pgs keyring …`: the ring of keys that sign tokens and cursors and seal secrets."""

from pathlib import Path
from typing import Annotated

import typer

from pgs.cli import tables
from pgs.cli.errors import REFUSED, stop
from pgs.cli.options import ConfigFile, DataDir, Json, ask, show
from pgs.operator.command import NoArgs, OperatorCommand
from pgs.operator.commands.keyring import (
    KEYRING_ADD,
    KEYRING_LIST,
    KEYRING_RELOAD,
    KEYRING_ROTATE,
    KEYRING_USE,
    KeyId,
)
from pgs.operator.records import Keyring

keyring = typer.Typer(
    no_args_is_help=True, help="The key ring that signs tokens and cursors and seals secrets."
)


@keyring.command("rotate")
def rotate(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """Add a new key and use it from now on. What older keys signed or sealed stays valid.

    Refused if several nodes share the ring: see `add`, `reload` and `use`.
    """
    _show(KEYRING_ROTATE, as_json, config, data)


@keyring.command("add")
def add(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """Add a new key at the end of the list. It is accepted from now on, and not used yet."""
    _show(KEYRING_ADD, as_json, config, data)


@keyring.command("reload")
def reload(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """Accept the new keys of the key ring's file, after it was copied from another machine.

    The key in use stays in use.
    """
    _show(KEYRING_RELOAD, as_json, config, data)


@keyring.command("use")
def use(
    kid: Annotated[str, typer.Argument(metavar="KID", help="The name of a key on the ring.")],
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Use a key of the ring from now on, at all nodes. Refused if a node that runs lacks it."""
    ring = ask(KEYRING_USE, KeyId(kid), config, data)
    show(ring, tables.keyring, as_json=as_json)
    if ring.unreached:
        error = next(iter(ring.unreached.values()))
        names = ", ".join(ring.unreached)
        raise stop(
            f"these nodes do not use the key yet ({names}). They accept it: nothing is broken. "
            f"Repeat the command. The first error is: {error}",
            REFUSED,
        )


@keyring.command("list")
def list_keyring(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """List the names of the keys, the one in use first."""
    _show(KEYRING_LIST, as_json, config, data)


def _show(
    command: OperatorCommand[NoArgs, Keyring],
    as_json: bool,
    config: Path | None,
    data: Path | None,
) -> None:
    show(ask(command, NoArgs(), config, data), tables.keyring, as_json=as_json)
