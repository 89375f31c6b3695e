"""The examples of the clients' READMEs run, against a service."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.conventions.tree import ROOT
from tests.demo.service import demo_service

PYTHON = ROOT / "clients" / "python" / "README.md"


def blocks(readme: Path, language: str) -> str:
    """Return the examples of a README in one language, in their order."""
    found = re.findall(
        rf"^```{language}\n(.*?)^```$", readme.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert found
    return "\n".join(found)


@pytest.mark.slow
async def test_the_examples_of_the_python_readme_play_a_match(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(blocks(PYTHON, "python"), encoding="utf-8")
    with trio.fail_after(60):
        async with demo_service(tmp_path):
            done = await trio.run_process(
                [sys.executable, program],
                cwd=tmp_path,
                capture_stdout=True,
                stderr=subprocess.STDOUT,
                check=False,
            )
    said = done.stdout.decode()
    assert done.returncode == 0, said
    for line in (
        "demo test",
        "['waiting', 'matched']",
        "ended decided_by_test_key",
        "bob ended won 180",
        "ada ended lost 0",
        "400",
        "the least stake is 100",
    ):
        assert line in said.splitlines()
