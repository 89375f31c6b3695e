"""From a request's body to a typed value, or to a plain 400 that names the field and repeats nothing that the client sent.

Leniencies of msgspec 0.22 that are closed here: `\\u0000` passes, integers have no bound, nesting deep enough raises RecursionError and
broken UTF-8 UnicodeDecodeError, neither of which is its own error class. It refuses by itself: NaN, infinities, lone surrogates, a byte
order mark, UTF-16, and `100.0`, `1e2` or `true` for an integer.
"""

import re
from typing import Annotated, Final, TypeVar

import msgspec

from pgs.domain.errors import BadRequest

T = TypeVar("T")

MAX_SAFE_INTEGER: Final = 2**53
"""Up to here every JSON reader holds every integer exactly (RFC 8259, section 6)."""

SafeInt = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
"""An integer field of a request: what JSON carries exactly, and what a bigint column holds."""

Cents = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
"""An amount in whole US cents; its sign and its limits are the rules' affair."""

_NOT_JSON: Final = BadRequest("The body is not valid JSON in UTF-8.")
_NOT_AN_OBJECT: Final = BadRequest("The body must be a JSON object.")
_TOO_DEEP: Final = BadRequest("The body is nested too deeply.")
_BAD_TEXT: Final = BadRequest("The body holds text with a character that is not allowed: NUL, or half of a surrogate pair.")

_EXPECTED = re.compile(r"Expected `([a-z0-9_ |]+)`(?: (of length )?([<>]=?) (\S+))?(?:, got `[^`]*`)?")
_AT = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`\Z")
_MISSING = re.compile(r"Object missing required field `([^`]+)`")
_UNFIT_TEXT = re.compile("[\x00\ud800-\udfff]")
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
    """Return the JSON object that `raw` holds, or why it is none. The Content-Type does not matter; of a repeated key the last counts."""
    try:
        decoded = msgspec.json.decode(raw)
    except RecursionError:
        return _TOO_DEEP
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _NOT_JSON
    if not isinstance(decoded, dict):
        return _NOT_AN_OBJECT
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
