"""`pgs invoice …` at a terminal and for programs."""

import time
from pathlib import Path

import pytest
import trio

from pgs.app import open_core
from pgs.config import Config
from pgs.domain.days import day_of, first_day, format_month, month_of
from pgs.domain.totals import Totals, TotalsKey
from pgs.operator.commands import invoice as commands
from pgs.operator.ready_partners import make_ready
from pgs.storage.totals import raise_totals
from pgs.storage.transactions import Tx
from tests.cli.support import json_of, pgs

MONTH = month_of(day_of(int(time.time()))) - 2
"""A month that is final, whenever the tests run."""

PARTNERS = ("acme", "bravo", "cargo")
LINES = 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder in which three partners have a month's rake that is not billed yet."""

    async def prepare() -> None:
        async with open_core(Config(data_dir=tmp_path)) as core:
            for name in PARTNERS:
                await make_ready(core, name, name.title(), f"admin@{name}.example")
                stmts = tuple(
                    raise_totals(
                        name,
                        "test",
                        TotalsKey(first_day(MONTH) + line, "chess", "gold"),
                        Totals(matches=2, match_rake_usd_cents=40),
                    )
                    for line in range(LINES)
                )
                await core.parts.database.writer.submit(Tx(name, stmts))

    trio.run(prepare)
    return tmp_path


def assemble(folder: Path) -> list[dict[str, object]]:
    done = pgs("invoice", "assemble", "--month", format_month(MONTH), "--json", "--data", folder)
    return list(json_of(done))


def test_a_month_is_assembled_page_by_page_for_every_partner(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "PARTNERS", 2)
    invoices = assemble(folder)
    assert [(each["partnerId"], each["status"], each["number"]) for each in invoices] == [
        (name, "open", 1) for name in PARTNERS
    ]
    assert {each["totalUsdCents"] for each in invoices} == {40 * LINES}
    assert assemble(folder) == []  # nothing is left to bill


def test_the_list_has_every_page_and_can_be_narrowed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assemble(folder)
    monkeypatch.setattr(commands, "PAGE", 2)
    listed = json_of(pgs("invoice", "list", "--json", "--data", folder))
    assert [each["partnerId"] for each in listed] == list(PARTNERS)
    one = json_of(pgs("invoice", "list", "--partner", "bravo", "--json", "--data", folder))
    assert [each["partnerId"] for each in one] == ["bravo"]
    assert json_of(pgs("invoice", "list", "--status", "paid", "--json", "--data", folder)) == []
    table = pgs("invoice", "list", "--status", "all", "--data", folder)
    assert table.exit_code == 0
    assert "Invoices: 3" in table.stdout
    unknown = pgs("invoice", "list", "--partner", "nobody", "--data", folder)
    assert (unknown.exit_code, unknown.stdout) == (1, "")


def test_an_invoice_is_shown_with_every_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    invoice_id = str(assemble(folder)[0]["invoiceId"])
    monkeypatch.setattr(commands, "PAGE", 2)
    shown = json_of(pgs("invoice", "show", invoice_id, "--json", "--data", folder))
    assert [line["line"] for line in shown["lines"]] == list(range(1, LINES + 1))
    table = pgs("invoice", "show", invoice_id, "--data", folder)
    assert "Lines: 3" in table.stdout
    assert "1.20 USD" in table.stdout


def test_an_invoice_is_paid_or_voided_and_an_unknown_one_is_refused_with_advice(
    folder: Path,
) -> None:
    ids = [str(each["invoiceId"]) for each in assemble(folder)]
    assert json_of(pgs("invoice", "pay", ids[0], "--json", "--data", folder))["status"] == "paid"
    voided = pgs("invoice", "void", ids[1], "--data", folder)
    assert voided.exit_code == 0
    assert "void" in voided.stdout
    refused = pgs("invoice", "void", ids[0], "--data", folder)
    assert refused.exit_code == 1
    assert "is paid" in refused.stderr
    unknown = pgs("invoice", "show", "inv_unknown", "--data", folder)
    assert unknown.exit_code == 1
    assert "No partner has the invoice inv_unknown, in test or in live." in unknown.stderr
    assert "`pgs invoice list` shows all." in unknown.stderr


@pytest.mark.parametrize("month", ["2026-11", "202613", "20261", "", "٢٠٢٦١١"])
def test_a_month_that_does_not_exist_is_a_wrong_call(month: str, tmp_path: Path) -> None:
    done = pgs("invoice", "assemble", "--month", month, "--data", tmp_path)
    assert done.exit_code == 2
    assert "202611" in done.stderr


def test_a_month_that_has_not_begun_is_refused(folder: Path) -> None:
    done = pgs("invoice", "assemble", "--month", format_month(MONTH + 3), "--data", folder)
    assert done.exit_code == 1
    assert "must have begun" in done.stderr


def test_an_unknown_status_is_a_wrong_call(tmp_path: Path) -> None:
    assert pgs("invoice", "list", "--status", "late", "--data", tmp_path).exit_code == 2
