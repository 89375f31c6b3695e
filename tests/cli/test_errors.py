"""Errors of the command line: exit codes, and one line on standard error."""

from contextlib import closing
from pathlib import Path

import pytest
import typer

from pgs.cli import call
from pgs.cli.errors import expected
from pgs.clock import SystemRng
from pgs.keyfile import BadKeyFile, KeyFile
from pgs.operator.unix_socket import ConnectionLost, SocketObstructed
from pgs.storage.data_folder import DataLock
from pgs.storage.migrations import SchemaNewer
from pgs.storage.transactions import StoreOutage
from tests.beside import open_beside
from tests.cli.support import pgs, process


def test_a_wrong_option_exits_with_2_and_is_named(tmp_path: Path) -> None:
    wrong = process(
        "tier",
        "set",
        "bronze",
        "--environment",
        "prod",
        "--floor",
        "1",
        "--prize",
        "1",
        "--json",
        "--data",
        tmp_path,
    )
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--environment" in wrong.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["partner", "create", "acme"],
        ["partner", "show"],
        ["partner", "set", "acme"],
        ["partner", "set", "acme", "--burst", "many"],
        ["partner", "set", "acme", "--burst", "99999999999"],
        ["partner", "show", "x" * 100],
        ["partner", "show", "a\0b"],
        ["partner", "show", "\udcff"],
        ["game", "licence", "acme", "chess", "take"],
        ["tier", "lock", "bronze", "--environment", "test"],
        ["terms", "publish", "/nowhere/terms.md"],
        ["terms", "publish", "/"],
    ],
)
def test_wrong_calls_exit_with_2_and_print_only_on_standard_error(
    tmp_path: Path, arguments: list[str]
) -> None:
    result = pgs(*arguments, "--json", "--data", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


def test_a_folder_without_a_database_is_named(tmp_path: Path) -> None:
    result = pgs("partner", "list", "--data", tmp_path / "nowhere")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nowhere" in result.stderr
    assert "--data" in result.stderr


def test_a_folder_that_another_process_holds_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call, "WAIT_S", 0)
    (tmp_path / "pgs.db").touch()
    lock = DataLock(tmp_path)
    result = pgs("partner", "list", "--data", tmp_path)
    lock.release()
    assert result.exit_code == 1
    assert "another process" in result.stderr
    assert str(tmp_path) in result.stderr


def test_a_damaged_key_file_is_named(tmp_path: Path) -> None:
    assert pgs("db", "migrate", "--data", tmp_path).exit_code == 0
    (tmp_path / "keys").write_text("damaged")
    result = pgs("db", "migrate", "--data", tmp_path)
    assert result.exit_code == 1
    assert "key file" in result.stderr


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    KeyFile(tmp_path / "keys", SystemRng())
    (tmp_path / "pgs.db").write_bytes(b"not a database" * 1000)
    result = pgs("db", "check", "--data", tmp_path)
    assert result.exit_code == 1
    assert "database cannot be used" in result.stderr


def test_a_database_that_breaks_a_rule_of_its_schema_is_reported_as_damaged(
    tmp_path: Path,
) -> None:
    assert pgs("db", "migrate", "--data", tmp_path).exit_code == 0
    assert pgs("db", "check", "--data", tmp_path).exit_code == 0
    with closing(open_beside(tmp_path / "pgs.db")) as connection:
        connection.execute("pragma ignore_check_constraints = on")
        connection.execute("insert into tier_lock values ('prod', 'bronze', 'chess')")
    damaged = pgs("db", "check", "--data", tmp_path)
    assert damaged.exit_code == 1
    assert "the database is damaged" in damaged.stderr


EXPECTED = [
    (ConnectionLost("gone"), 1, "Look at the current state"),
    (SocketObstructed("data/control"), 1, "data/control is a folder"),
    (SchemaNewer("0099_later"), 1, "newer version"),
    (BadKeyFile("the key file k is damaged"), 1, "Put the file"),
    (StoreOutage("disk I/O error"), 1, "disk"),
    (PermissionError(13, "Permission denied", "data/lock"), 1, "data/lock: permission denied"),
    (OSError(98, "Address already in use"), 1, "Address already in use"),
    (ExceptionGroup("nursery", [ExceptionGroup("inner", [StoreOutage("full")])]), 1, "full"),
    (KeyboardInterrupt(), 130, "interrupted"),
]


@pytest.mark.parametrize(
    ("error", "code", "said"), EXPECTED, ids=[type(error).__name__ for error, _, _ in EXPECTED]
)
def test_an_error_that_an_operator_can_fix_has_a_message_and_no_traceback(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as stopped, expected():
        raise error
    assert stopped.value.exit_code == code
    assert said in capsys.readouterr().err


def test_an_error_without_a_standard_error_keeps_its_exit_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with pytest.raises(typer.Exit) as stopped, expected():
        raise StoreOutage("full")
    assert stopped.value.exit_code == 1


def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError), expected():
        raise ZeroDivisionError
    with pytest.raises(ExceptionGroup), expected():
        raise ExceptionGroup("two", [ValueError(), StoreOutage("full")])


def test_serving_a_folder_in_use_is_refused_without_a_traceback(tmp_path: Path) -> None:
    KeyFile(tmp_path / "keys", SystemRng())
    lock = DataLock(tmp_path)
    result = process(
        "serve", "--data", tmp_path, PGS_LISTEN="127.0.0.1:0", PGS_INTERNAL_LISTEN="127.0.0.1:0"
    )
    lock.release()
    assert (result.returncode, result.stdout) == (1, "")
    assert "another process" in result.stderr
    assert "Traceback" not in result.stderr
