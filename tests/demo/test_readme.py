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
    assert '"role":"admin"' in printed
    assert '"freshUntil":' in printed
    assert '"label":"from the README"' in printed
    assert '"apiKey":"pgs_test_' in printed
    assert '"status":"active"' in printed
    assert '"action":"key.created"' in printed
    assert "sign_in_required" not in printed


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


REFUSED = (403, b'{"error": "The account is switched off.", "reason": "account_inactive"}')
ANSWERS = {
    "sessions": (200, b'{"playerUid": "p", "expiresAt": 1}'),
    "matches": (200, b'{"matchId": "mat_1"}'),
    "decide": (200, b"{}"),
    "results": (200, b'{"results": [], "nextCursor": "c", "hasMore": false}'),
}


@pytest.mark.parametrize("refused", ANSWERS)
async def test_the_python_backend_ends_with_the_reason_of_a_refusal_at_every_call(tmp_path: Path, refused: str) -> None:
    source, _ = _blocks("python")
    (tmp_path / "backend.py").write_text(source)

    async def answer(stream: trio.SocketStream) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += await stream.receive_some()
        called = head.split(b" ")[1].partition(b"?")[0].rpartition(b"/")[2].decode()
        status, body = REFUSED if called == refused else ANSWERS[called]
        await stream.send_all(b"HTTP/1.1 %d -\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, len(body), body))
        with trio.move_on_after(5):  # what is left of the request is taken, or closing would reset the connection
            await stream.receive_some()
        await stream.aclose()

    (tmp_path / "demo-data").mkdir()
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listener.socket.getsockname()[1]
        (tmp_path / "demo-data" / "demo.json").write_text(f'{{"baseUrl": "http://127.0.0.1:{port}", "testKey": "k"}}')
        nursery.start_soon(trio.serve_listeners, answer, [listener])
        with trio.fail_after(30):
            done = await trio.run_process(
                [sys.executable, "backend.py"], cwd=tmp_path, capture_stdout=True, capture_stderr=True, check=False
            )
        nursery.cancel_scope.cancel()
    assert done.returncode == 1
    assert b"account_inactive" in (done.stderr or b"")


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
