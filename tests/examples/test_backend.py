"""`examples/backend.py` runs against the demo as a user runs it."""

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio

from pgs.demo.backend import Backend
from pgs_client.trio_client import TrioClient
from tests.conventions.tree import ROOT
from tests.demo.service import demo_service
from tests.patience import PATIENCE_S

# Isolated and without site-packages: the program may use the standard library only.
COMMAND = [sys.executable, "-I", "-S", str(ROOT / "examples" / "backend.py")]
DEMO = [sys.executable, "-m", "pgs", "demo", "--port", "0"]

PAGE = b"<html>Bad Gateway</html>"
REFUSED = (403, b'{"error": "The account is switched off.", "reason": "account_inactive"}')
ANSWERS = {
    "sessions": (200, b'{"playerUid": "p", "expiresAt": 1}'),
    "matches": (200, b'{"matchId": "mat_1"}'),
    "mat_1": (200, b'{"seats": [{"playerId": "p-300"}, {"playerId": "p-400"}]}'),
    "decide": (200, b"{}"),
    "results": (200, b'{"results": [], "nextCursor": "c", "hasMore": false}'),
}


async def _run(folder: Path) -> subprocess.CompletedProcess[bytes]:
    return await trio.run_process(
        COMMAND, cwd=folder, capture_stdout=True, capture_stderr=True, check=False
    )


@asynccontextmanager
async def _pgs_demo(folder: Path) -> AsyncIterator[None]:
    """Run `pgs demo` in another process for a block, which begins when its story is told."""
    async with trio.open_nursery() as nursery:
        process: trio.Process = await nursery.start(
            partial(trio.run_process, DEMO, cwd=folder, stdout=subprocess.PIPE)
        )
        assert process.stdout is not None
        told = b""
        async for chunk in process.stdout:
            told += chunk
            if b"Ctrl-C" in told:
                break
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)


@pytest.mark.slow  # starts a demo
async def test_the_backend_runs_beside_the_demo_until_the_money_is_in_the_feed(
    tmp_path: Path,
) -> None:
    with trio.fail_after(PATIENCE_S):
        async with _pgs_demo(tmp_path):
            done = await _run(tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert any(line.startswith("session for ptr:test:demo:p-300") for line in lines)
    assert "p-300 ended lost payout: 0" in lines
    assert "p-400 ended won payout: 180" in lines


async def test_the_backends_player_is_matched_with_a_player_who_was_waiting(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with demo_service(tmp_path) as (service, demo, _):
            async with TrioClient(service.base_url, demo.test_key) as client:
                await Backend(client).seat("tic-tac-toe", "p-1", "test-bronze", 100, "first")
            done = await _run(tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert "p-1 ended lost payout: 0" in lines
    assert "p-300 ended won payout: 180" in lines


async def test_without_a_demo_the_backend_says_what_to_start(tmp_path: Path) -> None:
    done = await _run(tmp_path)
    assert done.returncode == 1
    assert b"start scripts/demo in this folder" in done.stderr


@asynccontextmanager
async def _stub(
    folder: Path, answer: Callable[[str, bytes], tuple[int, bytes]]
) -> AsyncIterator[None]:
    """Run a stub service. `answer` maps the path's last part and the body to status and body."""

    async def serve(stream: trio.SocketStream) -> None:
        head, _, body = (await _read_until(stream, b"\r\n\r\n")).partition(b"\r\n\r\n")
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        while len(body) < length:
            body += await stream.receive_some()
        called = head.split(b" ")[1].partition(b"?")[0].rpartition(b"/")[2].decode()
        status, said = answer(called, body)
        head = b"HTTP/1.1 %d -\r\nContent-Length: %d\r\nConnection: close" % (status, len(said))
        await stream.send_all(head + b"\r\n\r\n" + said)
        await stream.aclose()

    (folder / "demo-data").mkdir()
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listener.socket.getsockname()[1]
        demo = {"baseUrl": f"http://127.0.0.1:{port}", "testKey": "k"}
        (folder / "demo-data" / "demo.json").write_text(json.dumps(demo))
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        with trio.fail_after(PATIENCE_S):
            yield
        nursery.cancel_scope.cancel()


async def _read_until(stream: trio.SocketStream, end: bytes) -> bytes:
    read = b""
    while end not in read:
        read += await stream.receive_some()
    return read


@pytest.mark.parametrize("refused", ANSWERS)
async def test_the_backend_ends_with_the_reason_if_any_call_is_refused(
    tmp_path: Path, refused: str
) -> None:
    async with _stub(tmp_path, lambda called, _: REFUSED if called == refused else ANSWERS[called]):
        done = await _run(tmp_path)
    assert done.returncode == 1
    assert b"account_inactive" in done.stderr


async def test_the_backend_repeats_a_failed_call_with_the_same_idempotency_key(
    tmp_path: Path,
) -> None:
    keys: list[str] = []

    def answer(called: str, body: bytes) -> tuple[int, bytes]:
        if called == "matches":
            keys.append(json.loads(body)["idempotencyKey"])
            return ANSWERS["matches"] if len(keys) == 2 else (502, PAGE)
        return REFUSED if called == "decide" else ANSWERS[called]

    async with _stub(tmp_path, answer):
        await _run(tmp_path)
    assert len(keys) == 2
    assert len(set(keys)) == 1


async def test_the_backend_begins_the_feed_again_if_the_cursor_is_refused(tmp_path: Path) -> None:
    pages = [
        ANSWERS["results"],
        (400, b'{"error": "The cursor is not yours.", "reason": "invalid_cursor"}'),
        REFUSED,
    ]

    async with _stub(
        tmp_path, lambda called, _: pages.pop(0) if called == "results" else ANSWERS[called]
    ):
        done = await _run(tmp_path)
    assert pages == []
    assert b"account_inactive" in done.stderr
