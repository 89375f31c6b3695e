"""A database moves to the other engine and back, and every row, head and number stays."""

import errno
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio

from pgs.clock import SystemRng
from pgs.config import Config
from pgs.keyfile import KeyFile
from pgs.storage.accounts import insert_partner
from pgs.storage.data_folder import BadSource, DataFolderInUse
from pgs.storage.database import Database
from pgs.storage.engines import copy_to_folder, copy_to_server, open_database
from pgs.storage.ledger import check_ledger
from pgs.storage.postgres import copying
from pgs.storage.seats import find_head
from pgs.storage.transactions import StoreOutage, Tx
from tests.beside import open_beside
from tests.making import account
from tests.postgres import Server
from tests.storage.played import Played

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

AT = 1_800_000_000


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """The settings of a data folder with an account, two matches and a key ring."""
    made = Config(data_dir=tmp_path / "data")
    with closing(_opened(made)) as database:
        trio.run(_play, database)
    return made


def _opened(config: Config) -> Database:
    return open_database(
        config,
        inline=True,
        on_locked=lambda is_new: void(KeyFile(config.key_file, SystemRng(), make=is_new)),
    )


def void(_: object) -> None:
    """Return nothing."""


async def _play(database: Database) -> None:
    await database.writer.submit(Tx("acme", (insert_partner(account(name="Größe \N{SNOWMAN}")),)))
    for winner in ("ann", "bob"):
        await Played(database).match(winner, AT)


def _rows(path: Path) -> dict[str, list[Any]]:
    with closing(open_beside(path)) as connection:
        names: Any = connection.execute("select name from sqlite_master where type = 'table'")
        return {
            name: sorted(connection.execute(f"select * from {name}"), key=repr)  # noqa: S608 - ours
            for (name,) in names.fetchall()
            if name != "heartbeat"
        }


def test_a_folder_goes_to_a_server_and_back_with_every_row(
    config: Config, postgres: Server, tmp_path: Path
) -> None:
    before = _rows(config.data_dir / "pgs.db")
    url = postgres.new_database()
    copied = copy_to_server(config, url)
    assert copied.rows > 20
    # The mark of the data folder takes the copy for its own database.
    there = Config(data_dir=config.data_dir, database_url=url)
    with closing(_opened(there)) as database:
        assert not database.take_over(AT)
        assert trio.run(check_ledger, database.reader).sound
        was = trio.run(find_head, database.reader, "acme", "test")
        trio.run(Played(database, "later").match, "ann", AT)
    back = Config(data_dir=tmp_path / "back")
    assert copy_to_folder(there, url, back.data_dir).tables == copied.tables
    assert back.key_file.read_text() == config.key_file.read_text()
    with closing(_opened(back)) as database:
        assert not database.take_over(AT)
        assert trio.run(check_ledger, database.reader).sound
        assert trio.run(find_head, database.reader, "acme", "test") == was
    after = _rows(back.data_dir / "pgs.db")
    earlier = {name: [row for row in rows if "later" not in row] for name, rows in after.items()}
    assert earlier == before
    # The file that was left behind lacks what the server has, so no start goes on with it.
    with pytest.raises(StoreOutage, match=r"lacks|older"):
        _opened(config)


def test_a_folder_without_a_row_in_the_ledger_goes_to_a_server_and_is_played_on(
    postgres: Server, tmp_path: Path
) -> None:
    config = Config(data_dir=tmp_path / "data")
    _opened(config).close()
    url = postgres.new_database()
    copy_to_server(config, url)
    with closing(_opened(Config(data_dir=config.data_dir, database_url=url))) as database:
        trio.run(_play, database)
        assert trio.run(check_ledger, database.reader).sound


def test_a_database_that_holds_something_is_not_copied_into(
    config: Config, postgres: Server
) -> None:
    url = postgres.new_database()
    copy_to_server(config, url)
    with pytest.raises(BadSource, match="not empty"):
        copy_to_server(config, url)
    with pytest.raises(BadSource, match="not empty"):
        copy_to_folder(config, url, config.data_dir)


def test_the_tables_of_another_application_are_left_alone(config: Config, postgres: Server) -> None:
    url = postgres.new_database()
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("create table guestbook (entry text)")
        with pytest.raises(BadSource, match="not empty"):
            copy_to_server(config, url)
        tables = other.execute("select tablename from pg_tables where schemaname = 'public'")
        assert tables.fetchall() == [("guestbook",)]


def test_a_dump_that_was_restored_is_not_copied_before_a_service_has_started_on_it(
    config: Config, postgres: Server, tmp_path: Path
) -> None:
    url = postgres.new_database()
    copy_to_server(config, url)
    with closing(_opened(Config(data_dir=config.data_dir, database_url=url))):
        pass
    with psycopg.connect(url, autocommit=True) as operator:
        # A dump that was restored is on another server, or in another database of the same one.
        operator.execute("update heartbeat set beats = beats + 1 where name = 'server'")
    with pytest.raises(BadSource, match="was restored"):
        copying.from_server(url, tmp_path / "back", config.key_file)


def test_a_folder_in_use_is_not_copied(config: Config, postgres: Server) -> None:
    with closing(_opened(config)), pytest.raises(DataFolderInUse):
        copy_to_server(config, postgres.new_database())


