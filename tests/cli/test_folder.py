"""The command line and the data folder: the key ring, the lock, and payouts without a service."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import trio
import typer
from rich.console import Console

from pgs.app import open_core
from pgs.cli import call, tables
from pgs.cli.errors import expected
from pgs.clock import SystemRng
from pgs.config import Config
from pgs.games.installed import GAMES, BadGame, installed_games
from pgs.keyfile import KeyFile
from pgs.operator.commands.match import MATCH_VOID, MatchId
from pgs.operator.commands.partner import PARTNER_DEACTIVATE, PARTNER_SHOW, PartnerId
from pgs.operator.messages import Done
from pgs.operator.records import partner_record
from pgs.storage.database_mark import Mark, write_mark
from pgs.storage.seats import find_match, is_money_due
from tests.cli.support import NEW, json_of, pgs, process
from tests.operator.support import Operator, prepare, serving
from tests.patience import PATIENCE_S
from tests.postgres import Server

FREE = {"PGS_LISTEN": "127.0.0.1:0", "PGS_INTERNAL_LISTEN": "127.0.0.1:0"}


def test_a_new_folder_gets_a_database_and_a_key_ring(tmp_path: Path) -> None:
    assert pgs(*NEW, "--data", tmp_path / "data").exit_code == 0
    assert {"pgs.db", "keys"} <= {path.name for path in (tmp_path / "data").iterdir()}


@pytest.mark.parametrize(
    "arguments", [["partner", "list"], ["keyring", "list"], ["db", "migrate"], ["serve"]]
)
def test_a_database_without_its_key_ring_is_refused_and_no_new_ring_is_made(
    tmp_path: Path, arguments: list[str]
) -> None:
    assert pgs(*NEW, "--data", tmp_path).exit_code == 0
    (tmp_path / "keys").rename(tmp_path / "keys.away")
    refused = process(*arguments, "--data", tmp_path, **FREE)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"the key file {tmp_path / 'keys'} is missing" in refused.stderr
    assert "Put the file that belongs to this data folder back" in refused.stderr
    assert "PGS_SECRET_KEY_FILE" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "keys").exists()
    assert pgs("partner", "list", "--data", tmp_path).exit_code == 1
    (tmp_path / "keys.away").rename(tmp_path / "keys")
    assert pgs("partner", "list", "--data", tmp_path).exit_code == 0


def test_the_ring_of_a_failed_first_start_is_used_again(tmp_path: Path) -> None:
    write_mark(tmp_path, Mark("making"))  # what a start writes first
    ring = KeyFile(tmp_path / "keys", SystemRng()).ring
    (tmp_path / "pgs.db.new").touch()
    assert json_of(pgs("db", "migrate", "--json", "--data", tmp_path))["migrations"]
    assert json_of(pgs("keyring", "list", "--json", "--data", tmp_path))["kids"] == [
        key.kid for key in ring.keys
    ]


def test_the_ring_is_on_disk_before_the_database_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **named: object) -> None:
        assert (tmp_path / "keys").exists()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pgs.storage.sqlite.database.connect", broken)
    assert "No space left" in pgs("db", "migrate", "--data", tmp_path).stderr


async def test_a_command_on_a_stopped_service_prints_its_answer_alone_and_pays_what_is_due(
    tmp_path: Path,
) -> None:
    await prepare(tmp_path, "ann", "bob", "cleo")
    done = await trio.to_thread.run_sync(
        lambda: process("partner", "deactivate", "acme", "--data", tmp_path)
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "matches that were ended: 2." in done.stdout
    # Opening pays nothing yet: the service first reads rows after the assertion.
    async with open_core(Config(data_dir=tmp_path)) as core:
        assert not await is_money_due(core.parts.database.reader)


async def test_voiding_a_match_of_a_stopped_service_refunds_it_at_once(tmp_path: Path) -> None:
    await prepare(tmp_path, "ann", "bob")
    async with open_core(Config(data_dir=tmp_path)) as core:
        rows = await core.parts.database.reader.all(
            "matches.running_matches_after",
            partner_id="acme",
            environment="test",
            after="",
            page_size=9,
        )
        match_id = rows[0][0]
    assert isinstance(await Operator(tmp_path).ask(MATCH_VOID, MatchId(match_id)), Done)
    async with open_core(Config(data_dir=tmp_path)) as core:
        match = await find_match(core.parts.database.reader, "acme", match_id)
        assert match is not None
        assert match.status == "no_contest"
        assert not await is_money_due(core.parts.database.reader)


async def test_a_command_waits_for_payouts_for_a_limited_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[bool] = []

    async def never_paid(reader: object) -> bool:
        looked.append(True)
        return True

    monkeypatch.setattr("pgs.storage.seats.is_money_due", never_paid)
    monkeypatch.setattr(call, "PAYOUTS_S", 0.1)
    await prepare(tmp_path, "ann", "bob")
    with trio.fail_after(PATIENCE_S):
        assert isinstance(await Operator(tmp_path).ask(PARTNER_SHOW, PartnerId("acme")), Done)
        assert not looked
        assert isinstance(await Operator(tmp_path).ask(PARTNER_DEACTIVATE, PartnerId("acme")), Done)
        assert looked


async def test_a_second_service_on_the_same_folder_is_refused(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path):
        refused = await trio.to_thread.run_sync(
            lambda: process("serve", "--data", tmp_path, **FREE)
        )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"a service runs on the data folder {tmp_path} already" in refused.stderr


@pytest.mark.parametrize("name", ["operator.sock", "operator.sock.new"])
def test_the_error_names_a_folder_that_is_where_a_file_belongs(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    refused = process("serve", "--data", tmp_path, **FREE)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"{tmp_path / name} is a folder" in refused.stderr
    assert "Traceback" not in refused.stderr


async def test_games_that_are_not_installed_are_not_shown_as_playable(tmp_path: Path) -> None:
    await prepare(tmp_path)
    async with open_core(Config(data_dir=tmp_path)) as core:
        account = core.parts.registry.account("acme")
    assert account is not None
    shown = partner_record(account, {}, None, frozenset({"reversi"}), 0)
    assert shown.games == {"test": ["reversi"], "live": ["reversi"]}
    assert {held.game_id: held.installed for held in shown.licences} == {
        game_id: game_id == "reversi" for game_id in GAMES
    }
    assert msgspec.to_builtins(shown)["licences"][0] == {
        "gameId": "chess",
        "test": True,
        "live": "granted",
        "installed": False,
    }
    console = Console(width=160)
    with console.capture() as drawn:
        console.print(tables.partner(shown))
    assert drawn.get().count("not installed here") == len(GAMES) - 1


async def test_an_installation_shows_the_games_that_it_can_run(tmp_path: Path) -> None:
    await prepare(tmp_path)
    shown = await Operator(tmp_path).done(PARTNER_SHOW, PartnerId("acme"))
    assert set(shown.games["test"]) == installed_games()


def _started(folder: Path, **settings: str) -> str:
    """Start and stop a service; return its line on standard output. Its log is at `folder`.log."""
    with folder.with_suffix(".log").open("wb") as log:
        service = subprocess.Popen(
            [sys.executable, "-m", "pgs", "serve", "--data", folder],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={"PATH": os.environ["PATH"], **FREE, **settings},
        )
        try:
            assert service.stdout is not None
            line = service.stdout.readline()
            service.send_signal(signal.SIGTERM)
            rest, _ = service.communicate(timeout=PATIENCE_S)
            assert (rest, service.returncode) == ("", 0)
            return line
        finally:
            service.kill()
            service.wait()


def test_a_service_prints_where_it_listens_beside_its_base_url(tmp_path: Path) -> None:
    line = _started(tmp_path / "data", PGS_BASE_URL="https://games.example")
    assert line.startswith("pgs is ready: https://games.example (listening on http://127.0.0.1:")
    assert ", internal http://127.0.0.1:" in line
    assert "open_to_others" not in (tmp_path / "data.log").read_text()


def test_a_service_whose_files_others_can_read_warns_when_it_starts(tmp_path: Path) -> None:
    assert pgs("db", "migrate", "--data", tmp_path / "data").exit_code == 0
    (tmp_path / "data" / "keys").chmod(0o644)
    assert _started(tmp_path / "data").startswith("pgs is ready: http://127.0.0.1:")
    warned = [
        line
        for line in (tmp_path / "data.log").read_text().splitlines()
        if "open_to_others" in line
    ]
    assert len(warned) == 1
    assert str(tmp_path / "data" / "keys") in warned[0]


@pytest.mark.parametrize(
    "environ",
    [
        {"PGS_IDENTITY_ISSUER": "http://id.example"},
        {"PGS_PROCESS_RATE": "abc"},
        {"PGS_LISTNE": "x"},
    ],
)
def test_an_invalid_setting_exits_with_2_and_is_named_in_one_line(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    for arguments in (["serve"], ["partner", "list"]):
        wrong = process(*arguments, "--data", tmp_path, **environ)
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert next(iter(environ)) in wrong.stderr
        assert len(wrong.stderr.splitlines()) == 1


def test_a_package_whose_game_is_invalid_is_named_with_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(typer.Exit) as stopped, expected():
        raise BadGame("nim.rules is no game called nim")
    assert stopped.value.exit_code == 1
    assert capsys.readouterr().err.startswith(
        "pgs: nim.rules is no game called nim. Remove the package"
    )


def test_a_copy_is_restored_and_a_loss_accepted_at_the_command_line(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    assert pgs(*NEW, "--data", data).exit_code == 0
    assert pgs("db", "backup", backup, "--data", data).exit_code == 0
    assert pgs("terms", "end", "acme", "--data", data).exit_code == 1
    told = json_of(pgs("db", "restore", backup, "--json", "--data", data))
    assert (Path(told["replaced"]) / "pgs.db").is_file()
    assert "The copy is in" in pgs("db", "restore", backup, "--data", data).stdout
    (data / "pgs.mark").write_text("damaged")
    refused = pgs("partner", "list", "--data", data)
    assert refused.exit_code == 1
    assert "pgs db accept-loss" in refused.stderr
    assert "goes on with" in pgs("db", "accept-loss", "--data", data).stdout
    assert pgs("partner", "list", "--data", data).exit_code == 0
    for wrong in (["restore", tmp_path / "nothing"], ["accept-loss"]):
        refused = pgs("db", *wrong, "--data", tmp_path / "nowhere")
        assert refused.exit_code == 1
        assert "there is no database" in refused.stderr
    (data / "pgs.db").unlink()
    refused = pgs("partner", "list", "--data", data)
    assert "so this service is not new" in refused.stderr


def test_a_service_on_postgresql_is_restored_with_the_tools_of_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGS_DATABASE_URL", "postgresql://127.0.0.1:1/pgs")
    refused = pgs("db", "restore", tmp_path / "copy", "--data", tmp_path / "data")
    assert refused.exit_code == 1
    assert "restore it there" in refused.stderr
    refused = pgs("db", "migrate", "--data", tmp_path / "data")
    assert refused.exit_code == 1
    assert "the database cannot be reached" in refused.stderr


@pytest.mark.postgres
@pytest.mark.slow
def test_a_database_moves_to_postgresql_and_back_at_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: Server
) -> None:
    data, url = tmp_path / "data", postgres.new_database()
    assert pgs(*NEW, "--data", data).exit_code == 0
    assert (
        "tables are the same in both; rows: "
        in pgs("db", "copy", "--to", url, "--data", data).stdout
    )
    monkeypatch.setenv("PGS_DATABASE_URL", url)
    assert "acme" in pgs("partner", "list", "--data", data).stdout
    refused = pgs("db", "backup", tmp_path / "backup", "--data", data)
    assert refused.exit_code == 1
    assert "pg_dump" in refused.stderr
    assert json_of(pgs("db", "check", "--json", "--data", data))["sound"]
    assert "goes on with" in pgs("db", "accept-loss", "--data", data).stdout
    back = tmp_path / "back"
    copied = json_of(pgs("db", "copy", "--from", url, "--to", back, "--json", "--data", data))
    assert copied["tables"] > 20
    monkeypatch.delenv("PGS_DATABASE_URL")
    assert "acme" in pgs("partner", "list", "--data", back).stdout
