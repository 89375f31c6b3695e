"""Transactions as values, and the outcomes and errors of reads and writes."""

from enum import Enum

import msgspec

SqlValue = str | int | None
Params = dict[str, SqlValue]


class StoreOutage(Exception):
    """The database could not be opened, read or written."""


class ReadFailed(StoreOutage):
    """A read failed. `noun` is the first part of the query's name, such as `seats`.

    `of_all`: the database cannot be reached, so every read fails, not only this one.
    """

    def __init__(self, name: str, error: Exception) -> None:
        super().__init__(f"{name}: {error}")
        self.noun = name.partition(".")[0]
        self.of_all = isinstance(error, StoreOutage)


class WriteFailed(StoreOutage):
    """A transaction failed before its commit and was rolled back: it changed nothing."""


class OutcomeUnknown(StoreOutage):
    """A commit failed. Only a read of the rows shows whether the transaction is on disk."""


class WriterFull(Exception):
    """Too many transactions are waiting; this one was not accepted."""


class Stmt(msgspec.Struct, frozen=True):
    """One named statement. `expected_rows` is the number of rows it must touch, None for any.

    `params` are the values by name. A statement that inserts a whole struct of `ROWS` takes the
    struct itself.
    """

    name: str
    params: Params | msgspec.Struct
    expected_rows: int | None = None

    @property
    def named(self) -> Params:
        """The values by name, even if they were given as a struct."""
        params = self.params
        return msgspec.structs.asdict(params) if isinstance(params, msgspec.Struct) else params


class Tx(msgspec.Struct, frozen=True):
    """Statements that are committed together or not at all.

    `partner_id` is the partner whose rows they write; empty or `platform` for other rows.
    """

    partner_id: str
    stmts: tuple[Stmt, ...]


class Outcome(Enum):
    """The outcome of a transaction."""

    COMMITTED = "committed"
    CONFLICT = "conflict"  # a unique index or `expected_rows` was violated; nothing was changed
