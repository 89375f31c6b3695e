"""The page with every call, made from the same table as `/openapi.json`."""

import json
from collections.abc import Sequence
from typing import Final

import msgspec

from pgs.http.api.endpoint import Credential, Endpoint
from pgs.http.endpoint_table import ENDPOINTS
from pgs.http.guide.fields import field_rows, parameter_rows
from pgs.http.reference.openapi import name_of, read_examples
from pgs.http.reference.reasons import OF_EVERY_CALL, reasons_of

_SURFACES: Final[tuple[tuple[Credential, str, str], ...]] = (
    ("partner_key", "Calls with an API key", "Your backend makes these calls."),
    ("session", "Calls with a session token", "The frame makes these calls for a player."),
    ("identity", "Calls of the admin API", "Signed-in members of the account make these calls."),
)


def reference_page() -> str:
    """Return the page as Markdown."""
    examples = read_examples()
    parts = [
        "# Every call",
        "This page is for developers who look a call up. Tools read the same from "
        "[/openapi.json](/openapi.json).",
    ]
    for credential, title, text in _SURFACES:
        common = ", ".join(
            f"[`{reason}`](errors.md#{reason})" for reason in OF_EVERY_CALL[credential]
        )
        parts += [f"## {title}", f"{text} Any of them can answer {common}."]
        for row in ENDPOINTS:
            if row.credential == credential:
                parts += _call(row, examples.get(name_of(row)))
    return "\n\n".join(parts) + "\n"


def _call(endpoint: Endpoint, example: msgspec.Struct | None) -> list[str]:
    parts = [f"### {name_of(endpoint)}", f"{endpoint.summary}."]
    parts += [*parameter_rows(endpoint), *field_rows(endpoint)]
    shown = msgspec.to_builtins(example) if example is not None else {}
    for title, value in (("Body", shown.get("body")), ("Answer", shown.get("answer"))):
        if isinstance(value, str):  # the example of a stream is text
            parts.append(f"{title}, for example:\n\n```text\n{value.strip()}\n```")
        elif value is not None:
            text = json.dumps(value, indent=2, ensure_ascii=False)
            parts.append(f"{title}, for example:\n\n```json\n{text}\n```")
    own = [reason for reason in reasons_of(endpoint) if reason not in _common(endpoint)]
    if own:
        parts.append(f"Refusals of its own: {_linked(own)}.")
    return parts


def _linked(reasons: Sequence[str]) -> str:
    return ", ".join(f"[`{reason}`](errors.md#{reason})" for reason in reasons)


def _common(endpoint: Endpoint) -> tuple[str, ...]:
    return OF_EVERY_CALL[endpoint.credential]
