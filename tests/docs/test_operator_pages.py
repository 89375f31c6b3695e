"""The operators' pages: the settings file is accepted, and the trial of settlement runs."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgs.config import load_config
from tests.conventions.tree import ROOT
from tests.journeys.process import free_port
from tests.patience import PATIENCE_S


def _blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_settings_file_of_the_operations_page_is_accepted(tmp_path: Path) -> None:
    (text,) = _blocks("operations.md", "toml")
    file = tmp_path / "pgs.toml"
    file.write_text(text)
    config = load_config(file, {})
    assert config.listen == "127.0.0.1:8000"
    assert config.data_dir == Path("/var/lib/pgs")
    assert config.base_url == "https://games.example"


def test_every_file_that_the_page_about_deployment_installs_exists() -> None:
    text = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\bdeploy/[\w./-]*\w", text))
    assert len(named) > 5
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@contextmanager
def _shell(lines: str, folder: Path, ready: str) -> Iterator[subprocess.Popen[str]]:
    """Run lines of a page as a process group of its own, from the line that says it is ready."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PGS_")}
    listen = {"PGS_LISTEN": "127.0.0.1:0", "PGS_INTERNAL_LISTEN": "127.0.0.1:0"}
    with subprocess.Popen(
        ["bash", "-c", f"exec env {lines}"],
        cwd=folder,
        env=environ | listen,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().startswith(ready)
            yield process
        finally:
            process.kill()


@pytest.mark.slow  # starts two processes
def test_settlement_can_be_tried_with_the_lines_of_its_page(tmp_path: Path) -> None:
    port = str(free_port())

    def adapted(lines: str) -> str:
        """Run from the checkout, on a free port."""
        lines = lines.replace("scripts/", f"{sys.executable} {ROOT}/scripts/").replace("8010", port)
        lines = lines.replace("settlement_server.py --f", f"settlement_server.py --port {port} --f")
        return lines.replace(".venv/bin/pgs", f"{sys.executable} -m pgs")

    server, service, check = (adapted(lines) for lines in _blocks("settlement.md", "sh"))
    with (
        _shell(server, tmp_path, "settlement is ready: "),
        _shell(service, tmp_path, "pgs is ready: ") as running,
    ):
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE_S) == 0
    done = subprocess.run(
        ["bash", "-c", check], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
