"""Bots in separate processes play many matches at once, over real sockets, to the end."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conventions.tree import ROOT

pytestmark = pytest.mark.torture


def run(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={"PATH": os.environ["PATH"], "COLUMNS": "120"},
    )


def test_fifty_matches_at_once_end_as_their_players_saw_them(tmp_path: Path) -> None:
    document = tmp_path / "benchmarks.md"
    done = run("load_games.py", "--quick", "--out", document)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() in document.read_text()
    (row,) = re.findall(r"^\| 0 s \| ([0-9]+) \|", done.stdout, re.MULTILINE)
    assert int(row) > 50 * 5, "a match has at least five moves"


def test_matches_with_a_clock_for_each_side_end_too(tmp_path: Path) -> None:
    pytest.importorskip("chess", reason="NOT TESTED: the extra `chess` is not installed")
    done = run(
        "load_games.py", "--matches", "4", "--think", "0", "--rounds", "1", "--games", "chess"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_rows_that_are_missing_from_the_feed_are_reported(tmp_path: Path) -> None:
    """Here the check does not wait for the payouts, so it must report missing rows."""
    program = (
        "import sys, game_load.round as r; r.PAYOUTS_S = 0.0; "
        "import load_games as l; l.typer.run(l.main)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--matches", "2", "--think", "0"],
        cwd=ROOT / "scripts",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert "the feed has 0 of 4 rows" in done.stderr
