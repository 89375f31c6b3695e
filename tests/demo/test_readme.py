"""The README keeps its word: what it offers for pasting works against a running service."""

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.clock import SystemClock
from pgs.domain.nudges import nudge_body, signature_header
from tests.demo.shell import run_shell
from tests.demo.stage import demo_service
from tests.house.tree import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


SECRET = "whsec_" + "A" * 43


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
    source, _ = _blocks("python")
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


def test_the_verifier_takes_what_the_service_signs_and_nothing_else() -> None:
    _, source = _blocks("python")
    assert len(source.splitlines()) <= 10
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - the README's own text
    verify: Callable[[str, str, bytes], bool] = names["signature_is_valid"]
    now = SystemClock().now()
    body = nudge_body("acme", now)
    header = signature_header(SECRET, now, body)
    assert verify(SECRET, header, body)
    assert not verify(SECRET, header, body + b" ")
    assert not verify(SECRET[:-1] + "B", header, body)
    for at in (now - 400, now + 400):
        assert not verify(SECRET, signature_header(SECRET, at, body), body)
    for header in ("", "t=", "v1=", f"t={now}", "t=²,v1=ä", f"t={'1' * 5000},v1=0"):
        assert not verify(SECRET, header, body)
