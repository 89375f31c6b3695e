"""`scripts/measure_growth.py` measures on a small scale."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_each_size_gets_a_row_and_the_growth_of_a_seats_cost_decides_the_exit_code(
    tmp_path: Path,
) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "measure_growth.py"), "--rounds", "1"]
    document = tmp_path / "written.md"
    command += ["--seats", "2000", "--seats", "4000", "--keep", str(tmp_path / "kept")]
    command += ["--out", str(document)]
    told = subprocess.run([*command, "--most", "1000"], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    row = r"^\| ([\d,]+) \| \d+ \| (\d+) \| (\d+) \| (\d+) \| (\d+\.\d\d) \|$"
    rows = re.findall(row, told.stdout, re.M)
    assert [size for size, *_ in rows] == ["2,000", "4,000"]
    assert all(float(figure) > 0 for _, *figures in rows for figure in figures)
    bars = re.findall(r"^([\d,]+ seats) +█+ +(\d+) µs$", told.stdout, re.M)
    assert bars == [(f"{size} seats", seat) for size, seat, *_ in rows]
    assert "scripts/measure_growth.py --seats 2000 --seats 4000`" in " ".join(told.stdout.split())
    assert document.read_text().endswith(told.stdout)
    # The folders are there now, so nothing is filled again.
    again = subprocess.run([*command, "--most", "0"], capture_output=True, text=True, check=False)
    assert (again.returncode, "filling" in again.stderr) == (1, False), again.stderr
