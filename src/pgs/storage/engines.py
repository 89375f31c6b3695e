"""Opens the database that the settings name, on SQLite or on PostgreSQL."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from pgs.config import BadSettings, Config
from pgs.domain.shards import Node
from pgs.storage.copy_record import Copied
from pgs.storage.data_folder import BadSource, LossAccepted
from pgs.storage.database import Database
from pgs.storage.database_mark import MARK_NAME
from pgs.storage.nodes import Nodes, Tally
from pgs.storage.sqlite.connections import DATABASE_NAME
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.sqlite.identity import judge
from pgs.storage.sqlite.restore import accept_loss as accept_here

OnLocked = Callable[[bool], None]


def open_database(config: Config, *, inline: bool, on_locked: OnLocked) -> Database:
    """Return the database of `config`, up to date and locked for this process.

    `inline` reads and commits on the event loop's thread. `on_locked` is called before the database
    is touched; its argument says whether the database will be new. If it raises, the database is
    not opened. Raises `BadSettings`, `DataFolderInUse`, `DataRefused`, `SchemaNewer` or
    `StoreOutage`.
    """
    if config.database_url:
        return _open_postgres(config, inline, on_locked)
    return SqliteDatabase(
        config.data_dir, inline=inline, key_file=config.key_file, on_locked=on_locked
    )


def has_been_used(folder: Path) -> bool:
    """Return whether a data folder holds a database, or has held one."""
    return any((folder / name).exists() for name in (DATABASE_NAME, MARK_NAME))


def inspect_database(config: Config) -> str:
    """Return a sentence about the database that the next start would open. Writes nothing.

    No service may run on the data folder. Raises `BadSettings` and `StoreOutage`, whose messages
    say why a start would be refused.
    """
    if config.database_url:
        with _driver():
            from pgs.storage.postgres.inspection import inspect_server
        return inspect_server(config.database_url)
    mark = judge(config.data_dir, config.key_file)
    path = config.data_dir / DATABASE_NAME
    if mark is not None and mark.state == "making":
        return f"{path} is new: the first start makes it"
    return (
        f"{path} is the one that belongs to this folder"
        if mark
        else f"{path} has no mark beside it: the next start takes it for a restored copy"
    )


def accept_loss(config: Config, now: int) -> LossAccepted:
    """Accept the database as it is, even if it holds fewer commits than the mark names.

    `now` is in epoch seconds. Raises `BadSource` and the errors of `open_database`.
    """
    if config.database_url:
        with _driver():
            from pgs.storage.postgres.identity import accept_loss as accept_there
        commits = accept_there(config.database_url, config.data_dir, now)
        return LossAccepted(str(config.data_dir), commits)
    return accept_here(config.data_dir)


def copy_to_server(config: Config, url: str) -> Copied:
    """Copy the database of the data folder into an empty one of PostgreSQL, and compare both.

    Raises `BadSource` and the errors of `open_database`.
    """
    with _driver():
        from pgs.storage.postgres.copying import to_server
    return to_server(config.data_dir, url)


def copy_to_folder(config: Config, url: str, folder: Path) -> Copied:
    """Copy a database of PostgreSQL and the key ring into a new data folder, and compare both.

    Raises `BadSource` and the errors of `open_database`.
    """
    with _driver():
        from pgs.storage.postgres.copying import from_server
    if not config.key_file.is_file():
        raise BadSource(f"there is no key ring at {config.key_file}")
    return from_server(url, folder, config.key_file)


def nodes_of(config: Config) -> Nodes:
    """Return the nodes of the installation. Raises `BadSettings` and `StoreOutage`."""
    url = _url_of_nodes(config)
    with _driver():
        from pgs.storage.postgres.nodes import nodes_of as read
    return read(url)


def mark_node(config: Config, name: str, *, draining: bool) -> Nodes:
    """Record that a node must give its shards up, or may take shards again; return all nodes.

    Raises `NoSuchNode`, `BadSettings` and `StoreOutage`.
    """
    url = _url_of_nodes(config)
    with _driver():
        from pgs.storage.postgres.nodes import mark
    return mark(url, name, draining=draining)


def remove_node(config: Config, name: str) -> Nodes:
    """Forget a node that does not run; return the other nodes.

    Raises `NoSuchNode`, `NodeRuns`, `BadSettings` and `StoreOutage`.
    """
    url = _url_of_nodes(config)
    with _driver():
        from pgs.storage.postgres.nodes import remove
    return remove(url, name)


def _url_of_nodes(config: Config) -> str:
    if not config.database_url:
        raise BadSettings(
            "there is no PGS_DATABASE_URL: without PostgreSQL, an installation is one process"
        )
    return config.database_url


class KeptShards(Protocol):
    """The part of `pgs.storage.postgres.shard_keeper.Keeper` that the rest of a node uses."""

    @property
    def me(self) -> Node:
        """This node."""

    tally: Tally
    """What this node has done since its start."""

    def beat_age(self, now: float) -> float:
        """Return the seconds since this node sent its last committed beat.

        A beat is a small commit: it shows the other nodes that this node works. While this node has
        no session with the database, the result is infinity.
        """

    @property
    def owned(self) -> frozenset[int]:
        """The shards for which this node answers now."""

    def answering(self) -> dict[int, float]:
        """Return for how many seconds this node has answered for each of its shards."""

    def owner_of(self, shard: int, /) -> Node | None:
        """Return who answers for a shard now: this node, another one, or None."""

    @property
    def running(self) -> tuple[Node, ...] | None:
        """The other nodes that had a session at the last look.

        None if this node has no session, or could not look.
        """

    def hurry(self) -> None:
        """Look at the other nodes now, not only at the next interval."""

    async def run(self) -> None:
        """Take and keep shards until cancelled."""

    async def stop(self) -> None:
        """Hand over every shard."""


class Ownership:
    """Whether this node owns a shard. Without a keeper it owns none."""

    keeper: KeptShards | None = None

    def owns(self, shard: int) -> bool:
        """Return whether this node answers for a shard now."""
        keeper = self.keeper
        return keeper is not None and keeper.owner_of(shard) is keeper.me


class Holder(Protocol):
    """What a node holds in memory for its shards, as `Keeper` uses it."""

    async def prepare(self, shards: Collection[int]) -> None:
        """Read what the node must know before it answers for shards. Raises `StoreOutage`."""

    def taken(self, shards: Collection[int]) -> None:
        """Begin to work for shards."""

    async def release(self, shard: int) -> None:
        """Return once the last write for the shard has ended."""

    def drop(self) -> None:
        """Forget immediately everything that is held for shards."""


def make_keeper(config: Config, database: Database, holder: Holder) -> KeptShards:
    """Return the keeper of this node's shards, which works on the database writer's session.

    Raises ValueError if the database was not opened for a node.
    """
    with _driver():
        from pgs.storage.postgres.database import PostgresDatabase
        from pgs.storage.postgres.shard_keeper import Keeper
    if not isinstance(database, PostgresDatabase) or database.nodes is None:
        raise ValueError("the database was not opened for one of several nodes")
    line = database.nodes
    keeper = Keeper(
        Node(config.node_name, config.node_address),
        line,
        database.watch,
        release=holder.release,
        drop=holder.drop,
        prepare=holder.prepare,
        taken=holder.taken,
        elsewhere=database.is_primary_elsewhere,
    )
    line.on_lost = keeper.lose
    if database.notices is not None:
        database.notices.on_shards = keeper.hurry
    return keeper


@contextmanager
def _driver() -> Iterator[None]:
    """Turn an ImportError of the block into `BadSettings`, which says how to install the driver."""
    try:
        yield
    except ImportError as error:
        raise BadSettings(
            "PostgreSQL needs the extra `postgres`: "
            f"pip install --require-hashes --requirement requirements-postgres.txt ({error})"
        ) from None


def _open_postgres(config: Config, inline: bool, on_locked: OnLocked) -> Database:
    with _driver():
        from pgs.storage.postgres.database import PostgresDatabase
    return PostgresDatabase(
        config.database_url,
        config.data_dir,
        inline=inline,
        key_file=config.key_file,
        on_locked=on_locked,
        node=config.node_name,
    )
