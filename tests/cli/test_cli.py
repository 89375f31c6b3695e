"""The command line: its commands, their JSON and tables, and their exit codes."""

import socket
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
import trio
from typer.testing import Result

from pgs.cli import tables
from pgs.cli.errors import plain
from pgs.config import Config
from pgs.storage.ledger import LedgerReport, LedgerTotals
from pgs.storage.reader import Reader
from tests.cli.support import NEW, json_of, pgs, process
from tests.operator.support import prepare, serving


def test_a_command_in_its_own_process_prints_only_json(tmp_path: Path) -> None:
    made = process(*NEW, "--json", "--data", tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert msgspec.json.decode(made.stdout)["inviteId"].startswith("ivt_")
    again = process(*NEW, "--json", PGS_DATA_DIR=str(tmp_path))
    assert (again.returncode, again.stdout) == (1, "")
    assert "exists already" in again.stderr
    assert "Traceback" not in again.stderr


def test_the_version_option_prints_the_packages_version() -> None:
    result = pgs("--version")
    assert (result.exit_code, result.stdout) == (0, f"pgs {version('pgs')}\n")


def test_a_port_that_is_in_use_is_named_with_its_setting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for setting, other in (
            ("PGS_LISTEN", "PGS_INTERNAL_LISTEN"),
            ("PGS_INTERNAL_LISTEN", "PGS_LISTEN"),
        ):
            done = process(
                "serve", "--data", tmp_path / "data", **{setting: address, other: "127.0.0.1:0"}
            )
            assert done.returncode == 1
            assert done.stderr.endswith(
                f"cannot listen on {address}: Address already in use. "
                f"End what listens there, or set {setting}\n"
            )


def test_every_command_prints_one_json_value_and_nothing_else(tmp_path: Path) -> None:
    text = tmp_path / "terms.md"
    text.write_text("Terms.")
    at = ["--json", "--data", str(tmp_path / "data")]
    assert json_of(pgs("db", "migrate", *at))["migrations"]
    assert json_of(pgs(*NEW, *at))["partnerId"] == "acme"
    assert [partner["name"] for partner in json_of(pgs("partner", "list", *at))] == ["Acme"]
    assert json_of(pgs("partner", "show", "acme", *at))["burst"] == 300
    assert json_of(pgs("partner", "set", "acme", "--burst", "7", "--rate", "8", *at))["burst"] == 7
    assert json_of(pgs("partner", "deactivate", "acme", *at))["ended"] == 0
    assert json_of(pgs("partner", "reactivate", "acme", *at))["active"] is True
    assert (
        json_of(
            pgs(
                "tier",
                "set",
                "bronze",
                "--environment",
                "test",
                "--floor",
                "100",
                "--prize",
                "180",
                "--name",
                "B",
                *at,
            )
        )["name"]
        == "B"
    )
    assert json_of(pgs("tier", "lock", "bronze", "--environment", "test", "--game", "chess", *at))[
        "lockedGames"
    ] == ["chess"]
    assert (
        json_of(pgs("tier", "unlock", "bronze", "--environment", "test", "--game", "chess", *at))[
            "lockedGames"
        ]
        == []
    )
    assert [tier["tierId"] for tier in json_of(pgs("tier", "list", *at))] == ["bronze"]
    assert json_of(pgs("terms", "publish", str(text), *at)) == {"version": 2}
    refused = pgs("terms", "end", "acme", *at)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "no terms are agreed" in refused.stderr
    refused = pgs("partner", "reset-authenticator", "acme", "nobody", *at)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert json_of(pgs("ledger", "check", *at))["sound"] is True
    assert json_of(pgs("db", "check", *at))["sound"] is True
    refused = pgs("game", "licence", "acme", "chess", "grant", *at)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "live-request" in refused.stderr
    refused = pgs("match", "void", "mat_0", *at)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "No partner has the match mat_0, in test or in live. (match_not_found)" in refused.stderr


async def test_commands_reach_a_running_service_and_show_what_it_holds(tmp_path: Path) -> None:
    partner = await prepare(tmp_path, "ann", "bob")
    async with serving(tmp_path) as core:

        async def run(*arguments: str) -> Result:
            return await trio.to_thread.run_sync(lambda: pgs(*arguments, "--data", tmp_path))

        shown = await run("partner", "show", "acme")
        assert shown.exit_code == 0
        assert partner.live_key[-4:] in shown.stdout
        assert partner.live_key not in shown.stdout
        assert "granted" in shown.stdout
        withdrawn = await run(
            "game", "licence", "acme", "chess", "withdraw", "--note", "later", "--json"
        )
        assert {held["gameId"]: held for held in json_of(withdrawn)["licences"]}["chess"][
            "note"
        ] == "later"
        off = await run("partner", "deactivate", "acme")
        assert "matches that were ended: 1." in off.stdout
        account = core.parts.registry.account("acme")
        assert account is not None
        assert not account.active
        again = await run("partner", "deactivate", "acme")
        assert again.exit_code == 1
        assert "account_inactive" in again.stderr
        assert "pgs partner reactivate" in again.stderr


def test_without_the_json_option_an_answer_is_text_for_people(tmp_path: Path) -> None:
    assert "ivt_" in pgs(*NEW, "--data", tmp_path).stdout
    pgs(
        "tier",
        "set",
        "bronze",
        "--environment",
        "test",
        "--floor",
        "100",
        "--prize",
        "180",
        "--data",
        tmp_path,
    )
    for arguments, said in [
        (["partner", "list"], "acme"),
        (["partner", "show", "acme"], "300 requests at once"),
        (["partner", "deactivate", "acme"], "switched off"),
        (["partner", "show", "acme"], "off (switched off by platform)"),
        (["partner", "reactivate", "acme"], "switched on"),
        (["tier", "list"], "1.80 USD"),
        (["ledger", "check"], "sound"),
        (["db", "check"], "sound"),
        (["db", "migrate"], "0001_launch"),
    ]:
        result = pgs(*arguments, "--data", tmp_path)
        assert (result.exit_code, result.stderr) == (0, "")
        assert said in result.stdout


def test_settings_come_from_the_file_and_options_override_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pgs.toml").write_text(f'[pgs]\ndata_dir = "{tmp_path / "in-file"}"\n')
    assert pgs(*NEW, "--config", tmp_path / "pgs.toml").exit_code == 0
    assert (tmp_path / "in-file" / "pgs.db").exists()
    monkeypatch.setenv("PGS_DATA_DIR", str(tmp_path / "in-environment"))
    assert (
        pgs(*NEW, "--config", tmp_path / "pgs.toml", "--data", tmp_path / "option").exit_code == 0
    )
    assert not (tmp_path / "in-environment").exists()
    assert (tmp_path / "option" / "pgs.db").exists()
    wrong = pgs("partner", "list", "--config", tmp_path / "nowhere.toml")
    assert wrong.exit_code == 2
    assert "nowhere.toml" in wrong.stderr


def test_terms_must_be_utf_8_of_a_bounded_length(tmp_path: Path) -> None:
    text = tmp_path / "terms"
    at = ["--json", "--data", str(tmp_path / "data")]
    text.write_bytes("Bedingungen für € 100".encode())
    assert json_of(pgs("terms", "publish", text, *at)) == {"version": 2}
    text.write_bytes(b"\xff\xfe")
    assert pgs("terms", "publish", text, *at).exit_code == 2
    text.write_text("x" * 100_001)
    assert pgs("terms", "publish", text, *at).exit_code == 1
    text.write_text("x" * 500_000)
    assert pgs("terms", "publish", text, *at).exit_code == 1
    text.write_text("\U0001f3b2" * 100_000)
    assert json_of(pgs("terms", "publish", text, *at)) == {"version": 3}


async def test_an_unsound_ledger_exits_with_1_and_is_still_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = "acme test: row 2 is altered"
    totals = LedgerTotals("test", 2, 205, 0, 0, 0, 205)
    unsound = LedgerReport([totals], [fault], [], [], [], [], [], [])

    async def check_ledger(reader: Reader) -> LedgerReport:
        return unsound

    monkeypatch.setattr("pgs.operator.commands.ledger.check_ledger", check_ledger)
    await prepare(tmp_path)
    result = await trio.to_thread.run_sync(
        lambda: pgs("ledger", "check", "--json", "--data", tmp_path)
    )
    assert result.exit_code == 1
    printed = msgspec.json.decode(result.stdout_bytes)
    assert printed["brokenChains"] == [fault]
    assert printed["totals"] == [
        {
            "environment": "test",
            "rows": 2,
            "stakesUsdCents": 205,
            "payoutsUsdCents": 0,
            "refundsUsdCents": 0,
            "rakeUsdCents": 0,
            "openUsdCents": 205,
        }
    ]
    assert "not sound" in result.stderr


def test_a_long_list_is_fetched_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgs.operator.commands.partner.PAGE", 2)
    for number in range(3):
        pgs(
            "partner",
            "create",
            f"partner-{number}",
            "--name",
            "x",
            "--admin-email",
            "a@b.example",
            "--data",
            tmp_path,
        )
    assert [
        partner["partnerId"]
        for partner in json_of(pgs("partner", "list", "--json", "--data", tmp_path))
    ] == [
        "partner-0",
        "partner-1",
        "partner-2",
    ]


def test_what_partners_chose_cannot_steer_an_operators_terminal(tmp_path: Path) -> None:
    assert (
        plain("a\x1b[2Jb\rc\u202ed")
        == "a\N{REPLACEMENT CHARACTER}[2Jb\N{REPLACEMENT CHARACTER}c\N{REPLACEMENT CHARACTER}d"
    )
    pgs(
        "partner",
        "create",
        "acme",
        "--name",
        "[red]A",
        "--admin-email",
        "a@b.example",
        "--data",
        tmp_path,
    )
    shown = pgs("partner", "show", "acme", "--data", tmp_path).stdout
    assert "[red]A" in shown  # no markup


@pytest.mark.parametrize(
    ("cents", "shown"),
    [
        (0, "0.00 USD"),
        (5, "0.05 USD"),
        (-5, "-0.05 USD"),
        (-180, "-1.80 USD"),
        (123456789, "1,234,567.89 USD"),
    ],
)
def test_money_is_shown_to_the_cent(cents: int, shown: str) -> None:
    assert tables.money(cents) == shown


def test_serve_and_demo_receive_their_options_and_set_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[object] = []

    def serve(config: Config) -> int:
        called.append(config.data_dir)
        return 3

    def demo(folder: Path, *, once: bool, port: int, bots: int) -> int:
        called.append((folder, once, port, bots))
        return 4

    monkeypatch.setattr("pgs.process.run", serve)
    monkeypatch.setattr("pgs.demo.demo.run", demo)
    assert pgs("serve", "--data", tmp_path).exit_code == 3
    assert pgs("demo", "--data", tmp_path, "--once", "--port", "0").exit_code == 4
    assert pgs("demo", "--data", tmp_path, "--port", "0", "--bots").exit_code == 4
    assert pgs("demo", "--data", tmp_path, "--port", "0", "--bots", "5").exit_code == 4
    assert called == [
        tmp_path,
        (tmp_path, True, 0, 0),
        (tmp_path, False, 0, 2),
        (tmp_path, False, 0, 5),
    ]
