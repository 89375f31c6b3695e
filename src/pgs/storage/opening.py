"""Opens the database of the settings."""

from collections.abc import Callable

from pgs.config import BadSettings, Config
from pgs.storage.database import Database
from pgs.storage.sqlite.database import SqliteDatabase

OnLocked = Callable[[bool], None]


def open_database(config: Config, *, inline: bool, on_locked: OnLocked) -> Database:
    """Return the database of `config`, up to date and locked for this process.

    `inline` reads and commits on the event loop's thread. `on_locked` is called before the database
    is touched; its argument tells whether the database will be new. If it raises, the database is
    not opened. Raises `BadSettings`, `DataFolderInUse`, `DataRefused`, `SchemaNewer` or
    `StoreOutage`.
    """
    if config.database_url:
        return _open_postgres(config, inline, on_locked)
    return SqliteDatabase(
        config.data_dir, inline=inline, key_file=config.key_file, on_locked=on_locked
    )


def _open_postgres(config: Config, inline: bool, on_locked: OnLocked) -> Database:
    try:
        # Its library is an extra.
        from pgs.storage.postgres.database import PostgresDatabase
    except ImportError as error:
        raise BadSettings(
            "PGS_DATABASE_URL needs the extra `postgres`: "
            f"pip install --require-hashes --requirement requirements-postgres.txt ({error})"
        ) from None
    return PostgresDatabase(
        config.database_url,
        config.data_dir,
        inline=inline,
        key_file=config.key_file,
        on_locked=on_locked,
    )
