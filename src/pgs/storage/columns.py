"""The columns of the widest tables, listed once for both the queries and the code."""

from typing import Final

from pgs.domain.matches import Match
from pgs.domain.seats import Seat

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "seat": Seat.__struct_fields__,
    "match": Match.__struct_fields__,
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
"""Every column of a table. The fields of `Seat` and `Match` have these names."""

CHANGES: Final[dict[str, tuple[str, ...]]] = {
    "seat": (
        "status",
        "stake_status",
        "confirmed_at",
        "expires_at",
        "due_at",
        "closing",
        "match_id",
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
    "partner": tuple(
        name for name in COLUMNS["partner"] if name not in ("partner_id", "created_at")
    ),
}
"""The columns that an update writes. All other columns keep the values of the insert."""


def expand(sql: str) -> str:
    """Return a `.sql` file's text with its lists of columns written out.

    `{columns of seat}` becomes `partner_id, environment, ...`, `{values of seat}` becomes
    `:partner_id, :environment, ...`, and `{changes of seat}` becomes `status = :status, ...`.
    """
    for table, columns in COLUMNS.items():
        sql = sql.replace(f"{{columns of {table}}}", ", ".join(columns))
        sql = sql.replace(f"{{values of {table}}}", ", ".join(f":{name}" for name in columns))
    for table, columns in CHANGES.items():
        changes = ", ".join(f"{name} = :{name}" for name in columns)
        sql = sql.replace(f"{{changes of {table}}}", changes)
    return sql
