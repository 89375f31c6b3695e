"""The schema and its history: numbered SQL files, each of which is applied once, in order."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pgs.storage.sqlite_driver import Connection, is_complete

FOLDER = Path(__file__).parent / "sqlite"
POSTGRES = Path(__file__).parent / "postgres"


class SchemaNewer(Exception):
    """The database has migrations that this version does not know: a newer version wrote it."""


def migrate(connection: Connection, folder: Path = FOLDER) -> list[str]:
    """Apply the migrations that are missing, and return their names in order.

    Each runs in its own transaction, together with the row that records it. Raises `SchemaNewer`,
    and whatever a migration raises.
    """
    connection.execute("create table if not exists migration (name text primary key)")
    applied = []
    for path in missing(folder, migrations_of(connection)):
        connection.execute("begin immediate")
        try:
            for statement in statements(path.read_text(encoding="utf-8")):
                connection.execute(statement)
            connection.execute("insert into migration (name) values (?)", (path.stem,))
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        applied.append(path.stem)
    return applied


def missing(folder: Path, done: Iterable[str]) -> list[Path]:
    """Return the migrations of a folder that are not done yet. Raises `SchemaNewer`."""
    paths = {path.stem: path for path in sorted(folder.glob("*.sql"))}
    known = set(done)
    if unknown := known - paths.keys():
        raise SchemaNewer(", ".join(sorted(unknown)))
    return [path for name, path in paths.items() if name not in known]


def migrations_of(connection: Connection) -> list[str]:
    """Return the names of the migrations applied, in order. Raises what SQLite raises."""
    return [name for (name,) in connection.execute("select name from migration order by name")]


def statements(script: str) -> Iterator[str]:
    """Yield the statements of a script; each must end at the end of a line.

    A semicolon in a text or a comment does not end a statement.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if is_complete(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement
