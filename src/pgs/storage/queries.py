"""Every SQL statement that both engines share, by its name, `<noun>.<query>`.

`<noun>` names a file under `queries/`, and `<query>` a block in that file.
"""

import re
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import aiosql
import msgspec
from aiosql.types import SQLOperationType

from pgs.storage.columns import ROWS, expand

FOLDER = Path(__file__).parent / "queries"

_WRITES = re.compile(r"\s*(insert|update|delete)\b", re.ASCII)

_FIELDS = frozenset(row.__struct_fields__ for row in ROWS)

_NAMED = re.compile(r"(?<![:\w]):([a-z_]\w*)", re.ASCII)


class Positional(msgspec.Struct, frozen=True):
    """A statement with positional parameters, which SQLite binds faster than named ones.

    `values` takes parameters by name and returns their values in order; it raises `KeyError` if one
    is missing. If the parameters are the fields of a struct of `ROWS`, `values` takes the struct.
    `one_row`: the query is for at most one row. `writes`: it changes rows.
    """

    text: str
    values: Callable[[Any], tuple[Any, ...]]
    one_row: bool
    writes: bool


def load(folder: Path = FOLDER) -> dict[str, Callable[..., Any]]:
    """Return the queries of a folder by name; each takes a connection and named parameters."""
    # One file at a time: when aiosql 15 loads a whole folder, it keeps only one of two queries
    # that have the same name in different files.
    named: dict[str, Callable[..., Any]] = {}
    for path in sorted(folder.glob("*.sql")):
        queries = aiosql.from_str(
            expand(path.read_text(encoding="utf-8")), "apsw", mandatory_parameters=False
        )
        for name in queries.available_queries:
            if not name.endswith("_cursor"):
                named[f"{path.stem}.{name}"] = getattr(queries, name)
    return named


def positional(query: Callable[..., Any]) -> Positional:
    """Return the statement of a query that `load` has returned."""
    sql: str = query.sql  # type: ignore[attr-defined]  # aiosql sets it
    names = _NAMED.findall(sql)
    return Positional(
        _NAMED.sub("?", sql),
        _getter(names),
        query.operation is SQLOperationType.SELECT_ONE,  # type: ignore[attr-defined]  # as above
        _WRITES.match(sql) is not None,
    )


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if tuple(names) in _FIELDS:
        return msgspec.structs.astuple  # reading a seat's fields by name takes eight times as long
    if len(names) > 1:
        return itemgetter(*names)  # the fastest, but it returns no tuple for a single name
    return lambda params: tuple(params[name] for name in names)


QUERIES = load()

STATEMENTS = {name: positional(query) for name, query in QUERIES.items()}
