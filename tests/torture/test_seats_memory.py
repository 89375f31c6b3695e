"""Runs `scripts/measure_seats.py` on a small scale: the memory of matched seats without players."""

import os
import subprocess
import sys

import pytest

from tests.conventions.tree import ROOT

SEATS, MOST_MB = 10_000, 15
"""Seats, and the megabytes that they may take: 1 kB for each seat (100 MB for 100,000 seats), and
half as much again for fixed costs."""


@pytest.mark.slow
def test_ten_thousand_matched_seats_without_players_take_less_than_15_megabytes() -> None:
    command = [
        sys.executable,
        str(ROOT / "scripts" / "measure_seats.py"),
        "--seats",
        str(SEATS),
        "--most",
        str(MOST_MB),
        "--partners",
        "1",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={"PATH": os.environ["PATH"], "COLUMNS": "120"},
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert f"| 1 | {SEATS // 2} |" in done.stdout
