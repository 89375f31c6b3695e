"""`pgs doctor` from the command line: its table, its JSON and its exit code."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli.support import NEW, pgs, process

FREE = {"PGS_LISTEN": "127.0.0.1:0", "PGS_INTERNAL_LISTEN": "127.0.0.1:0"}


@pytest.fixture(autouse=True)
def _free_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FREE.items():
        monkeypatch.setenv(name, value)


def _checks(output: bytes) -> dict[str, Any]:
    report = msgspec.json.decode(output)
    return {check["check"]: check for check in report["checks"]}


def test_a_new_folder_is_sound_and_stays_new(tmp_path: Path) -> None:
    result = pgs("doctor", "--json", "--data", tmp_path / "data")
    assert (result.exit_code, result.stderr) == (0, "")
    report = msgspec.json.decode(result.stdout_bytes)
    assert report["sound"] is True
    assert not (tmp_path / "data").exists()
    assert "nextStep" not in _checks(result.stdout_bytes)["settings"]


def test_the_table_says_what_to_do(tmp_path: Path) -> None:
    result = pgs("doctor", "--data", tmp_path / "data")
    assert result.exit_code == 0
    assert "identity_issuer" in result.stdout
    assert "docs/identity.md" in result.stdout


def test_a_bad_setting_is_a_problem_and_the_only_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGS_LISTEN", "nowhere")
    result = pgs("doctor", "--json", "--data", tmp_path)
    assert (result.exit_code, result.stderr) == (1, "")
    checks = _checks(result.stdout_bytes)
    assert list(checks) == ["settings"]
    assert "PGS_LISTEN must be host:port" in checks["settings"]["found"]


def test_a_folder_without_its_key_ring_is_found_before_a_start_refuses_it(tmp_path: Path) -> None:
    assert pgs(*NEW, "--data", tmp_path).exit_code == 0
    assert pgs("doctor", "--data", tmp_path).exit_code == 0
    (tmp_path / "keys").unlink()
    (tmp_path / "pgs.db").unlink()
    result = pgs("doctor", "--json", "--data", tmp_path)
    assert result.exit_code == 1
    assert _checks(result.stdout_bytes)["database"]["status"] == "problem"


def test_a_key_ring_that_is_missing_beside_its_database_is_a_problem(tmp_path: Path) -> None:
    assert pgs(*NEW, "--data", tmp_path).exit_code == 0
    (tmp_path / "keys").unlink()
    result = pgs("doctor", "--json", "--data", tmp_path)
    assert result.exit_code == 1
    assert _checks(result.stdout_bytes)["key_ring"]["status"] == "problem"
    assert process("serve", "--data", tmp_path, **FREE).returncode == 1
