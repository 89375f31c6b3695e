"""The README's lines for pasting work against a running service."""

import json
import re
import shutil
from pathlib import Path

import pytest
import trio

from tests.conventions.tree import ROOT, files
from tests.demo.service import demo_service
from tests.demo.shell import run_shell
from tests.patience import PATIENCE_S

README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


LEFT = """
curl -s "$BASE/partner/matches" -H "Authorization: Bearer $KEY" \\
  -d '{"gameId": "tic-tac-toe", "playerId": "p-colleague", "tierId": "test-bronze",
       "stakeUsdCents": 100, "idempotencyKey": "left"}'
"""


@pytest.mark.parametrize(
    "real_curl",
    [
        pytest.param(True, marks=pytest.mark.skipif(not shutil.which("curl"), reason="no curl")),
        False,
    ],
)
async def test_the_curl_lines_launch_a_match_and_read_its_result_even_if_another_seat_waits(
    tmp_path: Path, real_curl: bool
) -> None:
    with trio.fail_after(PATIENCE_S):
        async with demo_service(tmp_path):
            (tmp_path / "examples").symlink_to(ROOT / "examples")
            first, *others = _blocks("sh")
            left = "" if real_curl else LEFT
            lines = "\n".join([first, left, *others])
            printed = await run_shell(lines, tmp_path, real_curl=real_curl)
    answers = [line for line in printed.splitlines() if line.startswith("{")]
    assert all(json.loads(line) for line in answers)  # one answer on each line
    assert '"partnerId":"demo"' in printed
    assert '"tierId":"test-bronze"' in printed
    assert '"sessionToken"' in printed
    assert '"status":"waiting"' in printed
    assert '"pairing":{"rule":"test.v1"' in printed
    assert '"endReason":"decided_by_test_key"' in printed
    assert '"result":"won"' in printed
    assert ('"opponentPlayerId":"p-colleague"' in printed) != real_curl
    assert '"reason":"stake_below_floor","floorUsdCents":100' in printed
    assert '"role":"admin"' in printed
    assert '"freshUntil":' in printed
    assert "p-400 ended won payout: 180" in printed.splitlines()
    assert '"label":"from the README"' in printed
    assert '"apiKey":"pgs_test_' in printed
    assert '"status":"active"' in printed
    assert '"action":"key.created"' in printed
    assert "sign_in_required" not in printed


def test_the_readme_names_every_example_and_quotes_them_word_for_word() -> None:
    examples = {
        path.name: path.read_text(encoding="utf-8") for path in files(ROOT / "examples", ".py")
    }
    assert [name for name in examples if f"](examples/{name})" not in README] == []
    assert [
        quoted
        for quoted in _blocks("python")
        if not any(quoted in text for text in examples.values())
    ] == []


async def test_the_curl_line_of_the_page_about_embedding_mints_a_session(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "embed.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    with trio.fail_after(PATIENCE_S):
        async with demo_service(tmp_path) as (service, demo, _):
            lines = lines.replace("https://games.example", service.base_url)
            script = f"PGS_KEY={demo.test_key}\n{lines}"
            printed = await run_shell(script, tmp_path, real_curl=False)
    assert '"sessionToken":"pgs1.' in printed
