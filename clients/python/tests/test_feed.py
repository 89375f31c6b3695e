"""The feed loop and its store: rows are kept once, with the cursor, whatever happens."""

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from clients.python.tests.scripted import Script, page, refusal, row
from pgs_client import SqliteStore
from pgs_client.errors import InvalidCursor, InvalidKey
from pgs_client.records import Row

LOST = httpx.ReadTimeout("nothing came")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Yield an empty store."""
    made = SqliteStore(tmp_path / "feed.db")
    yield made
    made.close()


def test_catching_up_reads_every_page_and_keeps_rows_and_cursor(store: SqliteStore) -> None:
    script = Script(
        (200, page(row("p-1"), row("p-2"), cursor="c1", more=True)),
        (200, page(row("p-1", 2, outcome="ended"), cursor="c2")),
        (200, page(cursor="c2")),
    )
    client = script.client()
    assert client.catch_up(store) == 3
    assert client.catch_up(store) == 0
    assert [(each.player_id, each.outcome) for each in store.rows()] == [
        ("p-1", "ended"),
        ("p-2", "started"),
    ]
    assert store.cursor() == "c2"
    assert "cursor" not in script.requests[0].url.params
    assert [each.url.params["cursor"] for each in script.requests[1:]] == ["c1", "c2"]


def test_a_new_store_on_the_same_file_goes_on_from_the_cursor(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "feed.db")
    Script((200, page(row()))).client().catch_up(first)
    first.close()
    second = SqliteStore(tmp_path / "feed.db")
    assert second.cursor() == "c1"
    assert second.row("mat_1", "p-1") == second.rows()[0]
    assert second.row("mat_1", "p-9") is None
    second.close()


def test_an_older_revision_never_replaces_a_newer_one(store: SqliteStore) -> None:
    store.save([Row.read(row(revision=3, outcome="ended"))], "c1")
    store.save([Row.read(row(revision=2))], "c2")
    assert [each.revision for each in store.rows()] == [3]
    assert store.cursor() == "c2"


def test_a_failed_save_keeps_neither_rows_nor_cursor(store: SqliteStore) -> None:
    store.save([Row.read(row())], "c1")
    with pytest.raises(sqlite3.Error):
        # SQLite refuses a cursor of this type only after the rows are written.
        store.save([Row.read(row(revision=2))], object())  # type: ignore[arg-type]
    assert (store.rows()[0].revision, store.cursor()) == (1, "c1")


def test_a_refused_cursor_starts_the_feed_again_and_keeps_the_rows(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.save([Row.read(row(revision=5))], "lost")
    script = Script((400, refusal("invalid_cursor")), (200, page(row("p-2"), cursor="c1")))
    assert script.client().catch_up(store) == 1
    assert [each.player_id for each in store.rows()] == ["p-1", "p-2"]
    assert store.cursor() == "c1"
    assert "not valid any more" in caplog.text


def test_a_beginning_that_is_refused_is_raised(store: SqliteStore) -> None:
    with pytest.raises(InvalidCursor):
        Script((400, refusal("invalid_cursor"))).client().catch_up(store)


def test_following_waits_for_rows_and_yields_them_after_they_are_kept(store: SqliteStore) -> None:
    script = Script((200, page()), (200, page(row(), cursor="c2")))
    followed = script.client().follow(store, wait_s=20)
    (news,) = next(followed)
    assert store.rows() == [news]
    assert [each.url.params["waitSeconds"] for each in script.requests] == ["20", "20"]
    assert script.pauses == [1.0]  # the empty page came at once


def test_following_outlasts_failures_that_may_pass(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(*[LOST] * 6, *[(500, refusal("registry_unavailable"))] * 6, (200, page(row())))
    with caplog.at_level(logging.WARNING):
        assert len(next(script.client().follow(store))) == 1
    assert caplog.text.count("trying again") == 2


def test_following_ends_with_a_failure_that_does_not_pass(store: SqliteStore) -> None:
    with pytest.raises(InvalidKey):
        next(Script((401, refusal("invalid_key"))).client().follow(store))


def test_any_object_with_the_two_methods_is_a_store() -> None:
    class Memory:
        kept: Sequence[Row] = ()

        def cursor(self) -> str | None:
            return None

        def save(self, rows: Sequence[Row], cursor: str) -> None:
            self.kept = rows

    memory = Memory()
    Script((200, page(row()))).client().catch_up(memory)
    assert len(memory.kept) == 1
