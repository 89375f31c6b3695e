#!/usr/bin/env python3
"""Proves that every seat is settled exactly once, whatever fails and whichever process is killed.

    scripts/torture_settlement.py                  10,000 seats, some 65 kills: about ten minutes
    scripts/torture_settlement.py --seats 1000     a tenth of that

The service and a reference settlement server run as processes of their own. The server is slow,
answers 500 or garbage, cuts connections before and after it has acted, leaves charges and payouts
pending, declines charges, and sends answers out of order and twice. Meanwhile the service, the
server or both are killed with SIGKILL and started again. At the end both books are checked and
compared seat by seat. The exit code is 1 if anything is wrong; then the folder stays, with both
books.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import trio
import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the import from tests

from tests.torture.money import Scale, torture


def main(
    seats: Annotated[int, typer.Option(min=1, help="Seats that the partners take.")] = 10_000,
    pending: Annotated[
        int, typer.Option(metavar="SECONDS", help="How long one charge or payout may be pending.")
    ] = 20,
) -> None:
    """Torture the money of many seats."""
    began, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="torture-settlement-"))

    def tell(line: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {line}", flush=True)

    try:
        done = trio.run(torture, folder, Scale(seats, pending), tell)
    except Exception as error:
        tell(f"FAILED, the folder stays: {folder}")
        raise typer.Exit(1) from error
    tell(f"proved on both sides: {done}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    typer.run(main)
