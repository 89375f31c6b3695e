"""Opens the database of the settings."""

from collections.abc import Callable

from pgs.config import Config
from pgs.storage.database import Database
from pgs.storage.sqlite.database import SqliteDatabase


def open_database(config: Config, *, inline: bool, on_locked: Callable[[bool], None]) -> Database:
    """Return the database of `config`, up to date and locked for this process.

    `inline` reads and commits on the event loop's thread. `on_locked` is called before the database
    is touched; its argument tells whether the database will be new. If it raises, the database is
    not opened. Raises `DataFolderInUse`, `DataRefused`, `SchemaNewer` or `StoreOutage`.
    """
    return SqliteDatabase(
        config.data_dir, inline=inline, key_file=config.key_file, on_locked=on_locked
    )
