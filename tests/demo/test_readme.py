"""The README keeps its word: what it offers for pasting works against a running service."""

import re
import shutil
import sys
from pathlib import Path

import pytest
import trio

from tests.demo.shell import run_shell
from tests.demo.stage import demo_service
from tests.house.tree import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("real_curl", [pytest.param(True, marks=pytest.mark.skipif(not shutil.which("curl"), reason="no curl")), False])
async def test_the_curl_lines_launch_a_match_and_read_its_result(tmp_path: Path, real_curl: bool) -> None:
    with trio.fail_after(60):
        async with demo_service(tmp_path):
            printed = await run_shell("\n".join(_blocks("sh")), tmp_path, real_curl=real_curl)
    assert '"partnerId":"demo"' in printed
    assert '"tierId":"test-bronze"' in printed
    assert '"sessionToken"' in printed
    assert '"status":"waiting"' in printed
    assert '"pairing":{"rule":"test.v1"' in printed
    assert '"endReason":"decided_by_test_key"' in printed
    assert '"result":"won"' in printed
    assert '"reason":"stake_below_floor","floorUsdCents":100' in printed


async def test_the_python_backend_runs_until_the_money_is_in_the_feed(tmp_path: Path) -> None:
    (source,) = _blocks("python")
    (tmp_path / "backend.py").write_text(source)
    with trio.fail_after(60):
        async with demo_service(tmp_path):
            done = await trio.run_process(
                [sys.executable, "backend.py"], cwd=tmp_path, capture_stdout=True, capture_stderr=True, check=False
            )
    assert done.returncode == 0, done.stderr
    lines = (done.stdout or b"").decode().splitlines()
    assert any(line.startswith("session for ptr:test:demo:p-300") for line in lines)
    assert "p-300 ended lost payout: 0" in lines
    assert "p-400 ended won payout: 180" in lines
