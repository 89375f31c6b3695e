"""From a request's body to a typed value, or to a plain 400 that names the field and repeats nothing that the client sent.

Leniencies of msgspec 0.22 that are closed here: `\\u0000` passes, of a repeated name the last value counts, integers have no bound,
nesting deep enough raises RecursionError and broken UTF-8 UnicodeDecodeError, neither of which is its own error class. It refuses by
itself: NaN, infinities, lone surrogates, a byte order mark, UTF-16, and `100.0`, `1e2` or `true` for an integer.
"""

import json
import re
from collections.abc import Mapping
from math import isinf
from typing import Annotated, Final, TypeVar

import msgspec

from pgs.domain.errors import BadRequest

T = TypeVar("T")

MAX_DIGITS: Final = 1000
"""Digits of an integer that is read: far more than any field takes, and fewer than `int` and
msgspec refuse."""

MAX_SAFE_INTEGER: Final = 2**53
"""Units of the largest integer in a body. Up to here every JSON reader holds every integer exactly
(RFC 8259, section 6)."""

SafeInt = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
"""An integer field of a request: what JSON carries exactly, and what a bigint column holds."""

Cents = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
"""An amount in whole US cents; its sign and its limits are the rules' affair."""

_NOT_JSON: Final = BadRequest("The body is not valid JSON in UTF-8.")
_NOT_AN_OBJECT: Final = BadRequest("The body must be a JSON object.")
_TOO_DEEP: Final = BadRequest("The body is nested too deeply.")
_BAD_TEXT: Final = BadRequest(
    "The body holds text with a character that is not allowed: NUL, or half of a surrogate pair."
)

_EXPECTED = re.compile(
    r"Expected `([a-z0-9_ |]+)`(?: (of length )?([<>]=?) (\S+))?(?:, got `[^`]*`)?"
)
_AT = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`\Z")
_MISSING = re.compile(r"Object missing required field `([^`]+)`")
_UNFIT_TEXT = re.compile("[\x00\ud800-\udfff]")
_NUMBER: Final = BadRequest("A number in the body is too large.")
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9]{0,31}", re.ASCII)
_HUGE: Final = object()
_NOUNS: Final = {
    "int": "an integer",
    "str": "a string",
    "bool": "true or false",
    "float": "a number",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def decode_object(raw: bytes) -> dict[str, object] | BadRequest:
    """Return the JSON object that `raw` holds, or why it is none that can be read in one way alone. The Content-Type does not matter."""
    try:
        decoded = msgspec.json.decode(raw)
    except RecursionError:
        return _TOO_DEEP
    except (
        msgspec.ValidationError
    ):  # without a type to fit, the one thing that it finds is a number out of all range
        return _second_look(raw) or _NUMBER
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _NOT_JSON
    if not isinstance(decoded, dict):
        return _NOT_AN_OBJECT
    # Every name has a colon behind it. As many colons as names mean that none was lost: counting them costs 0.1 µs, where reading the
    # names of a seat's body costs 2. Only a body with a colon in a text, with objects in it, or with a repeated name is looked at again.
    if raw.count(b":") != len(decoded) and (fault := _second_look(raw)) is not None:
        return fault
    # Neither NUL nor a surrogate can be there unescaped: JSON bars the one, UTF-8 the other.
    if b"\\u" in raw and not _clean(decoded):
        return _BAD_TEXT
    return decoded


def convert(obj: object, kind: type[T]) -> T | BadRequest:
    """Return `obj`, a decoded JSON value, as a `kind`, or a message that names the first field which is missing or does not fit."""
    try:
        return msgspec.convert(obj, kind, strict=True)
    except msgspec.ValidationError as error:
        return BadRequest(_sentence(str(error)))
    except RecursionError:
        return _TOO_DEEP


def unify_spellings(body: dict[str, object], spellings: Mapping[str, str]) -> BadRequest | None:
    """Put values given under another accepted spelling of a field under the field's own name.

    Returns why not where two spellings of one field are given and their values differ.
    """
    for other, name in spellings.items():
        if other not in body:
            continue
        value = body.pop(other)
        if name not in body:
            body[name] = value
        elif (type(body[name]), body[name]) != (type(value), value):
            return BadRequest(
                f"Fields `{name}` and `{other}` are two spellings of one field and must agree."
            )
    return None


class _Found(Exception):
    """What the second look was for: a sentence."""


def _second_look(raw: bytes) -> BadRequest | None:
    """The fault of a body in which a name is repeated, or a number is greater than can be read; None where there is neither."""
    try:
        _LOOK.decode(raw.decode())
    except _Found as found:
        return BadRequest(str(found))
    except RecursionError:
        return _TOO_DEEP
    except ValueError:
        return _NOT_JSON
    return None


def _look(pairs: list[tuple[str, object]]) -> None:
    seen = set()
    for name, value in pairs:
        if value is _HUGE:
            raise _Found(f"{_field(name)} is too large a number.")
        if name in seen:
            raise _Found(f"{_field(name)} is given more than once.")
        seen.add(name)


def _field(name: str) -> str:
    """What to call a field that the client named: only what could be a name of ours is repeated."""
    return f"Field `{name}`" if _NAME.fullmatch(name) else "A field of the body"


def _clean(decoded: object) -> bool:
    """Whether no text in `decoded`, keys included, holds NUL or a surrogate. Keeps its own stack: nesting may be near the limit."""
    pending = [decoded]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if _UNFIT_TEXT.search(item):
                return False
        elif isinstance(item, dict):
            pending.extend(item)
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
    return True


def _sentence(problem: str) -> str:
    """msgspec's message in the words of this interface. Its own may quote the client's text: only names and bounds are passed on."""
    at = _AT.search(problem)
    place = at.group(1) if at else ""
    missing = _MISSING.match(problem)
    if missing:
        name = f"{place}.{missing.group(1)}" if place else missing.group(1)
        return f"Field `{name}` is required."
    subject = f"Field `{place}`" if place else "The body"
    expected = _EXPECTED.match(problem)
    if not expected:
        return f"{subject} does not have an allowed value."
    kinds, length, sign, bound = expected.groups()
    noun = " or ".join(_NOUNS.get(kind, "another type") for kind in kinds.split(" | "))
    if sign is None:
        return f"{subject} must be {noun}."
    limit = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}[sign]
    return f"{subject} must be {noun} of {limit} {bound}{' characters' if length else ''}."


_LOOK = json.JSONDecoder(
    object_pairs_hook=_look,
    parse_float=lambda text: _HUGE if isinf(float(text)) else None,
    parse_int=lambda text: _HUGE if len(text) > MAX_DIGITS else None,
)
"""Reads a body for its names and its sizes alone: objects become nothing, so that a look keeps nothing."""
