"""What a command prints when its answer cannot be written, or when a value is out of bounds."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from pgs.cli.widths import print_whole
from tests.cli.support import NEW, clean_environment, pgs
from tests.full import full_disk
from tests.patience import PATIENCE_S


def _writing_to(stdout: int | None, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command with this standard output. With None, standard output is closed."""
    command = [sys.executable, "-m", "pgs", *map(str, arguments)]
    if stdout is None:
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    return subprocess.run(
        command,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=clean_environment(),
    )


@pytest.mark.parametrize("how", [["--json"], []])
def test_a_closed_pipe_ends_a_command_without_a_message(tmp_path: Path, how: list[str]) -> None:
    pgs(*NEW, "--data", tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    done = _writing_to(writer, "partner", "list", *how, "--data", tmp_path)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    "arguments", [["partner", "list", "--json"], ["partner", "list"], ["--help"]]
)
def test_an_answer_that_cannot_be_written_is_reported_in_one_line(
    tmp_path: Path, arguments: list[str]
) -> None:
    pgs(*NEW, "--data", tmp_path)
    with full_disk() as full:
        done = _writing_to(
            full, *arguments, *([] if "--help" in arguments else ["--data", str(tmp_path)])
        )
    assert done.returncode == 1
    assert "standard output: No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_standard_output_there_is_no_traceback(tmp_path: Path) -> None:
    pgs(*NEW, "--data", tmp_path)
    done = _writing_to(None, "partner", "list", "--data", tmp_path)
    assert done.returncode == 1
    assert "no standard output" in done.stderr
    assert "Traceback" not in done.stderr


TIER = ["tier", "set", "t", "--environment", "test"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["partner", "set", "acme", "--burst", "99999999"], "--burst must be at most 1,000,000"),
        (["partner", "set", "acme", "--rate", "99999999"], "--rate must be at most 1,000,000"),
        (["partner", "show", "x" * 65], "the partner's ID must be at most 64 characters"),
        (["partner", "show", "a\0b"], "the partner's ID must not hold a NUL character"),
        (
            ["partner", "create", "acme", "--name", "x" * 321, "--admin-email", "a@b.example"],
            "--name must be at most 320 characters",
        ),
        (
            ["partner", "create", "acme", "--name", "x", "--admin-email", "x" * 321],
            "--admin-email must be at most 320 characters",
        ),
        (
            ["game", "licence", "acme", "x" * 65, "grant"],
            "the game's id must be at most 64 characters",
        ),
        (
            ["game", "licence", "acme", "chess", "grant", "--note", "x" * 501],
            "--note must be at most 500 characters",
        ),
        (
            [*TIER, "--floor", "9999999999999", "--prize", "1"],
            "--floor must be at most 1,000,000,000",
        ),
        (
            [*TIER, "--floor", "1", "--prize", "9999999999999"],
            "--prize must be at most 1,000,000,000",
        ),
        (["keyring", "use", ""], "KID must be at least 1 character"),
        (["match", "void", "x" * 65], "the match's ID must be at most 64 characters"),
    ],
)
def test_an_error_about_a_bound_names_the_option(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    result = pgs(*arguments, "--data", tmp_path)
    assert (result.exit_code, result.stderr) == (2, f"pgs: {said}\n")


@pytest.mark.parametrize("columns", [20, 60, 100, 300])
def test_a_table_never_cuts_or_splits_an_id_or_a_word(columns: int) -> None:
    key = "mat_" + "x" * 26 + ":sea_" + "y" * 26
    inner = Table("Id", "Since", "Last answer")
    inner.add_row(Text(key), "2029-01-01 00:00:00 UTC", "settlement has declined it: retry it")
    facts = Table(show_header=False)
    facts.add_row("Invite", Text(key, overflow="fold"))
    output = io.StringIO()
    console = Console(file=output, width=columns)
    print_whole(console, Group("Open items:", inner, facts))
    printed = output.getvalue()
    assert printed.count(key) == 2
    for word in ("2029-01-01", "00:00:00", "settlement", "declined"):
        assert word in printed
    widest = max(map(len, printed.splitlines()))
    assert widest <= max(columns, len(key) + 45), "it is no wider than it must be"
