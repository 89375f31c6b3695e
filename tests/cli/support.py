"""Runs commands of the command line, in this process or in a new one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
from typer.testing import CliRunner, Result

from pgs.cli.main import app
from tests.patience import PATIENCE_S

NEW = ["partner", "create", "acme", "--name", "Acme", "--admin-email", "admin@acme.example"]


def pgs(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def json_of(result: Result) -> Any:
    """Return the one JSON value on standard output of a command that succeeded silently."""
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return msgspec.json.decode(result.stdout_bytes)


def clean_environment() -> dict[str, str]:
    """Return the environment for a new process: the path, and where coverage is measured to."""
    return {
        name: value
        for name, value in os.environ.items()
        if name == "PATH" or name.startswith("COVERAGE_PROCESS_")
    }


def process(*arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pgs", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**clean_environment(), **environ},
    )
