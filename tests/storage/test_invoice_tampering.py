"""The report on the ledger names every invoice that was changed outside the service."""

from contextlib import closing

import pytest

from pgs.domain.days import day_of, month_of
from pgs.domain.invoices import Invoice, InvoiceLine, finalise, void
from pgs.storage import invoices as rows
from pgs.storage.ledger import check_ledger
from pgs.storage.sqlite.database import SqliteDatabase
from tests.beside import open_beside
from tests.storage.played import Played, commit

AT = 1_800_000_000
DRAFT = Invoice("acme", "test", "inv_1", 1, month_of(day_of(AT)), "draft", AT)


@pytest.fixture
def database(in_file: SqliteDatabase) -> SqliteDatabase:
    return in_file


async def billed(database: SqliteDatabase) -> Invoice:
    """Play a match with rake and bill it; return the open invoice."""
    play = Played(database)
    running = await play.start(AT)
    await play.pay(await play.end(running, "ann", AT), AT)
    (of,) = await rows.unbilled(database.reader, "acme", "test", (0, day_of(AT)), 10)
    line = InvoiceLine("lin_1", 1, of.day, of.game_id, of.tier_id, of.matches, of.rake_usd_cents)
    opened = finalise(DRAFT, 1, of.rake_usd_cents, 1, AT)
    await commit(database, rows.insert_invoice(DRAFT))
    await commit(database, *rows.bill(DRAFT, line), rows.update_invoice(DRAFT, opened))
    return opened


async def test_drafts_and_open_and_void_invoices_are_sound(database: SqliteDatabase) -> None:
    await commit(database, rows.insert_invoice(DRAFT))
    assert (await check_ledger(database.reader)).sound


async def test_a_void_invoice_whose_rake_is_free_again_is_sound(database: SqliteDatabase) -> None:
    opened = await billed(database)
    assert (await check_ledger(database.reader)).sound
    await commit(database, rows.update_invoice(opened, void(opened, AT)), rows.unbill(opened))
    assert (await check_ledger(database.reader)).sound


@pytest.mark.parametrize(
    "sql",
    [
        "update invoice set total_usd_cents = total_usd_cents + 1",
        "update invoice set total_usd_cents = null",
        "update invoice set line_count = 2",
        "update invoice set status = 'draft'",
        "update invoice set status = 'paid'",
        "update invoice set number = 2",
        "update invoice set voided_at = 1",
        "update invoice set status = 'void'",
        "update invoice_line set amount_usd_cents = amount_usd_cents + 1",
        "update invoice_line set matches = 7",
        "update invoice_line set day = day + 1",
        "update invoice_line set tier_id = 'gold'",
        "delete from invoice_line",
        "update totals set invoice_id = null",
        "update totals set invoice_id = 'inv_2'",
    ],
)
async def test_an_invoice_that_was_changed_is_named(database: SqliteDatabase, sql: str) -> None:
    await billed(database)
    with closing(open_beside(database.path)) as connection:
        connection.execute(sql)
    report = await check_ledger(database.reader)
    assert not report.sound
    assert "acme test inv_1" in report.invoices_that_do_not_add_up or "inv_2" in sql
    assert report.invoices_that_do_not_add_up


async def test_lines_whose_invoice_is_gone_are_named(database: SqliteDatabase) -> None:
    await billed(database)
    with closing(open_beside(database.path)) as connection:
        connection.execute("delete from invoice")
    report = await check_ledger(database.reader)
    assert report.invoices_that_do_not_add_up == ["acme unknown inv_1"]


async def test_a_line_that_bills_nothing_is_named(database: SqliteDatabase) -> None:
    await billed(database)
    with closing(open_beside(database.path)) as connection:
        connection.execute(
            "insert into invoice_line select partner_id, invoice_id, 2, 'lin_2', day + 9, game_id,"
            " tier_id, matches, 0 from invoice_line"
        )
    report = await check_ledger(database.reader)
    assert report.invoices_that_do_not_add_up == ["acme test inv_1"]
