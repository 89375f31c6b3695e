"""Every event that the code counts is declared, so that its counter exists from the start."""

import ast
import re
from collections.abc import Iterator
from functools import cache

from pgs.domain.errors import ERRORS
from pgs.event_names import EVENTS
from pgs.http.identity.tokens import ADVICE
from tests.conventions.tree import SOURCE, files, module_of

_CALLS = {"on_event", "_on_event", "report", "_fail"}
"""Functions and methods that count the event that they are given."""

_KEYWORDS = {"event", "failed"}
"""Arguments that hold an event's name."""

# Names that are put together: those of refusals, and of limits.
_MADE = {f"refused_{reason}" for reason in (*ERRORS, "bad_request")} | {
    *(f"identity_refused_{fault}" for fault in ADVICE),
    "rate_limited_by_partner",
    "rate_limited_by_process",
}
# Names that stand in a table, or are a default.
_LOOKED_UP = {"head_timeout", "read_timeout", "chore_failed"}


def _names(tree: ast.AST) -> Iterator[str]:
    """Yield each whole name of an event in a module."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        function = call.func
        called = (
            function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        )
        given = [word.value for word in call.keywords if word.arg in _KEYWORDS]
        if called in _CALLS:
            given += call.args
        yield from (name for argument in given for name in _texts(argument))


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if re.fullmatch("[a-z_]+", node.value):
            yield node.value
        return
    for child in ast.iter_child_nodes(node):
        yield from _texts(child)


@cache
def _counted() -> set[str]:
    return {name for path in files(SOURCE, ".py") for name in _names(module_of(path))}


def test_every_event_that_the_code_counts_is_declared() -> None:
    missing = sorted(_counted() - EVENTS)
    assert missing == [], "add these names to their group in src/pgs/event_names.py"


def test_every_declared_event_is_counted_somewhere() -> None:
    unused = sorted(EVENTS - _counted() - _MADE - _LOOKED_UP)
    assert unused == [], (
        "remove these names from src/pgs/event_names.py, or list how they are made here"
    )


def test_names_are_found_in_conditions_and_keywords_and_not_in_parts_of_names() -> None:
    code = """
parts.on_event("one" if done else "two")
self._fail(CODE, "three")
Chore(name="four", failed="five")
parts.on_event(f"six_{reason}")
"""
    assert set(_names(ast.parse(code))) == {"one", "two", "three", "five"}
