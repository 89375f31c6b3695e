"""`scripts/measure_billing.py` measures on a small scale and writes both sections."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conventions.tree import ROOT


@pytest.mark.slow
def test_the_script_measures_each_call_for_each_history_and_assembles_a_month(
    tmp_path: Path,
) -> None:
    out = tmp_path / "benchmarks.md"
    options = ["--seats", "1000", "--seats", "2000", "--month", "310", "--rounds", "2"]
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "measure_billing.py", *options, "--out", out],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    # The exit code judges times, which say nothing on a busy machine.
    assert done.returncode in (0, 1), done.stderr
    text = out.read_text(encoding="utf-8")
    assert "| Call | 1,000 seats | 2,000 seats | last / first |" in text
    for query in ("usage", "seat summary", "digest"):
        assert f"| {query} | " in text
    assert "A month of" in text
    assert "lines over" in text
