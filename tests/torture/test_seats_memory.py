"""What matched seats that nobody has joined cost in memory, on a smaller scale than scripts/measure_seats.py's own."""

import os
import subprocess
import sys

import pytest

from tests.conventions.tree import ROOT

SEATS, MOST_MB = 10_000, 15
"""As many bytes for a seat as 100 MB for 100,000 of them, and half as much again for what comes with the first ones."""


@pytest.mark.slow
def test_ten_thousand_matched_seats_that_nobody_has_joined_take_less_than_fifteen_megabytes() -> (
    None
):
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
