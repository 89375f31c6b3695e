"""The reference, the table of errors and the code agree, in both directions."""

import ast
import json
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from pgs.domain.errors import ERRORS
from pgs.domain.invoices import INVOICE_STATUSES
from pgs.domain.live_pairing import HeldBack
from pgs.domain.matches import MatchDecision, MatchStatus
from pgs.domain.seats import EndReason, Result, SeatStatus, StakeStatus
from pgs.domain.themes import RADIUS_MAX
from pgs.http.api.endpoint import Endpoint
from pgs.http.api.responses import status_of
from pgs.http.endpoint_table import ENDPOINTS, WEBSOCKETS
from pgs.http.guide.errors import published
from pgs.http.partner.seats import SeatRecord
from pgs.http.reference.answers import MASKS, without_secrets
from pgs.http.reference.openapi import make_openapi, name_of, operation_id, read_examples
from pgs.http.reference.parameters import PATH, QUERY
from pgs.http.reference.reasons import reasons_of
from tests.conventions.tree import SOURCE
from tests.docs.example_calls import make_examples
from tests.journeys.leaks import shaped_like_secrets

EXAMPLES = read_examples()
DOCUMENT = make_openapi(ENDPOINTS, EXAMPLES, "https://games.example")
TEXT = json.dumps(DOCUMENT)

ON_SOCKETS: set[str] = set()
"""Reasons that only the messages of a socket carry."""

OF_LATER_CALLS = {
    "live_theme_not_writable",
    "logo_malformed",
    "logo_not_that_image",
    "logo_too_large",
    "logo_unsupported_type",
    "theme_field_invalid",
}
"""Reasons of calls that this build may not serve."""


def _operations() -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }


def _told(operation: dict[str, Any]) -> dict[str, int]:
    """Return the reasons that the document gives for a call, with their statuses."""
    return {
        reason: int(status)
        for status, answer in operation["responses"].items()
        for reason in answer.get("x-reasons", ())
    }


def test_the_document_has_every_call_and_no_other() -> None:
    sockets = {f"GET {path}" for path in WEBSOCKETS}
    assert set(_operations()) == {name_of(endpoint) for endpoint in ENDPOINTS} | sockets
    assert DOCUMENT["openapi"] == "3.1.0"


def test_every_call_has_a_name_of_its_own() -> None:
    names = [operation["operationId"] for operation in _operations().values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=name_of)
def test_the_document_gives_each_call_the_reasons_of_the_code_with_their_status(
    endpoint: Endpoint,
) -> None:
    operation = _operations()[name_of(endpoint)]
    assert _told(operation) == {
        reason: status_of(endpoint, reason) for reason in reasons_of(endpoint)
    }
    for reason in endpoint.errors:
        assert reason in ERRORS
    for status, answer in operation["responses"].items():
        shown = answer.get("content", {}).get("application/json", {}).get("examples", {})
        coded = {name for name in shown if not name.startswith("plain_")}
        assert coded == set(answer.get("x-reasons", ())), status


def test_every_reason_of_the_table_is_a_reason_of_a_call() -> None:
    told = {reason for operation in _operations().values() for reason in _told(operation)}
    assert told <= set(ERRORS)
    assert set(ERRORS) - told - ON_SOCKETS <= OF_LATER_CALLS


def test_every_parameter_is_described() -> None:
    named = {
        word[1:-1]
        for endpoint in ENDPOINTS
        for word in endpoint.path.split("/")
        if word.startswith("{")
    }
    assert named <= set(PATH)
    assert {name for endpoint in ENDPOINTS for name in endpoint.query} <= set(QUERY)


@pytest.mark.parametrize(
    ("call", "required"),
    [
        ("GET /partner/readiness", {"gameId"}),
        ("GET /partner/admin/readiness", {"environment"}),
        ("GET /partner/admin/matches", {"environment"}),
        ("GET /partner/results", set()),
    ],
)
def test_a_parameter_is_required_if_the_call_is_refused_without_it(
    call: str, required: set[str]
) -> None:
    given = _operations()[call]["parameters"]
    assert {one["name"] for one in given if one["in"] == "query" and one["required"]} == required


def test_every_reference_and_every_link_has_a_target() -> None:
    for ref in re.findall(r'"#/([^"]+)"', TEXT):
        place: Any = DOCUMENT
        for word in ref.split("/"):
            place = place[word]
    names = {operation["operationId"] for operation in _operations().values()}
    links = [
        link["operationId"]
        for operation in _operations().values()
        for answer in operation["responses"].values()
        for link in answer.get("links", {}).values()
    ]
    assert set(links) <= names
    assert operation_id(ENDPOINTS[0]) in names
    assert {
        "postPartnerMatches",
        "postPartnerTestMatchesMatchIdDecide",
        "getPartnerResults",
    } <= set(links)


def test_examples_name_no_secret_and_no_game_that_only_some_services_run() -> None:
    assert "chess" not in TEXT
    assert "127.0.0.1" not in TEXT
    assert not shaped_like_secrets(TEXT.encode())


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_example_fits_the_schemas_of_its_call(name: str) -> None:
    (endpoint,) = (endpoint for endpoint in ENDPOINTS if name_of(endpoint) == name)
    example = EXAMPLES[name]
    answers: list[object] = [*_events(example.answer)]
    for answer in answers or [example.answer]:
        msgspec.json.decode(msgspec.json.encode(answer), type=endpoint.response)
    if example.body is not None:
        assert endpoint.request is not None
        msgspec.json.decode(msgspec.json.encode(example.body), type=endpoint.request)
    assert set(example.query) <= endpoint.query


