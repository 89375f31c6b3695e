"""The benchmark of instructions: files of callgrind, its text, and counts of a few calls."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from tests.conventions.tree import ROOT
from tests.tools import find_tool


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return import_module("bench_cases.instructions")


def bench(*arguments: str | Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts/bench.py", "instructions", "--quick", *arguments],
        env=None if path is None else {"PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("thread: 1\nsummary: 0\nfn=(1)\n1 7\ntotals: 912\n", (1, 912)),
        ("thread: 4\nsummary: 0\ntotals: 70\n", (4, 70)),
        ("pid: 12\nsummary: 0\n", (1, 0)),
    ],
)
def test_a_file_of_callgrind_tells_its_thread_and_the_instructions(
    case: Any, text: str, found: tuple[int, int], tmp_path: Path
) -> None:
    counts = tmp_path / "callgrind.1"
    counts.write_text(text)
    assert case.read(counts) == found


def test_the_text_compares_whole_launches_by_their_medians(case: Any) -> None:
    def launches(loop: float, threads: float) -> Any:
        made = case.Launches()
        for off in (0.9, 1.0, 1.4):
            made.mint.add(100_000.0 * off, 0.0)
            made.seat.add(loop * off, threads * off)
        return made

    report = import_module("bench_cases.instructions_report")
    text, figures = report.instructions_section(
        {
            "pgs": launches(200_000.0, 50_000.0),
            "FastAPI, a commit per group": launches(590_000.0, 10_000.0),
            "FastAPI, a commit per call": launches(500_000.0, 100_000.0),
            "trio alone": launches(75_000.0, 0.0),
        },
        rounds=3,
        calls=800,
    )
    assert "| pgs | 100 | 200 | 50 | 350 |" in text
    assert re.search("^pgs +█{20} +350 thousand$", text, re.MULTILINE)
    assert re.search("^trio alone +█{10} +175 thousand$", text, re.MULTILINE)
    assert "**0.50** times the instructions" in " ".join(text.split())
    assert figures["ratios"]["FastAPI, a commit per call"] == 0.5


def test_without_valgrind_the_case_is_left_out_and_the_package_named(tmp_path: Path) -> None:
    done = bench("--out", tmp_path / "benchmarks.md", path=str(tmp_path))
    assert done.returncode == 1
    assert "instructions IS LEFT OUT" in done.stderr
    assert "apt-get install valgrind" in done.stderr


@pytest.mark.slow
def test_the_instructions_of_a_launch_are_counted(case: Any, tmp_path: Path) -> None:
    find_tool("valgrind")
    # Under valgrind each server takes half a minute to start, so the peer is left out.
    setting = import_module("bench_cases.setting").prepare(tmp_path, 5, rounds=1, calls=40)
    found = case.measure(setting, Progress(disable=True), with_peer=False)
    product, bare = found["pgs"], found["trio alone"]
    assert min(product.mint.total(), bare.mint.total(), bare.seat.total()) > 10_000
    loop, threads = product.seat.parts()
    assert min(loop, threads) > 10_000
    assert product.total() > bare.total()
    assert bare.seat.parts()[1] == 0
