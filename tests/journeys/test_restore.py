"""A backup taken while the service runs, restored on a machine that has nothing else; and a key ring that is rotated meanwhile."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.app import open_core
from pgs.config import Config
from tests.journeys.client import ok
from tests.journeys.partners import Partner, make_partner, make_tiers, seat_body
from tests.journeys.process import Process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with the partner `acme`."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder


def _partner(folder: Path) -> Partner:
    async def work() -> Partner:
        async with open_core(Config(data_dir=folder)) as core:
            await make_tiers(core)
            return await make_partner(core, "acme")

    return trio.run(work)


def _pgs(folder: Path, *arguments: str) -> Any:
    command = [sys.executable, "-m", "pgs", *arguments, "--data", str(folder), "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout)


def test_a_backup_of_a_running_service_restores_seats_cursors_idempotency_keys_and_api_keys(folder: Path, tmp_path: Path) -> None:
    partner = _partner(folder)
    backup, elsewhere = tmp_path / "backup", tmp_path / "elsewhere"
    with Process(folder) as process:
        waiting = ok(process.client.call("POST", "/partner/matches", partner.test, seat_body("alice", "a")))
        cursor = ok(process.client.call("GET", "/partner/results", partner.test))["nextCursor"]
        told = _pgs(folder, "db", "backup", str(backup))
        assert told["folder"] == str(backup)
        ok(process.client.call("POST", "/partner/matches", partner.test, seat_body("bob", "after the backup".replace(" ", "-"))))
    assert sorted(path.name for path in backup.iterdir()) == ["keys", "pgs.db"]
    assert {path.stat().st_mode & 0o077 for path in (backup, *backup.iterdir())} == {0}

    shutil.copytree(backup, elsewhere)  # the empty machine
    with Process(elsewhere) as process:
        again = process.client.call("POST", "/partner/matches", partner.test, seat_body("alice", "a"))
        assert ok(again) == waiting
        assert again.header("idempotent-replayed") == "true"
        assert ok(process.client.call("GET", f"/partner/results?cursor={cursor}", partner.test))["results"] == []
        matched = ok(process.client.call("POST", "/partner/matches", partner.test, seat_body("carol", "c")))
        assert matched["status"] == "matched"
        assert _pgs(elsewhere, "ledger", "check")["sound"] is True
        assert _pgs(elsewhere, "db", "check")["sound"] is True


def test_rotating_the_key_ring_of_a_running_service_kills_no_cursor(folder: Path) -> None:
    partner = _partner(folder)
    with Process(folder) as process:
        old = ok(process.client.call("GET", "/partner/results", partner.test))["nextCursor"]
        kids = _pgs(folder, "keyring", "list")["kids"]
        rotated = _pgs(folder, "keyring", "rotate")["kids"]
        assert rotated[1:] == kids
        new = ok(process.client.call("GET", f"/partner/results?cursor={old}", partner.test))["nextCursor"]
        assert rotated[0] in new
        assert kids[0] in old
        process.stop()
        process.start()
        for cursor in (old, new):
            ok(process.client.call("GET", f"/partner/results?cursor={cursor}", partner.test))
