"""Webhook endpoints are stored in rows and read back."""

from pgs.domain.accounts import Webhook
from pgs.storage import webhooks as rows
from pgs.storage.database import Database
from pgs.storage.transactions import Outcome, Stmt, Tx

URL, OTHER = "https://a.example.com/x", "https://b.example.com/y"


async def commit(database: Database, *stmts: Stmt) -> Outcome:
    return await database.writer.submit(Tx("acme", stmts))


async def test_a_new_endpoint_is_enabled_and_read_without_its_secret(database: Database) -> None:
    assert await rows.find_webhook(database.reader, "acme", "test") is None
    assert (
        await commit(database, rows.insert_webhook("acme", "test", URL, "sealed", 5))
        is Outcome.COMMITTED
    )
    webhook = await rows.find_webhook(database.reader, "acme", "test")
    assert webhook == Webhook(URL, True, 0, 5, 5, None)
    assert "sealed" not in repr(webhook)
    assert await rows.find_webhook(database.reader, "acme", "live") is None
    assert await rows.find_webhook(database.reader, "other", "test") is None
    assert (
        await commit(database, rows.insert_webhook("acme", "test", OTHER, "sealed too", 6))
        is Outcome.CONFLICT
    )


async def test_saving_a_url_changes_nothing_else_and_no_other_endpoint(database: Database) -> None:
    await commit(
        database,
        rows.insert_webhook("acme", "test", URL, "sealed", 5),
        rows.insert_webhook("acme", "live", URL, "sealed", 6),
    )
    assert await commit(database, rows.save_url("acme", "test", OTHER)) is Outcome.COMMITTED
    assert await rows.find_webhook(database.reader, "acme", "test") == Webhook(
        OTHER, True, 0, 5, 5, None
    )
    assert await rows.find_webhook(database.reader, "acme", "live") == Webhook(
        URL, True, 0, 6, 6, None
    )
    assert await commit(database, rows.save_url("nobody", "test", OTHER)) is Outcome.CONFLICT
