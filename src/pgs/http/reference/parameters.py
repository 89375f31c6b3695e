"""What each parameter of a path, a query or a header is, for the reference."""

from typing import Any, Final, get_args

from pgs.domain.days import RANGE_MAX_DAYS
from pgs.domain.matches import MatchStatus
from pgs.http.api.endpoint import Endpoint
from pgs.http.api.lists import LIMIT_DEFAULT, LIMIT_MAX
from pgs.http.partner.results import WAIT_MAX_S

_TEXT: Final[dict[str, Any]] = {"type": "string"}
_ENVIRONMENT: Final[dict[str, Any]] = {"type": "string", "enum": ["test", "live"]}
_DAY: Final[dict[str, Any]] = {"type": "string", "pattern": "^[0-9]{8}$"}

PATH: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "attempt_id": ("The id of an attempt, from the log.", _TEXT),
    "env": ("The environment.", _ENVIRONMENT),
    "game_id": ("A game's id.", _TEXT),
    "invite_id": ("An invite's id.", _TEXT),
    "invoice_id": ("An invoice's id, from the list of invoices.", _TEXT),
    "key_id": ("The id of an API key's record.", _TEXT),
    "line_id": ("The id of a line of the invoice.", _TEXT),
    "match_id": ("A match's id.", _TEXT),
    "seat_id": ("A seat's id.", _TEXT),
    "uid": ("A member's uid, percent-encoded.", _TEXT),
}
"""The names in paths, with a sentence and a schema."""

QUERY: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "cursor": ("The `nextCursor` of the answer before, exactly as received.", _TEXT),
    "environment": ("The environment.", _ENVIRONMENT),
    "from": (f"The first UTC day, `yyyymmdd`. More than {RANGE_MAX_DAYS} days are refused.", _DAY),
    "gameId": ("A game's id.", _TEXT),
    "limit": (
        "How many entries a page has at most.",
        {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
    ),
    "idempotencyKey": ("Only the match of the seat with this idempotency key.", _TEXT),
    "origin": ("The origin, if the call has no body.", _TEXT),
    "partnerRef": ("Only matches with a seat that has this `partnerRef`.", _TEXT),
    "playerId": ("Only matches of this player.", _TEXT),
    "seatId": ("Only the match of this seat.", _TEXT),
    "since": (
        "Without a cursor, begin at the first row that changed at this time or later.",
        {"type": "integer", "minimum": 0},
    ),
    "states": (
        "Whether the answer has the game's state before the first move and after each.",
        {"type": "boolean", "default": False},
    ),
    "status": (
        "Only invoices with this status.",
        {"type": "string", "enum": ["draft", "open", "paid", "void", "all"]},
    ),
    "tierId": ("Only matches at this tier.", _TEXT),
    "to": ("The last UTC day, `yyyymmdd`, itself included.", _DAY),
    "waitSeconds": (
        "For how long the call is held until there is something new.",
        {"type": "integer", "minimum": 0, "maximum": WAIT_MAX_S, "default": 0},
    ),
}
"""The query parameters, with a sentence and a schema."""

OF_ONE_CALL: Final[dict[tuple[str, str], tuple[str, dict[str, Any]]]] = {
    ("/partner/admin/matches", "gameId"): ("Only matches at this game.", _TEXT),
    ("/partner/admin/matches", "status"): (
        "Only matches with this status.",
        {"type": "string", "enum": list(get_args(MatchStatus))},
    ),
    ("/partner/admin/seats", "idempotencyKey"): ("Only the seat with this idempotency key.", _TEXT),
    ("/partner/admin/seats", "partnerRef"): ("Only seats with this `partnerRef`.", _TEXT),
    ("/partner/admin/seats", "playerId"): ("Only seats of this player.", _TEXT),
    ("/partner/admin/seats", "seatId"): ("Only the seat with this id.", _TEXT),
}
"""The query parameters that mean something else in one call, by path and parameter."""

_REQUIRED: Final = frozenset({"from", "to", "gameId", "environment"})
"""A call that takes one of these query parameters, and lists `missing_parameter` as a reason,
requires the parameter. `_OPTIONAL` and `_is_required` have the exceptions."""

_OPTIONAL: Final = frozenset({("/partner/admin/readiness", "gameId")})
"""Exceptions from `_REQUIRED`, by path and parameter. `_is_required` has another one."""

VERSION: Final[dict[str, Any]] = {
    "name": "X-Service-Api-Version",
    "in": "header",
    "description": "The version that is to answer this call. Without it, the pinned one answers.",
    "schema": {"type": "integer", "minimum": 1},
}
IF_MATCH: Final[dict[str, Any]] = {
    "name": "If-Match",
    "in": "header",
    "description": "The revision of the account that the caller has read; a stale one is refused.",
    "schema": {"type": "string", "pattern": '^("[0-9]{1,18}"|[0-9]{1,18})$'},
}


def parameters_of(endpoint: Endpoint) -> list[dict[str, Any]]:
    """Return the parameters of a call as OpenAPI objects."""
    names = [word[1:-1] for word in endpoint.path.split("/") if word.startswith("{")]
    found = [
        {
            "name": name,
            "in": "path",
            "required": True,
            **_described(PATH, name, endpoint.path),
        }
        for name in names
    ]
    found += [
        {
            "name": name,
            "in": "query",
            "required": _is_required(endpoint, name),
            **_described(QUERY, name, endpoint.path),
        }
        for name in sorted(endpoint.query)
    ]
    if endpoint.credential == "partner_key":
        found.append(VERSION)
    elif endpoint.credential == "identity" and endpoint.method != "GET":
        found.append(IF_MATCH)
    return found


def _described(
    known: dict[str, tuple[str, dict[str, Any]]], name: str, path: str
) -> dict[str, Any]:
    text, schema = OF_ONE_CALL.get((path, name)) or known.get(name, ("", _TEXT))
    return {"description": text, "schema": schema}


def _is_required(endpoint: Endpoint, name: str) -> bool:
    # A list that can be filtered by `status` requires none of `_REQUIRED` but `environment`.
    if "missing_parameter" not in endpoint.errors or "status" in endpoint.query:
        return name == "environment" and "missing_parameter" in endpoint.errors
    return name in _REQUIRED and (endpoint.path, name) not in _OPTIONAL