@pytest.mark.slow
async def test_every_call_has_an_example_that_the_service_answers_alike(tmp_path: Path) -> None:
    made = await make_examples(tmp_path)
    assert {name_of(endpoint) for endpoint in ENDPOINTS} == set(made)
    assert set(EXAMPLES) == set(made), "run scripts/write_examples.py"
    changed = [
        name
        for name, example in made.items()
        if _shape(example.answer) != _shape(EXAMPLES[name].answer)
        or _shape(example.body) != _shape(EXAMPLES[name].body)
    ]
    assert changed == [], "run scripts/write_examples.py"


def _events(answer: object) -> list[dict[str, object]]:
    """Return the `data` of each event of a stream; of another answer, nothing."""
    lines = answer.splitlines() if isinstance(answer, str) else []
    return [json.loads(line[len("data: ") :]) for line in lines if line.startswith("data: ")]


def _shape(value: object) -> object:
    """Return the names of a JSON object with the kind of each value, without secrets.

    What stands in its lists depends on what has happened by then.
    """
    if isinstance(value, str):
        return re.findall("^event: .*", value, re.MULTILINE), [_shape(e) for e in _events(value)]
    if not isinstance(value, dict):
        return type(value)
    kinds: dict[type, str] = {dict: "object", list: "list"}
    return {
        name: kinds.get(type(inner), "value") for name, inner in value.items() if name not in MASKS
    }


def test_the_answers_of_errors_say_where_they_are_explained() -> None:
    for reason in ERRORS:
        value = DOCUMENT["components"]["examples"][reason]["value"]
        assert value["docUrl"] == f"https://games.example/docs/errors#{reason}"


def test_each_field_of_an_error_is_published_as_always_or_as_sometimes_present() -> None:
    assert published(ERRORS["day_not_final"])["optionalFields"] == ("latestDay",)
    for kind in ERRORS.values():
        row = published(kind)
        told: list[str] = [*msgspec.convert(row["fields"], list[str])]
        told += msgspec.convert(row.get("optionalFields", ()), list[str])
        assert sorted(told) == sorted(kind.extras)


def _fields(name: str) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["components"]["schemas"][name]["properties"]
    return found


@pytest.mark.parametrize(
    ("record", "field", "values"),
    [
        ("SeatRecord", "status", get_args(SeatStatus)),
        ("SeatRecord", "stakeStatus", get_args(StakeStatus)),
        ("SeatRecord", "heldBack", get_args(HeldBack)),
        ("MatchRecord", "status", get_args(MatchStatus)),
        ("MatchSeat", "result", get_args(Result)),
        ("ResultRow", "outcome", get_args(MatchStatus)),
        ("ResultRow", "result", get_args(Result)),
        ("MatchRecord", "endReason", get_args(EndReason)),
        ("ResultRow", "endReason", get_args(EndReason)),
        ("InvoiceRecord", "status", INVOICE_STATUSES),
    ],
)
def test_a_field_that_takes_only_some_values_names_them(
    record: str, field: str, values: tuple[str, ...]
) -> None:
    assert sorted(_fields(record)[field]["enum"]) == sorted(values)


def test_every_reason_for_an_end_is_one_that_the_code_ends_matches_with() -> None:
    # That the code uses no other is checked by mypy: the field has this type.
    ending = [*(SOURCE / "actors" / "play").glob("*.py"), SOURCE / "http" / "partner" / "decide.py"]
    ending += (SOURCE / "actors" / "seating").glob("*.py")
    used = {
        node.value
        for path in ending
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant)
    }
    assert set(get_args(EndReason)) - used == set()
    assert MatchDecision.__annotations__["end_reason"] is EndReason


def test_the_schemas_of_requests_have_the_limits_of_the_code() -> None:
    for record in ("TakeSeat", "MintSession"):
        schema = _fields(record)["playerId"]
        assert schema["maxLength"] == 64
        assert re.search(schema["pattern"], "p-300")
        assert not re.search(schema["pattern"], "p 300")
    key = _fields("TakeSeat")["idempotencyKey"]
    assert key["maxLength"] == 128
    assert re.search(key["pattern"], "a:1.b")
    assert not re.search(key["pattern"], "")
    radius = _fields("SentTheme")["cornerRadius"]
    assert (radius["minimum"], radius["maximum"]) == (0, RADIUS_MAX)


@pytest.mark.parametrize("record", ["SeatRecord", "MatchRecord"])
def test_the_schema_of_a_pairing_is_an_object(record: str) -> None:
    schema = _fields(record)["pairing"]
    assert schema["type"] == "object"
    assert {"rule", "waitedSeconds", "begins"} <= set(schema["properties"])


def test_the_example_of_a_declined_stake_is_a_declined_seat() -> None:
    value = DOCUMENT["components"]["examples"]["stake_declined"]["value"]
    seat = msgspec.convert(value, SeatRecord)
    assert (seat.status, seat.stake_status, seat.match_id) == ("declined", "declined", None)


def test_a_published_example_has_no_secret_at_any_depth() -> None:
    answer = {"keys": [{"apiKey": "pgs_test_real", "label": "a"}], "signingSecret": "whsec_real"}
    assert without_secrets(answer) == {
        "keys": [{"apiKey": MASKS["apiKey"], "label": "a"}],
        "signingSecret": MASKS["signingSecret"],
    }
