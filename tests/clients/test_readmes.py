"""The examples of the clients' READMEs run, against a service."""

import re
import sys
from pathlib import Path

import pytest
import trio

from tests.clients.node import JS, node, run, tsc
from tests.conventions.tree import ROOT
from tests.demo.service import demo_service
from tests.patience import PATIENCE_S

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
async def test_the_python_client_is_installed_as_its_readme_says_and_its_examples_play_a_match(
    tmp_path: Path,
) -> None:
    program = tmp_path / "program.py"
    program.write_text(blocks(PYTHON, "python"), encoding="utf-8")
    commands = filter(None, blocks(PYTHON, "sh").splitlines())
    python = tmp_path / "venv" / "bin" / "python3"
    with trio.fail_after(180):
        await run(sys.executable, "-m", "venv", tmp_path / "venv", folder=tmp_path)
        for command in commands:
            await run("bash", "-c", command.replace("python3", str(python), 1), folder=ROOT)
        async with demo_service(tmp_path):
            said = await run(python, "-P", program, folder=tmp_path)
    for line in ("['waiting', 'matched']", *SAID):
        assert line in said.splitlines()


@pytest.mark.slow
async def test_the_javascript_client_is_installed_as_its_readme_says_and_its_examples_play_a_match(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    program = project / "program.mjs"
    program.write_text(blocks(JAVASCRIPT, "js"), encoding="utf-8")
    (project / "package.json").write_text('{"private": true}', encoding="utf-8")
    *pack, install = blocks(JAVASCRIPT, "sh").replace("/tmp", str(tmp_path)).splitlines()
    with trio.fail_after(180):
        for command in filter(None, pack):
            await run("bash", "-c", command, folder=ROOT)
        await run("bash", "-c", f"{install} --offline", folder=project)
        assert not (project / "node_modules" / "pgs-client").is_symlink()
        async with demo_service(project):
            said = await node(program, folder=project)
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
    with trio.fail_after(PATIENCE_S):
        assert await tsc(*options.split(), "page.ts", "page.tsx", folder=tmp_path) == ""
