"""The names of all events that the service counts.

Each counter starts at zero, so that an alert on its increase sees the first event too. A test
compares this table with the names that the code uses.
"""

from typing import Final

from pgs.domain.errors import ERRORS
from pgs.http.identity.tokens import ADVICE

_OF_CALLS: Final = {
    "overloaded",
    "read_failed",
    "handler_crashed",
    "rate_limited_by_admin",
    "rate_limited_by_partner",
    "rate_limited_by_player",
    "rate_limited_by_process",
    "refused",
    "refused_bad_request",
    "refused_plain",
    *(f"refused_{reason}" for reason in ERRORS),
}

_OF_CONNECTIONS: Final = {
    "body_refused",
    "connection_crash",
    "connection_gave_way",
    "connection_refused",
    "crash",
    "head_timeout",
    "lifespan_timeout",
    "read_timeout",
    "send_timeout",
    "socket_abuse",
    "socket_overloaded",
}

_OF_NODES: Final = {
    "forward_lost",
    "forward_not_reached",
    "forward_ownerless",
    "forward_refused",
    "forwarded",
}

_OF_ACTORS: Final = {
    "actor_broke",
    "child_crashed",
    "mailbox_full",
    "message_dropped",
    "moves_unreadable",
    "partner_degraded",
    "store_outage",
    "void_put_off",
}

_OF_CHORES: Final = {
    "chore_broke",
    "chore_failed",
    "chore_degraded",
    "clock_unwatched",
    "closing_unreadable",
    "database_unchecked",
    "days_not_finalised",
    "deadlines_unreadable",
    "failing_endpoints_unreadable",
    "invoices_not_assembled",
    "key_uses_unwritten",
    "lobbies_unreadable",
    "open_money_uncounted",
    "pruning_failed",
    "registry_refresh_failed",
    "stops_unreadable",
    "tiers_refresh_failed",
}

_OF_MONEY: Final = {
    "invoice_opened",
    "payout_declined",
    "settlement_calls_resumed",
    "settlement_calls_stopped",
    "settlement_contradicted",
    "settlement_held_back",
    "settlement_overdue",
    "settlement_unanswered",
}

_OF_NUDGES: Final = {
    "attempt_not_logged",
    "delivery_broke",
    "nudge_merged",
    "nudge_resent",
    "nudge_try_delivered",
    "nudge_try_failed",
    "webhook_disabled",
    "webhook_secret_unreadable",
}

_OF_THE_PROCESS: Final = {
    "backup_failed",
    "backup_made",
    "clock_behind",
    "clock_contradicts_rows",
    "database_file_lost",
    "database_unsound",
    "feed_rewound",
    "identity_keys_failed",
    "identity_keys_fetched",
    "log_lines_left_out",
    "readiness_probe_failed",
}

_OF_OPERATORS: Final = {
    "operator_command_crashed",
    "operator_connection_crashed",
}

_OF_SIGN_INS: Final = {f"identity_refused_{fault}" for fault in ADVICE}

EVENTS: Final = frozenset(
    _OF_SIGN_INS
    | _OF_CALLS
    | _OF_CONNECTIONS
    | _OF_NODES
    | _OF_ACTORS
    | _OF_CHORES
    | _OF_MONEY
    | _OF_NUDGES
    | _OF_OPERATORS
    | _OF_THE_PROCESS
)
"""The values of the label `event` of `pgs_events_total`. Add a new event to its group above."""
