"""The named statements as PostgreSQL takes them, with their parameters and rows."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from psycopg import pq
from psycopg.abc import Transformer

from pgs.storage.queries import STATEMENTS
from pgs.storage.reader import Row
from pgs.storage.transactions import Params, SqlValue

Values = list[bytes | None]

_MARK: Final = re.compile(r"\?")

# A plain insert adds one row or fails, so nothing has to count its rows.
_COUNTS_ITSELF: Final = re.compile(
    r"(--[^\n]*\n|\s)*insert into [^?]*\bvalues\b(?!.*\bon conflict\b)", re.DOTALL
)


class Statement(msgspec.Struct, frozen=True):
    """A statement to prepare: its name at the server, its text, and whether it counts its rows.

    A statement that counts its rows divides by zero, and so fails, if it does not touch the
    expected number of rows.
    """

    name: bytes
    text: bytes
    counts: bool = False


def _numbered(text: str) -> str:
    """Return a statement with its positional parameters as `$1`, `$2` and so on."""
    number = 0

    def next_number(_: re.Match[str]) -> str:
        nonlocal number
        number += 1
        return f"${number}"

    return _MARK.sub(next_number, text.rstrip().removesuffix(";"))


def _plain(number: int, name: str) -> Statement:
    return Statement(f"q{number}".encode(), _numbered(STATEMENTS[name].text).encode())


PLAIN: Final = {name: _plain(number, name) for number, name in enumerate(STATEMENTS)}
"""Each named statement, in the form that does not count its rows."""

_COUNTING: Final = (
    b"with touched as (%s returning 1) "
    b"select 1 / (case when count(*) = %d then 1 else 0 end) from touched"
)
_counting: dict[tuple[str, int], Statement] = {}


def counting(name: str, expected_rows: int) -> Statement:
    """Return the statement `name`, which fails unless it touches `expected_rows` rows.

    A group is sent together with its commit, before the writer has seen how many rows it touched.
    So the server must refuse a wrong number itself.
    """
    key = (name, expected_rows)
    if key not in _counting:
        plain = PLAIN[name]
        if expected_rows == 1 and _COUNTS_ITSELF.match(STATEMENTS[name].text):
            _counting[key] = plain
        else:
            text = _COUNTING % (plain.text, expected_rows)
            label = plain.name + b"_%d" % expected_rows
            _counting[key] = Statement(label, text, counts=True)
    return _counting[key]


def bound(name: str, params: Params | msgspec.Struct) -> Values:
    """Return the values of a statement's parameters, in their order, in PostgreSQL's text format.

    Raises `KeyError` for a missing parameter, and `ValueError` for a text that PostgreSQL cannot
    hold.
    """
    return [_spelled(value) for value in STATEMENTS[name].values(params)]


def sought(name: str, params: Params) -> Values:
    """Return the values of a query's parameters like `bound`, but accept any text.

    PostgreSQL stores no text with a NUL character, so a text with a NUL must equal no stored text.
    Therefore a NUL is replaced by a character that no id, key or reference has.
    """
    return bound(
        name,
        {
            key: value.replace("\0", "\N{REPLACEMENT CHARACTER}")
            if isinstance(value, str) and "\0" in value
            else value
            for key, value in params.items()
        },
    )


def _spelled(value: SqlValue) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, str):
        text = value.encode()
        if b"\0" in text:  # the server would read the text up to here
            raise ValueError("a text with a NUL character")
        return text
    return b"%d" % value


def rows_of(result: pq.abc.PGresult, transformer: Transformer) -> list[Row]:
    """Return the rows of a result. One transformer may convert any number of results."""
    transformer.set_pgresult(result)
    return transformer.load_rows(0, result.ntuples, tuple)


def literals(values: Sequence[SqlValue]) -> Values:
    """Return values in PostgreSQL's text format."""
    return [_spelled(value) for value in values]
