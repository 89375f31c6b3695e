"""The benchmark's cases about many partners, idle sockets and a noisy partner."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).resolve().parents[2]
SIZES = ["1 partner", "10 partners", "1,000 partners"]


@pytest.mark.slow
def test_the_cases_about_scale_write_their_sections_and_figures(tmp_path: Path) -> None:
    document, figures = tmp_path / "benchmarks.md", tmp_path / "figures.json"
    command = [sys.executable, str(ROOT / "scripts" / "bench.py"), "partners", "sockets", "noise"]
    command += ["--quick", "--rounds", "1", "--out", str(document), "--json", str(figures)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text, found = document.read_text(encoding="utf-8"), msgspec.json.decode(figures.read_bytes())
    rows = re.findall(r"^\| ([\d,]+) \| \d+\.\d \| \d+ \| \d+ \| (\d+) \| (\d+) \|$", text, re.M)
    assert [partners for partners, *_ in rows] == ["1", "10", "1,000"]
    assert all(int(figure) > 0 for _, *costs in rows for figure in costs)
    bars = re.findall(r"^(\S.*?) +█+ +([\d,.]+) (µs|MB|ms)$", text, re.M)
    assert [(name, figure) for name, figure, unit in bars if unit == "µs"] == [
        *((f"mint, {name}", cost) for name, (_, cost, _) in zip(SIZES, rows, strict=True)),
        *((f"seat, {name}", cost) for name, (_, _, cost) in zip(SIZES, rows, strict=True)),
    ]
    assert [unit for *_, unit in bars] == ["µs"] * 6 + ["MB"] * 8 + ["ms"] * 4
    assert found["sockets"]["sockets"] == 1000
    assert found["sockets"]["open_mb"] > found["sockets"]["before_mb"]
    assert 0 < found["noise"]["refused"] < found["noise"]["answered"]
    assert {len(times) for times in found["noise"]["timesMs"].values()} == {2}
