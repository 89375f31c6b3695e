"""`pgs settlement …` at a terminal and for programs."""

from pathlib import Path

import pytest
import trio

from pgs.actors.messages.seats import StakeSeat
from pgs.app import open_core
from pgs.config import Config
from pgs.domain.seats import SeatRequest
from pgs.operator.commands import settlement as commands
from pgs.operator.ready_partners import make_ready, offer_tier
from pgs.storage.seats import find_by_idempotency_key
from tests.actors.scripted_settlement import ScriptedSettlement
from tests.cli.support import json_of, pgs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with three stakes that settlement has called pending."""
    port = ScriptedSettlement()
    port.of_charge = {name: ["pending"] for name in ("ann", "bob", "cleo")}

    async def prepare() -> None:
        async with open_core(Config(data_dir=tmp_path), settlement=port) as core:
            await offer_tier(core, "test", "bronze", 100, 180, "Bronze")
            await make_ready(core, "acme", "Acme", "admin@acme.example")
            for name in port.of_charge:
                request = SeatRequest(name, "tic-tac-toe", "bronze", 100, name, None)
                await core.directory.partner("acme").seats("test").ask(StakeSeat(request))

    trio.run(prepare)
    return tmp_path


def seat_of(folder: Path, name: str) -> str:
    async def find() -> str:
        async with open_core(Config(data_dir=folder)) as core:
            reader = core.parts.database.reader
            seat = await find_by_idempotency_key(reader, "acme", "test", name)
            assert seat is not None
            return seat.seat_id

    return trio.run(find)


def test_the_list_is_one_json_list_or_a_table_of_every_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_one = json_of(pgs("settlement", "list", "--json", "--data", folder))
    assert {item["playerId"] for item in in_one} == {"ann", "bob", "cleo"}
    assert in_one[0]["why"] == "PGS_SETTLEMENT_URL names no settlement server"
    monkeypatch.setattr(commands, "PAGE", 2)
    assert json_of(pgs("settlement", "list", "--json", "--data", folder)) == in_one
    drawn = pgs("settlement", "list", "--data", folder)
    assert drawn.exit_code == 0
    assert all(item["id"] in drawn.stdout for item in in_one)
    assert "1.00 USD" in drawn.stdout
    assert "Open: 3" in drawn.stdout


def test_nothing_open_is_shown_as_an_empty_list(tmp_path: Path) -> None:
    json_of(pgs("db", "migrate", "--json", "--data", tmp_path))
    assert json_of(pgs("settlement", "list", "--json", "--data", tmp_path)) == []
    assert pgs("settlement", "list", "--data", tmp_path).stdout == "Open: 0\n"


def test_a_retry_without_a_server_says_so(folder: Path) -> None:
    assert json_of(pgs("settlement", "retry", "--json", "--data", folder)) == {
        "asked": 0,
        "unset": 3,
    }
    drawn = pgs("settlement", "retry", "--data", folder)
    assert "Not asked for 3: PGS_SETTLEMENT_URL names no settlement server." in drawn.stdout
    one = pgs("settlement", "retry", seat_of(folder, "ann"), "--data", folder)
    assert one.exit_code == 1
    assert "PGS_SETTLEMENT_URL" in one.stderr


def test_a_decision_is_recorded_and_told(folder: Path) -> None:
    name = seat_of(folder, "ann")
    done = json_of(pgs("settlement", "resolve", name, "declined", "--json", "--data", folder))
    assert done == {"id": name, "kind": "charge", "decision": "declined", "status": "declined"}
    told = pgs("settlement", "resolve", seat_of(folder, "bob"), "confirmed", "--data", folder)
    assert "confirmed, now waiting" in told.stdout
    again = pgs("settlement", "resolve", name, "declined", "--data", folder)
    assert again.exit_code == 1
    assert "names no open charge or payout" in again.stderr
    assert pgs("settlement", "resolve", name, "perhaps", "--data", folder).exit_code == 2


def test_a_person_at_a_terminal_is_asked_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(question: str, *, err: bool) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("pgs.cli.options.is_interactive", lambda: True)
    monkeypatch.setattr("typer.confirm", refuse)
    name = seat_of(folder, "ann")
    words = ("settlement", "resolve", name, "declined", "--data", folder)
    refused = pgs(*words)
    assert (refused.exit_code, "nothing was done" in refused.stderr) == (1, True)
    assert [name in question for question in asked] == [True]
    assert pgs(*words, "--yes").exit_code == 0
    assert len(asked) == 1


def test_an_id_that_is_too_long_is_a_wrong_call(folder: Path) -> None:
    wrong = pgs("settlement", "retry", "x" * 200, "--data", folder)
    assert wrong.exit_code == 2
    assert "the ID of the charge or payout must be at most 160 characters" in wrong.stderr
