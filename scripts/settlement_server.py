#!/usr/bin/env python3
"""A reference settlement server, to try things out with and for the tests. It moves no money.

    scripts/settlement_server.py                                 serves on http://127.0.0.1:8010
    scripts/settlement_server.py --fault slow=0.1:0.5 --fault 500=0.05
    scripts/settlement_server.py --check                         checks its own books

It keeps its books and its token in the folder `settlement-data`. What it has answered survives a
kill. docs/settlement.md describes the interface; `--help` lists the faults.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import secrets
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import trio
import typer
from reference_settlement.books import Books
from reference_settlement.faults import KINDS, BadFault, Luck, parse
from reference_settlement.server import serve

_FAULTS = "NAME=SHARE[:SECONDS]. " + " ".join(f"{name}: {what}." for name, what in KINDS.items())


def main(
    data: Annotated[Path, typer.Option(help="The folder of its books.")] = Path("settlement-data"),
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8010,
    fault: Annotated[list[str] | None, typer.Option(help=_FAULTS)] = None,
    seed: Annotated[int, typer.Option(help="Decides which request meets which fault.")] = 0,
    check: Annotated[bool, typer.Option("--check", help="Check the books and end.")] = False,
) -> None:
    """Serve until Ctrl-C, or check the books."""
    try:
        luck = Luck(parse(fault or ()), seed)
    except BadFault as error:
        raise typer.BadParameter(str(error)) from None
    if check and not (data / "settlement.db").exists():
        raise typer.BadParameter(
            f"{data} holds no books of a settlement server", param_hint="--data"
        )
    books = Books(data)
    if check:
        report = books.report()
        print(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
        sys.exit(0 if report["sound"] else 1)
    token_file = data / "token"
    if not token_file.exists():
        token_file.touch(mode=0o600)
        token_file.write_text(secrets.token_urlsafe(32) + "\n")

    def say(url: str) -> None:
        print(f"settlement is ready: {url} (token in {token_file})", flush=True)

    try:
        trio.run(serve, books, token_file.read_text().strip(), luck, host, port, say)
    except KeyboardInterrupt:
        pass
    finally:
        books.close()


if __name__ == "__main__":
    typer.run(main)
