"""The columns of the widest tables, listed once for both the queries and the code."""

from collections.abc import Sequence
from typing import Final

from pgs.domain.invoices import Invoice
from pgs.domain.ledger import LedgerRow
from pgs.domain.matches import Match
from pgs.domain.seats import Seat
from pgs.domain.totals import Totals

NEWEST: Final = 2**53
"""Sequence number above every real one. The first page of a list, newest first, begins here."""

ROWS: Final = (Seat, Match, LedgerRow, Invoice)
"""The structs that a statement may take whole as its values: one field for each column of their
table, in the order of the columns."""

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "seat": Seat.__struct_fields__,
    "match": Match.__struct_fields__,
    "ledger": LedgerRow.__struct_fields__,
    "invoice": Invoice.__struct_fields__,
    "totals": (
        "partner_id",
        "environment",
        "day",
        "game_id",
        "tier_id",
        *Totals.__struct_fields__,
    ),
    "partner": (
        "partner_id",
        "name",
        "active",
        "switched_off_by",
        "revision",
        "burst",
        "rate",
        "pin_test",
        "pin_live",
        "generation_test",
        "generation_live",
        "admin_domain",
        "agreed_terms_version",
        "agreed_terms_at",
        "event_seq",
        "created_at",
    ),
}
"""Every column of a table. For the tables of `ROWS` they are the fields of the struct."""

CHANGES: Final[dict[str, tuple[str, ...]]] = {
    "seat": (
        "status",
        "stake_status",
        "confirmed_at",
        "expires_at",
        "due_at",
        "closing",
        "match_id",
        "side",
        "opponent_player_id",
        "result",
        "score",
        "end_reason",
        "started_at",
        "ended_at",
        "payout_usd_cents",
        "refund_usd_cents",
        "rake_usd_cents",
        "position",
        "revision",
        "updated_at",
    ),
    "match": (
        "status",
        "end_reason",
        "started_at",
        "ended_at",
        "winner_player_id",
        "pairing",
        "money",
        "due_at",
    ),
    "invoice": (
        "status",
        "number",
        "total_usd_cents",
        "line_count",
        "finalized_at",
        "due_at",
        "paid_at",
        "voided_at",
    ),
    "partner": tuple(
        name for name in COLUMNS["partner"] if name not in ("partner_id", "created_at")
    ),
}
"""The columns that an update writes. All other columns keep the values of the insert."""


CHANGES_IN_MATCH: Final = (
    "status",
    "stake_status",
    "result",
    "score",
    "end_reason",
    "ended_at",
    "payout_usd_cents",
    "refund_usd_cents",
    "rake_usd_cents",
    "position",
    "revision",
    "updated_at",
)
"""The columns of a seat that may still change once it has a match."""

IDS_AT_ONCE: Final = 100
"""Ids that one query takes, as many as a page has by default. The query always has this many
parameters, so its text is the same for any number of ids."""

SUMS: Final[dict[str, tuple[str, ...]]] = {"totals": Totals.__struct_fields__}
"""The columns that are added up, when a change is added to a row or when many rows are summed."""


def expand(sql: str) -> str:
    """Return a `.sql` file's text with its lists of columns written out.

    `{columns of seat}` becomes `partner_id, environment, ...`, `{values of seat}` becomes
    `:partner_id, :environment, ...`, and `{changes of seat}` becomes `status = :status, ...`;
    `{changes of seat in match}` has fewer columns.

    `{sums of totals}` adds the values of an insert to an existing row, `{summed totals}` adds up
    rows, and `{figures of totals}` lists what is added up. `{unequal totals}` is true if one of the
    sums is not zero: it is for a query that subtracts figures from the totals, where zero shows
    that the two are equal. `{ids}` becomes `:id_0, :id_1, ...`, see `ids_of`.
    """
    sql = sql.replace("{ids}", ", ".join(f":id_{number}" for number in range(IDS_AT_ONCE)))
    for table, columns in COLUMNS.items():
        sql = sql.replace(f"{{columns of {table}}}", ", ".join(columns))
        sql = sql.replace(f"{{values of {table}}}", ", ".join(f":{name}" for name in columns))
    for table, columns in CHANGES.items():
        changes = ", ".join(f"{name} = :{name}" for name in columns)
        sql = sql.replace(f"{{changes of {table}}}", changes)
    in_match = ", ".join(f"{name} = :{name}" for name in CHANGES_IN_MATCH)
    sql = sql.replace("{changes of seat in match}", in_match)
    for table, columns in SUMS.items():
        sums = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in columns)
        summed = ", ".join(f"cast(coalesce(sum({name}), 0) as bigint)" for name in columns)
        sql = sql.replace(f"{{sums of {table}}}", sums)
        unequal = " or ".join(f"sum({name}) <> 0" for name in columns)
        sql = sql.replace(f"{{summed {table}}}", summed)
        sql = sql.replace(f"{{figures of {table}}}", ", ".join(columns))
        sql = sql.replace(f"{{unequal {table}}}", unequal)
    return sql


def ids_of(ids: Sequence[str]) -> dict[str, str]:
    """Return the parameters of a query with `{ids}`, for at most `IDS_AT_ONCE` ids.

    The parameters that are left over are empty texts, which equal no id.
    """
    return {
        f"id_{number}": ids[number] if number < len(ids) else "" for number in range(IDS_AT_ONCE)
    }
