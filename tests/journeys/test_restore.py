"""Backups of a running service that are restored elsewhere, and the rotation of its key ring."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.app import open_core
from pgs.config import Config
from tests.journeys.client import ok
from tests.journeys.partners import BOTH, Partner, make_partner, make_tiers, seat_body
from tests.journeys.process import Process
from tests.patience import PATIENCE_S


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty data folder."""
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
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_S)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_backup_of_a_running_service_restores_seats_cursors_idempotency_keys_and_api_keys(
    folder: Path, tmp_path: Path
) -> None:
    partner = _partner(folder)
    backup, elsewhere = tmp_path / "backup", tmp_path / "elsewhere"
    with Process(folder) as process:
        waiting = ok(
            process.client.call("POST", "/partner/matches", partner.test, seat_body("alice", "a"))
        )
        cursor = ok(process.client.call("GET", "/partner/results", partner.test))["nextCursor"]
        told = _pgs(folder, "db", "backup", str(backup))
        assert told["folder"] == str(backup)
        ok(
            process.client.call(
                "POST",
                "/partner/matches",
                partner.test,
                seat_body("bob", "after the backup".replace(" ", "-")),
            )
        )
    assert sorted(path.name for path in backup.iterdir()) == ["keys", "pgs.db"]
    assert {path.stat().st_mode & 0o077 for path in (backup, *backup.iterdir())} == {0}

    shutil.copytree(backup, elsewhere)  # as on a new machine
    with Process(elsewhere) as process:
        again = process.client.call(
            "POST", "/partner/matches", partner.test, seat_body("alice", "a")
        )
        assert ok(again) == waiting
        assert again.header("idempotent-replayed") == "true"
        assert (
            ok(process.client.call("GET", f"/partner/results?cursor={cursor}", partner.test))[
                "results"
            ]
            == []
        )
        matched = ok(
            process.client.call("POST", "/partner/matches", partner.test, seat_body("carol", "c"))
        )
        assert matched["status"] == "matched"
        assert _pgs(elsewhere, "ledger", "check")["sound"] is True
        assert _pgs(elsewhere, "db", "check")["sound"] is True


def _read_on(process: Process, key: str, cursor: str) -> tuple[list[Any], str]:
    """Return every row after a cursor, read in small pages, and the last cursor."""
    rows: list[Any] = []
    while True:
        page = ok(process.client.call("GET", f"/partner/results?limit=2&cursor={cursor}", key))
        rows, cursor = rows + page["results"], page["nextCursor"]
        if not page["hasMore"]:
            return rows, cursor


def _play(process: Process, key: str, name: str) -> str:
    ok(process.client.call("POST", "/partner/matches", key, seat_body("alice", f"{name}-a")))
    match_id: str = ok(
        process.client.call("POST", "/partner/matches", key, seat_body("bob", f"{name}-b"))
    )["matchId"]
    ok(
        process.client.call(
            "POST",
            f"/partner/test/matches/{match_id}/decide",
            key,
            {"outcome": "ended", "winnerPlayerId": "bob"},
        )
    )
    return match_id


def _settled(rows: list[Any]) -> set[str]:
    return {row["matchId"] for row in rows if "payoutUsdCents" in row}


@pytest.mark.slow
def test_a_reader_ahead_of_the_backup_misses_nothing_after_one_or_two_restores(
    folder: Path, tmp_path: Path
) -> None:
    partner = _partner(folder)
    backup = tmp_path / "backup"
    with Process(folder) as process:
        start = ok(process.client.call("GET", "/partner/results", partner.test))["nextCursor"]
        _, cursor = _read_on(process, partner.test, start)
        before = _play(process, partner.test, "before")
        _pgs(folder, "db", "backup", str(backup))
        for number in range(5):
            _play(process, partner.test, f"lost-{number}")
        _, cursor = _read_on(process, partner.test, cursor)
    for life in ("first", "second"):  # one backup, restored twice
        elsewhere = tmp_path / life
        shutil.copytree(backup, elsewhere)
        with Process(elsewhere) as process:
            assert _read_on(process, partner.test, cursor)[0] == []
            played = {_play(process, partner.test, f"{life}-{number}") for number in range(3)}
            read: set[str] = set()
            until = time.monotonic() + PATIENCE_S
            while read != played and time.monotonic() < until:
                rows, cursor = _read_on(process, partner.test, cursor)
                read |= _settled(rows)
                time.sleep(0.02)
            assert read == played
            assert before in _settled(_read_on(process, partner.test, start)[0])
            process.stop()
            process.start()  # a later start adds no gap to the feed
            assert _read_on(process, partner.test, cursor)[0] == []
            assert _pgs(elsewhere, "ledger", "check")["sound"] is True


@pytest.mark.slow
def test_cursors_and_session_tokens_stay_valid_when_the_key_ring_is_rotated(
    folder: Path, tmp_path: Path
) -> None:
    partner = _partner(folder)

    def token(process: Process) -> str:
        body = {"gameId": BOTH, "playerId": "alice"}
        return str(
            ok(process.client.call("POST", "/partner/sessions", partner.test, body))["sessionToken"]
        )

    with Process(folder) as process:
        tokens = [token(process)]
        old = ok(process.client.call("GET", "/partner/results", partner.test))["nextCursor"]
        kids = _pgs(folder, "keyring", "list")["kids"]
        rotated = _pgs(folder, "keyring", "rotate")["kids"]
        assert rotated[1:] == kids
        new = ok(process.client.call("GET", f"/partner/results?cursor={old}", partner.test))[
            "nextCursor"
        ]
        assert rotated[0] in new
        assert kids[0] in old
        tokens.append(token(process))
        assert [token.split(".")[2] for token in tokens] == [kids[0], rotated[0]]
        _check_all(process, partner, (old, new), tokens)
        _pgs(folder, "db", "backup", str(tmp_path / "backup"))
        process.stop()
        process.start()
        _check_all(process, partner, (old, new), tokens)
    with Process(tmp_path / "backup") as process:  # a backup holds the whole ring
        _check_all(process, partner, (old, new), tokens)


def _check_all(
    process: Process, partner: Partner, cursors: Iterable[str], tokens: Iterable[str]
) -> None:
    for cursor in cursors:
        ok(process.client.call("GET", f"/partner/results?cursor={cursor}", partner.test))
    for token in tokens:
        assert ok(process.client.call("GET", "/game/session", token))["playerId"] == "alice"
