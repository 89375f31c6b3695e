"""The page of errors, and `/docs/errors.json`: what each reason means and what to do about it."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

from pgs.domain.errors import ERRORS, ErrorKind
from pgs.http.endpoint_table import ENDPOINTS
from pgs.http.reference.openapi import name_of
from pgs.http.reference.reasons import reasons_of

EVERYWHERE_FROM: Final = 12
"""Calls that share a reason. From this number on, the page of errors does not list them under the
reason, because so long a list is of no help."""

OF_THE_FRAME: Final = {
    "session_expired": "Mint a session and send its token to the frame.",
    "session_invalid": "Mint a session and send its token to the frame.",
    "session_ended": "Mint a session and send its token, once the account is on.",
    "session_replaced": "Nothing: the same player has opened a newer frame.",
    "session_mismatch": "Load the session's own `embedUrl`.",
    "session_unavailable": "Look at your backend: the page's `session` function gave no session.",
    "frame_not_loaded": "Register the origin of your page for that environment.",
    "connection_lost": "Nothing: the frame connects again by itself.",
    "service_unavailable": "Nothing: the frame tries again by itself.",
}
"""Reasons that only the frame reports to its page, with what to do."""

OF_A_MOVE: Final = {
    "match_over": "The match has ended. Show the result.",
    "stale_ply": "The board has changed since. Take the newest message, then move again.",
    "not_your_turn": "Wait for the opponent's move.",
    "illegal_move": "Send one of `legalMoves`.",
    "bad_message": "Send a JSON object with a known `type` and all of its fields.",
}
"""Reasons that only messages on the game socket have, with what to do."""


@cache
def advice() -> dict[str, str]:
    """Return what to do about each reason of the catalogue."""
    text = files("pgs.http").joinpath("published", "advice.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def errors_page() -> str:
    """Return the page of errors as Markdown."""
    parts = [
        "# Errors",
        "This page is for developers who handle errors. An error with a `reason` says in `docUrl` "
        "which section of this page explains it. Programs branch on `reason` alone; the sentence "
        "in `error` may change. [The same as JSON](/docs/errors.json).",
        "An error without a `reason` is a malformed call: its sentence names the field, the "
        "parameter or the place in the body. Repeating the call unchanged does not help. A `500` "
        "without a `reason` is a fault of the service: try again with growing pauses.",
    ]
    parts += [_section(kind) for kind in ERRORS.values()]
    for title, reasons in (
        ("Reported by the frame", OF_THE_FRAME),
        ("On the game socket", OF_A_MOVE),
    ):
        rows = [f"| `{reason}` | {told} |" for reason, told in reasons.items()]
        parts.append(f"## {title}")
        parts.append("\n".join(["| `reason` | What to do |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def _section(kind: ErrorKind) -> str:
    statuses = str(kind.status) + (f" or {kind.elsewhere}" if kind.elsewhere else "")
    lines = [f"## {kind.reason}", f"**{statuses}** · {kind.message}", advice()[kind.reason]]
    if kind.reason != "stake_declined" and kind.extras:
        lines.append("Further fields: " + ", ".join(f"`{name}`" for name in kind.extras) + ".")
    elif kind.extras:
        lines.append("Further fields: those of the seat.")
    calls = [name_of(row) for row in ENDPOINTS if kind.reason in reasons_of(row)]
    if 0 < len(calls) < EVERYWHERE_FROM:
        lines.append("Calls: " + ", ".join(f"`{name}`" for name in calls) + ".")
    return "\n\n".join(lines)


def errors_json(base_url: str) -> dict[str, object]:
    """Return every reason with its status, its fields and what to do."""
    rows = [{**published(kind), "docUrl": f"{base_url}/docs/errors#{kind.reason}"} for kind in _ALL]
    more = {
        name: [{"reason": reason, "advice": told} for reason, told in reasons.items()]
        for name, reasons in (("frame", OF_THE_FRAME), ("socket", OF_A_MOVE))
    }
    return {"errors": rows, **more}


_ALL: Final = tuple(ERRORS.values())


def published(kind: ErrorKind) -> dict[str, object]:
    """Return a row of the error catalogue as it is published.

    `alternateStatus` is the status that some calls use instead of `status`.
    """
    row: dict[str, object] = {
        "reason": kind.reason,
        "status": kind.status,
        "message": kind.message,
        "advice": advice()[kind.reason],
        "fields": [name for name in kind.extras if name not in kind.optional],
    }
    if kind.optional:
        row["optionalFields"] = kind.optional
    if kind.elsewhere is not None:
        row["alternateStatus"] = kind.elsewhere
    return row
