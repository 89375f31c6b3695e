"""`/openapi.json`: OpenAPI 3.1, made from the endpoint table."""

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, Final

import msgspec

from pgs.domain.themes import RADIUS_MAX
from pgs.domain.versions import VERSIONS
from pgs.http.api.endpoint import Credential, Endpoint
from pgs.http.reference.answers import ERROR_SCHEMA, HEADERS, Example, answers_of, error_examples
from pgs.http.reference.parameters import parameters_of

_SURFACES: Final[dict[Credential | None, tuple[str, str]]] = {
    "partner_key": ("Partner", "Calls of a partner's backend, with an API key."),
    "identity": ("Admin", "Calls of a signed-in member of the account."),
    "session": ("Game", "Calls of a player's page, with a session token."),
}
_SCHEMES: Final = {
    "partner_key": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, `pgs_test_…` or `pgs_live_…`. It decides the environment, and "
        "belongs on a server only.",
    },
    "identity": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "An identity token of the platform's identity provider.",
    },
    "session": {
        "type": "http",
        "scheme": "bearer",
        "description": "A player's session token, from `POST /partner/sessions`.",
    },
}
_MATCH: Final = {"match_id": "$response.body#/matchId"}
_LINKS: Final[dict[str, dict[str, Any]]] = {
    "POST /partner/sessions": {
        "seat": {
            "operationId": "postPartnerMatches",
            "description": "Take a paid seat for the same player at the same game.",
            "requestBody": {
                "playerId": "$response.body#/playerId",
                "gameId": "$response.body#/gameId",
            },
        }
    },
    "POST /partner/matches": {
        "seat": {
            "operationId": "getPartnerSeatsSeatId",
            "description": "Read the seat.",
            "parameters": {"seat_id": "$response.body#/seatId"},
        },
        "decide": {
            "operationId": "postPartnerTestMatchesMatchIdDecide",
            "description": "End the match with a test key, once the seat is matched.",
            "parameters": _MATCH,
        },
    },
    "POST /partner/test/matches/{match_id}/decide": {
        "feed": {
            "operationId": "getPartnerResults",
            "description": "Read the results, and a moment later the money.",
        },
        "match": {
            "operationId": "getPartnerMatchesMatchId",
            "description": "Read the match.",
            "parameters": _MATCH,
        },
    },
    "GET /partner/results": {
        "next": {
            "operationId": "getPartnerResults",
            "description": "Read what has changed since.",
            "parameters": {"cursor": "$response.body#/nextCursor"},
        }
    },
}
_LIMITS: Final = (("SentTheme", "cornerRadius", {"minimum": 0, "maximum": RADIUS_MAX}),)
"""Limits that a rule of the domain checks: the record, its field, and the limits of that field. In
the document they replace the limits that come from the field's type."""

_SNAKE = re.compile(r"`([a-z]+(?:_[a-z0-9]+)+)`")
_EXAMPLES: Final = files("pgs.http").joinpath("reference", "examples.json")


def read_examples() -> dict[str, Example]:
    """Return the published examples by their call, such as `GET /partner/me`."""
    return msgspec.json.decode(_EXAMPLES.read_bytes(), type=dict[str, Example])


def name_of(endpoint: Endpoint) -> str:
    """Return a call's name, such as `GET /partner/me`."""
    return f"{endpoint.method} {endpoint.path}"


def operation_id(endpoint: Endpoint) -> str:
    """Return the name of the call in generated clients."""
    words = re.findall(r"[a-z0-9]+", endpoint.path)
    return endpoint.method.lower() + "".join(word.title() for word in words)


