"""Runs programs that use the JavaScript client, which `scripts/clients` builds."""

import os
import subprocess
from pathlib import Path

import trio

from tests.conventions.tree import ROOT

JS = ROOT / "clients" / "js"

# If the machine has no Node that is new enough, scripts/web installs one into .venv.
ENVIRONMENT = {**os.environ, "PATH": f"{os.environ['PATH']}:{ROOT / '.venv' / 'bin'}"}


async def built() -> None:
    """Build the client unless that was done."""
    if not (JS / "dist" / ".built").exists():
        await run(ROOT / "scripts" / "clients", folder=ROOT)


async def run(*command: str | Path, folder: Path) -> str:
    """Return what a command prints. Fails if its exit code is not 0."""
    done = await trio.run_process(
        [str(word) for word in command],
        cwd=folder,
        env=ENVIRONMENT,
        capture_stdout=True,
        stderr=subprocess.STDOUT,
        check=False,
    )
    said = done.stdout.decode()
    assert done.returncode == 0, said
    return said


async def node(program: Path, *arguments: str, folder: Path, flags: tuple[str, ...] = ()) -> str:
    """Return what a program prints. Fails if its exit code is not 0."""
    await built()
    return await run("node", *flags, program, *arguments, folder=folder)


async def tsc(*arguments: str, folder: Path) -> str:
    """Return what the TypeScript compiler prints. Fails if it finds an error."""
    await built()
    return await run("node", JS / "node_modules" / ".bin" / "tsc", *arguments, folder=folder)
