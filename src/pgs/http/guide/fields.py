"""Tables of a call's parameters and of its body's fields, from the schemas of `/openapi.json`."""

import json
from typing import Any, Final

from pgs.http.api.endpoint import Endpoint
from pgs.http.reference.openapi import schemas_of
from pgs.http.reference.parameters import parameters_of

_LIMITS: Final = (
    ("default", "default {}"),
    ("minimum", "from {}"),
    ("maximum", "to {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("pattern", "`{}`"),
)
"""The limits that a value's schema may have, each with its text in a table."""

_WHOLE: Final = 2**53
"""Units, such as cents, in the greatest value of an integer field of a body that has no narrower
limits. The least value is minus this number. Tables of fields leave these two limits out, because
they are the same for every such field."""


def parameter_rows(endpoint: Endpoint) -> list[str]:
    """Return a table of the query parameters, or nothing if the call has none."""
    rows = [
        f"| `{row['name']}` | {_need(row['required'])} | {_type_and_limits(row['schema'], {})} "
        f"| {row['description']} |"
        for row in parameters_of(endpoint)
        if row["in"] == "query"
    ]
    return _table(("Parameter", "", "Value", "Meaning"), rows)


def field_rows(endpoint: Endpoint) -> list[str]:
    """Return a table of the body's fields, or nothing if the call takes none."""
    if endpoint.request is None:
        return []
    known = schemas_of([endpoint])
    schema = known[endpoint.request.__name__]
    required = schema.get("required", ())
    rows = [
        f"| `{name}` | {_need(name in required)} | {_type_and_limits(told, known)} |"
        for name, told in schema["properties"].items()
    ]
    return _table(("Field", "", "Value"), rows)


def _table(titles: tuple[str, ...], rows: list[str]) -> list[str]:
    head = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    return ["\n".join([*head, *rows])] if rows else []


def _need(required: bool) -> str:
    return "required" if required else "optional"


def _type_and_limits(schema: dict[str, Any], known: dict[str, Any]) -> str:
    """Return a value's type and limits in one line."""
    if "$ref" in schema:
        inner = known[schema["$ref"].rpartition("/")[2]]
        return "object with " + ", ".join(f"`{name}`" for name in inner.get("properties", ()))
    if "anyOf" in schema:
        return " or ".join(_type_and_limits(one, known) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    parts = [str(schema.get("type", "any value"))]
    for name, text in _LIMITS:
        value = schema.get(name)
        if value not in (None, "", _WHOLE, -_WHOLE):
            parts.append(text.format(json.dumps(value).strip('"').replace("|", "\\|")))
    return ", ".join(parts)
