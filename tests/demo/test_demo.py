"""`pgs demo` as a user starts it."""

import json
import re
import signal
import stat
import subprocess
import sys
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.clock import SystemClock
from pgs.demo import BOTS_MAX
from pgs.demo.past import last_month
from pgs.demo.pool import ConnectionPool
from pgs.domain.days import day_of, first_day, format_day, last_day, start_of
from pgs.domain.totp import code_at
from tests.patience import PATIENCE_S

_COMMAND = [sys.executable, "-m", "pgs", "demo", "--port", "0"]


async def test_a_run_with_once_tells_every_step_and_exits_with_0(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        done = await trio.run_process(
            [*_COMMAND, "--once"],
            cwd=tmp_path,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    told = (done.stdout or b"").decode()
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert not done.stderr
    assert _feed_states(told) == [
        ("outcome", "started", "started"),
        ("payoutUsdCents", "(absent)", "(absent)"),
        ("outcome", "ended", "ended"),
        ("payoutUsdCents", "(absent)", "(absent)"),
        ("outcome", "ended", "ended"),
        ("payoutUsdCents", "180", "0"),
    ]
    assert "Idempotent-Replayed: true" in told
    assert '"reason": "stake_below_floor"' in told
    assert told.count("⇐ nudge") == told.count("verified: the signature is valid") == 3
    assert re.findall(r"⇐ nudge|│ outcome +│ \w+|│ payoutUsdCents +│ [0-9]+", told) == [
        "⇐ nudge",
        "│ outcome        │ started",
        "⇐ nudge",
        "│ outcome        │ ended",
        "│ outcome        │ ended",
        "│ payoutUsdCents │ 180",
        "⇐ nudge",
    ]
    assert '"consecutiveFailures": 0' in told
    assert "whsec_" not in told
    assert "curl" not in told

    written = tmp_path / "demo-data" / "demo.json"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    demo = json.loads(written.read_text())
    assert demo.keys() == {
        *("baseUrl", "internalUrl", "siteUrl", "webhookUrl", "issuer"),
        *("partnerId", "testKey", "liveKey", "adminToken", "totpSecret"),
    }
    assert demo["webhookUrl"] in told
    assert demo["testKey"].startswith("pgs_test_")
    assert demo["liveKey"].startswith("pgs_live_")
    log = (tmp_path / "demo-data" / "pgs.log").read_text()
    assert {json.loads(line)["event"] for line in log.splitlines()} >= {
        "started",
        "request",
        "stopped",
    }
    assert demo["testKey"] not in log
    assert demo["liveKey"] not in log
    assert demo["adminToken"] not in log + told
    assert demo["totpSecret"] not in log + told
    assert "whsec_" not in log
    assert "Open http" not in told, "there is no page once the demo has ended"


async def test_the_demo_runs_until_a_signal_and_then_exits_with_0(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            process: trio.Process = await nursery.start(
                partial(trio.run_process, _COMMAND, cwd=tmp_path, stdout=subprocess.PIPE)
            )
            assert process.stdout is not None
            told = b""
            async for chunk in process.stdout:
                told += chunk
                if b"Ctrl-C" in told:
                    break
            demo = json.loads((tmp_path / "demo-data" / "demo.json").read_text())
            assert demo["testKey"].encode() in told, "the lines to paste hold the real key"
            assert f"Open {demo['siteUrl']}\n".encode() in told
            async with ConnectionPool() as pool:
                answer = await pool.request(
                    "GET",
                    demo["baseUrl"] + "/partner/me",
                    headers={"Authorization": f"Bearer {demo['testKey']}"},
                )
                assert answer.status == 200
                for player in ("p-1", "p-2"):
                    seat = {
                        "gameId": "tic-tac-toe",
                        "playerId": player,
                        "tierId": "test-bronze",
                        "stakeUsdCents": 100,
                    }
                    answer = await pool.request(
                        "POST",
                        demo["baseUrl"] + "/partner/matches",
                        headers={"Authorization": f"Bearer {demo['testKey']}"},
                        content=json.dumps({**seat, "idempotencyKey": player}).encode(),
                    )
                    assert answer.status == 200
                await _manage_the_account(pool, demo)
                await _read_the_past(pool, demo)
            async for chunk in process.stdout:
                told += chunk
                if told.count(b"verified: the signature is valid") == 4:
                    break
            process.send_signal(signal.SIGTERM)
            async for chunk in process.stdout:
                told += chunk
    assert process.returncode == 0
    assert b"The demo has ended." in told


async def _manage_the_account(pool: ConnectionPool, demo: dict[str, str]) -> None:
    """Read the account, verify a code, make a key and use it, all with values of `demo.json`."""

    async def call(
        method: str, path: str, body: object = None, token: str = demo["adminToken"]
    ) -> Any:
        content = None if body is None else json.dumps(body).encode()
        answer = await pool.request(
            method,
            demo["baseUrl"] + path,
            headers={"Authorization": f"Bearer {token}"},
            content=content,
        )
        assert answer.status == 200, answer.content
        return json.loads(answer.content)

    account = await call("GET", "/partner/admin/account")
    assert (account["partnerId"], account["role"], account["stepUp"]["enrolled"]) == (
        demo["partnerId"],
        "admin",
        True,
    )
    code = code_at(demo["totpSecret"], SystemClock().now())  # nobody has used the current code
    opened = await call("POST", "/partner/admin/totp/verify", {"code": code})
    assert opened["freshUntil"] > SystemClock().now()
    made = await call("POST", "/partner/admin/keys", {"environment": "test", "label": "a script's"})
    assert (await call("GET", "/partner/me", token=made["apiKey"]))["partnerId"] == demo[
        "partnerId"
    ]
    discovered = await pool.request("GET", demo["issuer"] + "/.well-known/openid-configuration")
    assert json.loads(discovered.content)["issuer"] == demo["issuer"]


async def _read_the_past(pool: ConnectionPool, demo: dict[str, str]) -> None:
    """Read last month's invoice, and compare it with the usage and the matches of that month."""

    async def read(path: str) -> Any:
        answer = await pool.request(
            "GET",
            f"{demo['baseUrl']}/partner/admin/{path}",
            headers={"Authorization": f"Bearer {demo['adminToken']}"},
        )
        assert answer.status == 200, answer.content
        return json.loads(answer.content)

    month = last_month(SystemClock().now())
    first, last = format_day(first_day(month)), format_day(last_day(month))
    (invoice,) = (await read("invoices?environment=test"))["invoices"]
    assert (invoice["status"], invoice["number"]) == ("open", 1)
    assert (invoice["periodFrom"], invoice["periodTo"]) == (first, last)
    assert invoice["finalizedAt"] < start_of(last_day(month) + 2), "as soon as the month was over"
    place = f"invoices/{invoice['invoiceId']}/lines"
    lines = (await read(f"{place}?environment=test&limit=100"))["lines"]
    days = (await read(f"usage/test?from={first}&to={last}"))["days"]
    assert sum(line["matches"] for line in lines) == sum(day["matches"] for day in days) > 20
    billed = sum(line["amountUsdCents"] for line in lines)
    assert invoice["totalUsdCents"] == billed == sum(day["rakeUsdCents"] for day in days) > 0
    line = max(lines, key=itemgetter("matches"))
    matches = (await read(f"{place}/{line['lineId']}/matches?environment=test"))["matches"]
    assert len(matches) == line["matches"] > 1
    assert {format_day(day_of(match["endedAt"])) for match in matches} == {line["day"]}


@pytest.mark.slow  # starts a demo that others test too
async def test_bots_play_in_the_demo_and_their_results_are_printed(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            command = [*_COMMAND, "--bots", "3"]
            process: trio.Process = await nursery.start(
                partial(trio.run_process, command, cwd=tmp_path, stdout=subprocess.PIPE)
            )
            assert process.stdout is not None
            told = b""
            async for chunk in process.stdout:
                told += chunk
                if re.search(
                    rb"1  Tic-tac-toe +Bot 1 (won against|lost to|drew with) Bot 2  "
                    rb"completed, [5-9] moves",
                    told,
                ):
                    break
            process.send_signal(signal.SIGTERM)
            async for chunk in process.stdout:
                told += chunk
    assert process.returncode == 0
    assert b"you play a bot" in told
    assert b"The demo has ended." in told


@pytest.mark.parametrize(
    "wrong",
    [
        ["--once", "--bots"],
        ["2"],
        ["--bots", "0"],
        ["--bots", str(BOTS_MAX + 1)],
        ["--bots", "two"],
    ],
)
def test_wrong_options_are_refused_before_anything_is_touched(
    tmp_path: Path, wrong: list[str]
) -> None:
    done = subprocess.run(
        [*_COMMAND, *wrong], cwd=tmp_path, capture_output=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow  # starts a demo that others test too
async def test_a_taken_port_is_reported_and_another_one_is_used(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S), trio.socket.socket() as taken:
        await taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = await trio.run_process(
            [*_COMMAND[:-1], str(port), "--once"], cwd=tmp_path, capture_stdout=True, check=False
        )
    assert done.returncode == 0
    assert f"Port {port} or {port + 1} is taken" in (done.stdout or b"").decode()


async def test_a_folder_with_other_files_is_refused_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with trio.fail_after(PATIENCE_S):
        done = await trio.run_process(
            [*_COMMAND, "--once", "--data", "."], cwd=tmp_path, capture_stderr=True, check=False
        )
    assert done.returncode == 1
    assert "no demo made it" in (done.stderr or b"").decode()


def _feed_states(told: str) -> list[tuple[str, ...]]:
    """Return the rows for outcome and payout of every feed that was shown."""
    return [
        tuple(found)
        for found in re.findall(r"│ (outcome|payoutUsdCents) +│ (\S+) +│ (\S+) +│", told)
    ]
