"""The benchmark of nudges runs on a small scale. Its figures are not judged."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conventions.tree import ROOT
from tests.patience import PATIENCE_S


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "bench_nudges.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={"PATH": os.environ["PATH"], "COLUMNS": "120"},
    )


@pytest.mark.slow
def test_each_command_writes_its_section_and_leaves_the_rest_of_the_document(
    tmp_path: Path,
) -> None:
    document = tmp_path / "benchmarks.md"
    document.write_text(
        "# Benchmarks\n\nBefore.\n\n## The cost of a nudge\n\nold figures\n\n## Last\n\nAfter.\n"
    )
    cost, isolation = (
        bench("cpu", "--quick", "--out", document),
        bench("isolation", "--quick", "--out", document),
    )
    for done in (cost, isolation):
        assert (done.returncode, done.stderr) == (0, "")
    text = document.read_text()
    assert re.findall("^#.*", text, re.MULTILINE) == [
        "# Benchmarks",
        "## The cost of a nudge",
        "## Last",
        "## Endpoints that hang",
    ]
    assert "Before." in text
    assert "After." in text
    assert "old figures" not in text
    assert cost.stdout.strip() in text
    assert isolation.stdout.strip() in text
    assert re.search(r"A whole nudge takes \*\*[0-9.]+ ms\*\* of one core", text)
    assert re.search(
        r"^\| 1 \| [0-9]+ \|( [0-9.]+ \|){4} [0-9]+ \| [0-9.]+ \|$", text, re.MULTILINE
    )
    assert "One short pair of rounds proves nothing" in text
