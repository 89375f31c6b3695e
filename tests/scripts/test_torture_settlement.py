"""`scripts/torture_settlement.py` on a very small scale, as a user runs it."""

import subprocess

import pytest

from tests.conventions.tree import ROOT


@pytest.mark.torture
def test_the_script_tells_its_progress_and_ends_with_a_proof() -> None:
    done = subprocess.run(
        ["scripts/torture_settlement.py", "--seats", "200", "--pending", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of 200 seats answered" in done.stdout
    assert "proved on both sides: 200 seats" in done.stdout.splitlines()[-1]