@pytest.mark.parametrize(
    "change",
    [
        "return null",
        "new.name := 'Acme'; return new",
        "if pg_trigger_depth() = 1 then insert into partner select new.*; "
        "new.partner_id := 'b'; end if; return new",
    ],
    ids=["missing", "changed", "added"],
)
def test_a_copy_that_differs_is_found_and_undone(
    config: Config, postgres: Server, change: str
) -> None:
    url = postgres.new_database()
    with (
        psycopg.connect(url, autocommit=True) as server,
        changing_partners(server, change),
        pytest.raises(StoreOutage, match="differs in partner"),
    ):
        copy_to_server(config, url)
    copy_to_server(config, url)


@contextmanager
def changing_partners(server: psycopg.Connection, change: str) -> Iterator[None]:
    """Let a server change each row that is written to the table `partner` before it stores it."""
    define = "create function {}() returns {} language plpgsql as $$ begin {}; end $$"
    watch = (
        "if to_regclass('partner') is not null and not exists "
        "(select from pg_trigger where tgname = 'changing') then create trigger changing "
        "before insert on partner for each row execute function change(); end if"
    )
    server.execute(define.format("change", "trigger", change).encode())
    server.execute(define.format("watch", "event_trigger", watch).encode())
    server.execute(
        "create event trigger watching on ddl_command_end when tag in ('CREATE TABLE') "
        "execute function watch()"
    )
    try:
        yield
    finally:
        server.execute("drop event trigger watching")


def test_only_a_folder_with_a_database_is_copied(
    config: Config, postgres: Server, tmp_path: Path
) -> None:
    url = postgres.new_database()
    with pytest.raises(BadSource, match="there is no database in"):
        copying.to_server(tmp_path / "nowhere", url)
    with closing(open_beside(config.data_dir / "pgs.db")) as connection:
        connection.execute("pragma user_version = 1")  # as a restore leaves it
    with pytest.raises(BadSource, match="was restored"):
        copy_to_server(config, url)
    with pytest.raises(BadSource, match="the database to copy from is empty"):
        copying.from_server(url, tmp_path / "back", config.key_file)


def test_a_folder_whose_ledger_is_not_sound_leaves_the_server_empty(
    config: Config, postgres: Server
) -> None:
    url = postgres.new_database()
    path = config.data_dir / "pgs.db"
    with closing(open_beside(path)) as connection, connection:
        connection.execute("update ledger set amount_usd_cents = amount_usd_cents + 1")
    for _ in range(2):  # a target that is not empty would be refused for that
        with pytest.raises(StoreOutage, match="the copied ledger is not sound"):
            copy_to_server(config, url)


def test_a_row_that_the_file_refuses_leaves_no_database_behind(
    config: Config, postgres: Server, tmp_path: Path
) -> None:
    url = postgres.new_database()
    copy_to_server(config, url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("alter table partner drop constraint partner_active_check")
        connection.execute("update partner set active = 2")
    back = tmp_path / "back"
    with pytest.raises(StoreOutage, match="the copy failed: CHECK constraint"):
        copy_to_folder(config, url, back)
    assert _names(back) == ["lock"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update partner set active = 1")
    assert copy_to_folder(config, url, back).rows > 20


@pytest.mark.parametrize("name", ["keys.new", "pgs.mark.new", "the folder"])
def test_a_disk_that_fills_at_the_end_of_a_copy_leaves_neither_database_nor_mark_nor_keys(
    config: Config,
    postgres: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    url = postgres.new_database()
    copy_to_server(config, url)
    back, was = tmp_path / "back", os.open

    def full(path: Any, flags: int, *rest: int, **named: int) -> int:
        # The folder is opened to make the last of the names durable.
        wanted = back if name == "the folder" else back / name
        if path == wanted and (name != "the folder" or (back / "pgs.db").exists()):
            raise OSError(errno.ENOSPC, "No space left on device")
        return was(path, flags, *rest, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", full)
        with pytest.raises(StoreOutage, match="No space left"):
            copy_to_folder(config, url, back)
    assert _names(back) == ["lock"]
    copy_to_folder(config, url, back)
    assert _names(back) == ["keys", "lock", "pgs.db", "pgs.mark"]


def test_what_a_killed_copy_left_is_replaced_and_other_files_are_kept(
    config: Config, postgres: Server, tmp_path: Path
) -> None:
    url = postgres.new_database()
    copy_to_server(config, url)
    killed = ["keys", "lock", "pgs.db.part", "pgs.db.part-journal", "pgs.mark"]
    for number, others in enumerate((["notes"], ["pgs.db"], [])):
        back = tmp_path / str(number)
        back.mkdir()
        for name in (*killed, *others):
            (back / name).write_text("precious")
        if others:
            with pytest.raises(BadSource, match="not empty"):
                copy_to_folder(config, url, back)
            assert _names(back) == sorted((*killed, *others))
        else:
            copy_to_folder(config, url, back)
            assert (back / "keys").read_text() == config.key_file.read_text()
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "keys").write_text("a ring that no copy has made")
    with pytest.raises(BadSource, match="not empty"):
        copy_to_folder(config, url, keys)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
