"""The examples of the clients' READMEs run, against a service."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.clients.node import JS, node, tsc
from tests.conventions.tree import ROOT
from tests.demo.service import demo_service

PYTHON = ROOT / "clients" / "python" / "README.md"
JAVASCRIPT = ROOT / "clients" / "js" / "README.md"


SAID = (
    "demo test",
    "ended decided_by_test_key",
    "bob ended won 180",
    "ada ended lost 0",
    "400",
    "the least stake is 100",
)


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
    for line in ("['waiting', 'matched']", *SAID):
        assert line in said.splitlines()


@pytest.mark.slow
async def test_the_examples_of_the_javascript_readme_play_a_match(tmp_path: Path) -> None:
    program = tmp_path / "program.mjs"
    program.write_text(blocks(JAVASCRIPT, "js"), encoding="utf-8")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "pgs-client").symlink_to(JS)
    with trio.fail_after(60):
        async with demo_service(tmp_path):
            said = await node(program, folder=tmp_path)
    for line in ("waiting matched", *SAID):
        assert line in said.splitlines()


@pytest.mark.slow
async def test_the_examples_for_pages_have_the_right_types(tmp_path: Path) -> None:
    (tmp_path / "page.ts").write_text(blocks(JAVASCRIPT, "ts"), encoding="utf-8")
    (tmp_path / "page.tsx").write_text(blocks(JAVASCRIPT, "tsx"), encoding="utf-8")
    modules = tmp_path / "node_modules"
    modules.mkdir()
    (modules / "pgs-client").symlink_to(JS)
    for name in ("@types", "csstype"):
        (modules / name).symlink_to(JS / "node_modules" / name)
    options = "--strict --noEmit --target es2022 --module esnext --moduleResolution bundler"
    options += " --types react --jsx react-jsx"
    with trio.fail_after(60):
        assert await tsc(*options.split(), "page.ts", "page.tsx", folder=tmp_path) == ""