def make_openapi(
    table: Iterable[Endpoint], examples: Mapping[str, Example], base_url: str
) -> dict[str, Any]:
    """Return the document. `examples` maps each call's `name_of` to its example."""
    rows = list(table)
    schemas = schemas_of(rows)
    paths: dict[str, Any] = {}
    for row in rows:
        example = examples.get(name_of(row))
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, example)
    paths["/game/socket"] = {"get": _socket()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Partner Game Service",
            "version": str(VERSIONS.current),
            "summary": "Head-to-head games with a stake, in partners' own pages.",
            "description": f"The guide to these calls is at {base_url}/docs/.",
        },
        "servers": [{"url": base_url}],
        "tags": [{"name": name, "description": text} for name, text in _SURFACES.values()],
        "paths": paths,
        "components": {
            "schemas": schemas | {"Error": ERROR_SCHEMA},
            "headers": HEADERS,
            "examples": error_examples(base_url),
            "securitySchemes": _SCHEMES,
        },
        "externalDocs": {"url": f"{base_url}/docs/"},
    }


def _operation(endpoint: Endpoint, example: Example | None) -> dict[str, Any]:
    tag = _SURFACES[endpoint.credential][0]
    found: dict[str, Any] = {
        "operationId": operation_id(endpoint),
        "summary": endpoint.summary,
        "tags": [tag],
        "security": [{endpoint.credential: []}] if endpoint.credential else [],
        "parameters": [_with_example(item, example) for item in parameters_of(endpoint)],
        "responses": answers_of(
            endpoint, _success(endpoint, example), _LINKS.get(name_of(endpoint), {})
        ),
    }
    if endpoint.request is not None:
        found["requestBody"] = _request(endpoint, endpoint.request, example)
    return found


def _with_example(parameter: dict[str, Any], example: Example | None) -> dict[str, Any]:
    given = {} if example is None else {"path": example.path, "query": example.query}
    value = given.get(parameter["in"], {}).get(parameter["name"])
    if value is None:
        return parameter
    whole = parameter["schema"].get("type") == "integer"
    return {**parameter, "example": int(value) if whole else value}


def _request(
    endpoint: Endpoint, kind: type[msgspec.Struct], example: Example | None
) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": _ref(kind)}
    if example is not None and example.body is not None:
        content["example"] = example.body
    found: dict[str, Any] = {
        "required": not endpoint.may_lack_body,
        "content": {"application/json": content},
    }
    if endpoint.spellings:
        told = ", ".join(f"`{other}` for `{name}`" for other, name in endpoint.spellings.items())
        found["description"] = f"Other accepted spellings: {told}."
    return found


def _success(endpoint: Endpoint, example: Example | None) -> dict[str, Any]:
    is_stream = endpoint.path.endswith("/live")
    content: dict[str, Any] = {
        "schema": {"type": "string"} if is_stream else _ref(endpoint.response)
    }
    if example is not None:
        content["example"] = example.answer
    return {"text/event-stream" if is_stream else "application/json": content}


def _ref(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def schemas_of(rows: list[Endpoint]) -> dict[str, Any]:
    """Return the schemas of all bodies. Descriptions name fields as bodies do, in camel case."""
    kinds = [row.response for row in rows] + [row.request for row in rows if row.request]
    _, found = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    for schema in found.values():
        text = schema.get("description")
        if text is not None:
            schema["description"] = _SNAKE.sub(_camel, re.sub(r"\s+", " ", text))
    for kind, field, limits in _LIMITS:
        if kind in found:
            found[kind]["properties"][field] |= limits
    return found


def _camel(found: re.Match[str]) -> str:
    first, *others = found[1].split("_")
    return "`" + first + "".join(word.title() for word in others) + "`"


def _socket() -> dict[str, Any]:
    plain = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        "operationId": "openGameSocket",
        "summary": "The WebSocket on which a player plays",
        "description": "Ask for the upgrade, with the subprotocols `pgs.game.v1` and "
        "`pgs.token.<session token>`. The guide to play describes the messages.",
        "tags": ["Game"],
        "security": [{"session": []}],
        "responses": {
            "101": {"description": "The socket is open."},
            "401": {"description": "The session token is not valid.", "content": plain},
            "403": {"description": "`partner_inactive`", "content": plain},
            "426": {"description": "The call did not ask for the upgrade.", "content": plain},
            "429": {"description": "`rate_limited`", "content": plain},
            "503": {"description": "`registry_unavailable`", "content": plain},
        },
    }
