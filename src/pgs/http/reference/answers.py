"""Makes the answers of a call, by status, as OpenAPI objects."""

from typing import Any, Final

import msgspec

from pgs.domain.errors import ERRORS
from pgs.http.api.endpoint import Endpoint
from pgs.http.api.responses import INTERNAL_MESSAGE, NOTHING_HERE, doc_url, status_of
from pgs.http.reference.reasons import reasons_of

HEADERS: Final[dict[str, Any]] = {
    "X-Request-Id": {
        "description": "Identifies the call in the service's log.",
        "schema": {"type": "string", "pattern": "^req_"},
    },
    "X-Service-Api-Version": {
        "description": "The version that answered.",
        "schema": {"type": "integer"},
    },
    "RateLimit": {
        "description": (
            "The number of calls that are left (`r`), and the seconds until the whole burst is "
            "available again (`t`)."
        ),
        "schema": {"type": "string"},
    },
    "RateLimit-Policy": {
        "description": (
            "The number of calls in one burst (`q`), and the seconds until all of them are "
            "available again (`w`)."
        ),
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": "How many seconds to wait before the next try.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "Account-Revision": {
        "description": "A revision of the account that is not newer than the answer, for If-Match.",
        "schema": {"type": "integer"},
    },
    "Idempotent-Replayed": {
        "description": "`true` if an earlier call with this idempotency key took the seat.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}
"""Headers of answers, for the document's components."""

SAMPLES: Final[dict[str, object]] = {
    "floorUsdCents": 100,
    "expectedUsdCents": 150,
    "ceilingUsdCents": 180,
    "parameter": "from",
    "maxRangeDays": 92,
    "latestDay": "20260131",
    "maxBytes": 262144,
    "changeItAt": "https://games.example/portal/theme",
    "status": "matched",
}
"""Example values of the additional fields of errors. Amounts are in US cents."""

_EXTRA_SCHEMAS: Final[dict[str, Any]] = {
    name: {"type": "integer" if isinstance(value, int) else "string"}
    for name, value in SAMPLES.items()
}

ERROR_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": (
        "An error. Branch on `reason` alone; use the status for a reason that you do not know. "
        "A malformed call has no `reason`."
    ),
    "properties": {
        "error": {"type": "string", "description": "A sentence for people; it may change."},
        "reason": {"type": "string", "description": "A stable code for programs."},
        "docUrl": {"type": "string", "description": "Where the reason is explained."},
        **_EXTRA_SCHEMAS,
    },
    "required": ["error"],
}

_PLAIN: Final = {
    400: "A parameter, a field or the body is not well formed.",
    401: "This session token is not valid, or it has expired. Mint a new one.",
    404: NOTHING_HERE,
    405: "This path takes another method.",
    408: "The request body took too long to arrive.",
    413: "The request body is larger than its limit.",
    414: "The request target is too long.",
    431: "The request headers are too many or too large.",
    500: INTERNAL_MESSAGE,
}


def _declined() -> dict[str, object]:
    """Return a seat whose stake was declined: it has no match, and it never began to wait."""
    return {
        "seatId": "sea_2cYQvMkT8zLr0aWn4HbXpE",
        "matchId": None,
        "status": "declined",
        "stakeStatus": "declined",
        "environment": "test",
        "gameId": "tic-tac-toe",
        "tierId": "test-bronze",
        "playerId": "p-1",
        "stakeUsdCents": 100,
        "prizeUsdCents": 180,
        "seatedAt": 1767225600,
        "idempotencyKey": "order-1",
    }


def error_example(reason: str, base_url: str) -> dict[str, object]:
    """Return an example of the body of a refusal."""
    kind = ERRORS[reason]
    samples = _declined() if reason == "stake_declined" else SAMPLES
    extras = {name: samples[name] for name in kind.extras if name in samples}
    return {
        "error": kind.message,
        "reason": reason,
        **extras,
        "docUrl": doc_url(base_url, reason),
    }


def answers_of(
    endpoint: Endpoint, success: dict[str, Any], links: dict[str, Any]
) -> dict[str, Any]:
    """Return the answers of a call. `success` is the content of its 200."""
    found: dict[str, Any] = {
        "200": {
            "description": "Success.",
            "headers": _headers(endpoint, 200),
            "content": success,
        }
    }
    if links:
        found["200"]["links"] = links
    by_status: dict[int, list[str]] = {status: [] for status in _plain_statuses(endpoint)}
    for reason in reasons_of(endpoint):
        by_status.setdefault(status_of(endpoint, reason), []).append(reason)
    for status, reasons in sorted(by_status.items()):
        found[str(status)] = _refused(endpoint, status, reasons)
    return found


def _plain_statuses(endpoint: Endpoint) -> list[int]:
    found = [404, 414, 431]  # an empty or undecodable value in the path; a head that is too large
    found += [400, 500]
    if endpoint.request is not None:
        found += [408]
    found.append(413)  # a body has a limit even if the call does not read it
    return [*found, 401] if endpoint.credential == "session" else found


def error_examples(base_url: str) -> dict[str, Any]:
    """Return an example of every error, for the document's components."""
    found: dict[str, Any] = {
        reason: {"summary": kind.message, "value": error_example(reason, base_url)}
        for reason, kind in ERRORS.items()
    }
    for status, message in _PLAIN.items():
        found[f"plain_{status}"] = {"summary": message, "value": {"error": message}}
    return found


def _refused(endpoint: Endpoint, status: int, reasons: list[str]) -> dict[str, Any]:
    plain = status in _plain_statuses(endpoint)
    names = [*reasons, *([f"plain_{status}"] if plain else [])]
    examples = {name: {"$ref": f"#/components/examples/{name}"} for name in names}
    told = ", ".join(f"`{reason}`" for reason in reasons)
    without = "Without a reason: " + _PLAIN[status] if plain else ""
    schema: dict[str, Any] = {"$ref": "#/components/schemas/Error"}
    if "stake_declined" in reasons:
        schema = {"allOf": [schema, {"$ref": "#/components/schemas/SeatRecord"}]}
    return {
        "description": ". ".join(part for part in (told, without) if part),
        "headers": _headers(endpoint, status),
        "content": {"application/json": {"schema": schema, "examples": examples}},
        "x-reasons": reasons,
    }


def _headers(endpoint: Endpoint, status: int) -> dict[str, Any]:
    names = ["X-Request-Id"]
    if endpoint.credential != "session":
        names.append("X-Service-Api-Version")
    if endpoint.credential == "partner_key" and status != 401:
        names += ["RateLimit", "RateLimit-Policy"]
    if status == 429:
        names.append("Retry-After")
    if endpoint.credential == "identity" and endpoint.method == "GET" and status == 200:
        names.append("Account-Revision")
    if endpoint.launch and "idempotency_key_conflict" in endpoint.errors and status in (200, 402):
        names.append("Idempotent-Replayed")
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def without_secrets(value: object) -> object:
    """Return a JSON value with its secrets replaced, for an example that is published."""
    if isinstance(value, dict):
        return {
            name: MASKS[name] if name in MASKS and inner else without_secrets(inner)
            for name, inner in value.items()
        }
    return [without_secrets(inner) for inner in value] if isinstance(value, list) else value


MASKS: Final = {
    "apiKey": "pgs_test_…",
    "sessionToken": "pgs1.…",
    "signingSecret": "whsec_…",
    "secret": "…",
    "otpauthUri": "…",
    "qrSvg": "<svg …>",
    "code": "123456",
}
"""The replacement of each secret in a published example, by the name of its field."""


class Example(msgspec.Struct, frozen=True, rename="camel"):
    """A call that was made, and its answer. Secrets are replaced."""

    path: dict[str, str]
    query: dict[str, str]
    body: object
    answer: object
