"""The load scripts and the benchmark run on a small scale and write what they promise."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conventions.tree import ROOT
from tests.postgres import programs

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("script", ["load_actors.py", "load_http.py"])
def test_a_small_load_is_checked_and_reported(script: str, tmp_path: Path) -> None:
    report, picture = tmp_path / "report.json", tmp_path / "times.svg"
    options: list[str | Path] = ["--rate", "10", "--seconds", "2", "--partners", "3"]
    options += ["--decided", "0.8", "--json", report, "--picture", picture]
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, *options],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["faults"] == []
    assert found["matches"] == 20
    assert 0 < found["decided"] < 20
    assert found["timesMs"]["seat"]["calls"] == 40
    assert "seat, p99" in picture.read_text(encoding="utf-8")


def test_a_small_load_of_matches_is_checked_and_reported(tmp_path: Path) -> None:
    report, picture = tmp_path / "report.json", tmp_path / "times.svg"
    options: list[str | Path] = ["--matches", "6", "--think", "0", "--think", "0.01"]
    options += ["--rounds", "2", "--json", report, "--picture", picture]
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "load_games.py", *options],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(report.read_text(encoding="utf-8"))
    assert (found["faults"], found["failure"]) == ([], None)
    assert [each["thinkS"] for each in found["played"]] == [0, 0.01, 0, 0.01]
    moves = sum(each["moves"] for each in found["played"])
    assert sum(times["calls"] for times in found["timesMs"].values()) == moves
    assert all(each["openMb"] > 0 for each in found["played"])
    assert "thinking 0.01 s, p99" in picture.read_text(encoding="utf-8")
    assert "There are 2 rounds for each row of the table" in " ".join(done.stdout.split())


def test_a_load_on_a_service_that_does_not_answer_names_the_failure(tmp_path: Path) -> None:
    keys, report = tmp_path / "keys.json", tmp_path / "report.json"
    entry = {"partnerId": "p", "testKey": "k", "liveKey": "k", "tierId": "test-bronze"}
    keys.write_text(json.dumps([entry]), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
    options: list[str | Path] = ["--url", address, "--keys", keys, "--json", report]
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "load_http.py", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "ConnectError" in json.loads(report.read_text(encoding="utf-8"))["failure"]


def benchmarks(folder: Path, *cases: str) -> str:
    """Measure some cases on a small scale; return the document."""
    out = folder / "benchmarks.md"
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "bench.py", *cases, "--quick", "--out", out],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out.read_text(encoding="utf-8")


@pytest.mark.postgres
def test_the_benchmark_measures_both_engines_and_several_nodes(tmp_path: Path) -> None:
    programs()
    text = benchmarks(tmp_path, "engines")
    for case in ("SQLite", "PostgreSQL", "1 node", "3 nodes, calls at any node"):
        assert f"| {case} | " in text
    assert "3 nodes take " in " ".join(text.split())


def test_the_benchmark_measures_its_other_cases_on_a_small_scale(tmp_path: Path) -> None:
    text = benchmarks(tmp_path, "launch", "rates", "feed", "waits", "--rounds", "1")
    for part in ("| pgs | ", "| FastAPI, a commit per group | ", "pages a second", "p99 is"):
        assert part in text
    for picture in ("launch", "rates"):
        assert (tmp_path / "benchmarks" / f"{picture}.svg").exists()
