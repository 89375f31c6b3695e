"""The example backends sell seats, verify nudges and know the results, against a service."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from pgs.domain.nudges import nudge_body, signature_header
from pgs_client import SqliteStore
from pgs_client.trio_client import TrioClient
from tests.conventions.tree import ROOT, files
from tests.demo.service import demo_service
from tests.journeys.process import free_port
from tests.patience import PATIENCE_S

EXAMPLES = ROOT / "examples"
PYTHON = str(ROOT / ".venv-examples" / "bin" / "python")
SECRET = "whsec_" + "e" * 43
LINES_MAX = 100

COMMANDS = {
    "fastapi_backend.py": [
        *(PYTHON, "-m", "uvicorn", "--app-dir", str(EXAMPLES)),
        *("--port", "PORT", "fastapi_backend:app"),
    ],
    "flask_backend.py": [
        *(PYTHON, "-m", "flask", "--app", str(EXAMPLES / "flask_backend.py")),
        *("run", "--port", "PORT"),
    ],
    "django_backend.py": [
        *(PYTHON, str(EXAMPLES / "django_backend.py"), "runserver", "--noreload", "PORT")
    ],
    "express/backend.mjs": ["node", str(EXAMPLES / "express" / "backend.mjs")],
}


def test_every_example_of_a_framework_is_short() -> None:
    for name in COMMANDS:
        assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) < LINES_MAX


def test_every_backend_is_tried() -> None:
    backends = {str(path.relative_to(EXAMPLES)) for path in files(EXAMPLES)}
    named = {name for name in backends if re.fullmatch(r".*_?backend\.(py|mjs)", name)}
    assert named == {*COMMANDS, "backend.py"}


@asynccontextmanager
async def _backend(name: str, folder: Path, base_url: str, key: str) -> AsyncIterator[str]:
    """Run an example backend; yield its address once it answers."""
    installing = await trio.run_process([ROOT / "scripts" / "examples"], capture_stdout=True)
    assert installing.returncode == 0
    port = str(free_port())
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PGS_")},
        "PATH": f"{os.environ['PATH']}:{Path(sys.executable).parent}",
        "PGS_BASE_URL": base_url,
        "PGS_KEY": key,
        "PGS_WEBHOOK_SECRET": f"whsec_before {SECRET}",
        "PORT": port,
    }
    command = [port if word == "PORT" else word for word in COMMANDS[name]]
    log = (folder / "backend.log").open("wb")
    process = await trio.lowlevel.open_process(
        command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
    )
    try:
        while True:
            try:
                await (await trio.open_tcp_stream("127.0.0.1", int(port))).aclose()
                break
            except OSError:
                assert process.poll() is None, (folder / "backend.log").read_text()
                await trio.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()
        log.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
async def test_an_example_backend_takes_two_players_to_their_results(
    name: str, tmp_path: Path
) -> None:
    with trio.fail_after(180):
        async with (
            demo_service(tmp_path) as (service, demo, _),
            _backend(name, tmp_path, service.base_url, demo.test_key) as url,
            TrioClient(service.base_url, demo.test_key) as client,
            httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as page,
        ):
            await _play(page, client)


async def _play(page: httpx.AsyncClient, client: TrioClient) -> None:
    async def post(path: str, player: str) -> Any:
        answer = await page.post(path, headers={"X-Demo-Player": player})
        assert answer.status_code == 200, answer.text
        return answer.json()

    session = await post("/play/session", "ada")
    assert session.keys() == {"embedUrl", "sessionToken"}
    waiting = await post("/play/seat/order-1", "ada")
    assert waiting == {**waiting, "status": "waiting", "matchId": None}
    assert (await post("/play/seat/order-1", "ada"))["seatId"] == waiting["seatId"]
    match_id = (await post("/play/seat/order-2", "bob"))["matchId"]
    taken = await page.post("/play/seat/order-2", headers={"X-Demo-Player": "eve"})
    assert (taken.status_code, taken.json()) == (409, {"reason": "idempotency_key_conflict"})
    await client.decide(match_id, "bob")
    with closing(SqliteStore(":memory:")) as store:
        async for rows in client.follow(store):
            if all(row.is_paid for row in rows):
                break
    body = nudge_body("demo", int(time.time()))
    signature = {"X-Service-Signature": signature_header(SECRET, int(time.time()), body)}
    forged = await page.post("/nudges", content=json.dumps({}), headers=signature)
    assert forged.status_code == 400
    assert (await page.post("/nudges", content=body)).status_code == 400
    assert (await page.post("/nudges", content=body, headers=signature)).status_code == 204
    for player, result, payout in (("ada", "lost", 0), ("bob", "won", 180)):
        known: Any = {}
        while known.get("payoutUsdCents") is None:
            answer = await page.get(f"/results/{match_id}", headers={"X-Demo-Player": player})
            known = answer.json()
            await trio.sleep(0.05)
        assert known == {"result": result, "payoutUsdCents": payout}
