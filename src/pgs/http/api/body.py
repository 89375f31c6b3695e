"""Reads a request's body into a typed value, or into a plain 400 that names the field at fault.

Apart from names of fields, the message repeats nothing that the client sent. msgspec 0.22 accepts
repeated names, and `\\u0000` in texts; this module refuses both. msgspec also reads integers of up
to 4,300 digits; the types of the fields bound them. Besides its own errors, msgspec raises
RecursionError for deep nesting and UnicodeDecodeError for broken UTF-8. msgspec itself refuses NaN,
infinities, lone surrogates, a byte order mark, UTF-16, and `100.0`, `1e2` or `true` for an integer.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from math import isinf
from typing import Annotated, Final, Generic, Literal, TypeVar, get_args, get_origin

import msgspec

from pgs.domain.errors import BadRequest
from pgs.domain.names import PLAYER_ID
from pgs.http.api.hints import missing_field
from pgs.http.api.not_json import not_json
from pgs.http.transport.asgi import ClientGone, Receive

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

MAX_DIGITS: Final = 1000
"""Digits that a field's integer may have in a body that is read twice. A body is read a second time
if it has a number that is too large for msgspec, or more colons than its object has names, because
then a name could be repeated. Every field takes far fewer digits."""

MAX_SAFE_INTEGER: Final = 2**53
"""Units, such as cents or seconds, that an integer field of a body may state at most. The least
value is minus this number. A JSON reader that keeps numbers as doubles, as many do (RFC 8259,
section 6), represents every integer within these bounds exactly."""

SafeInt = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
"""An integer field of a request. Its values are exact in JSON and fit into a bigint column."""

Cents = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
"""An amount in whole US cents. The rules check its sign and its limits."""

PlayerId = Annotated[
    str, msgspec.Meta(extra_json_schema={"pattern": f"^{PLAYER_ID}$", "maxLength": 64})
]
"""A player's id in a request. The schema states the rule; `player_refusal` checks it."""

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


async def read_body(receive: Receive) -> bytes:
    """Return a request's whole body. Raises `ClientGone`."""
    chunks = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunks.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(chunks)


def decode_object(raw: bytes) -> dict[str, object] | BadRequest:
    """Return the JSON object in `raw`, or why it is refused: not JSON, no object, or ambiguous.

    The Content-Type does not matter.
    """
    try:
        decoded = msgspec.json.decode(raw)
    except RecursionError:
        return _TOO_DEEP
    except msgspec.ValidationError:
        # Any type of value is accepted here, so msgspec raises this error only for a number out of
        # its range.
        return _second_look(raw) or _NUMBER
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return not_json(raw, error)
    if not isinstance(decoded, dict):
        return _NOT_AN_OBJECT
    # Every name is followed by a colon. If the body has as many colons as the object has names,
    # no name was repeated. Counting colons costs 0.1 µs, reading the names of a seat's body 2 µs.
    # If the body has more colons, it has a repeated name, an inner object or a colon in a text.
    # Then the body is read a second time.
    if raw.count(b":") != len(decoded) and (fault := _second_look(raw)) is not None:
        return fault
    # NUL can only be written as an escape, because JSON forbids a bare NUL. msgspec 0.22 itself
    # refuses half of a surrogate pair; `_clean` looks for one too, in case another version
    # does not.
    if b"\\u" in raw and not _clean(decoded):
        return _BAD_TEXT
    return decoded


def convert(obj: object, kind: type[T]) -> T | BadRequest:
    """Return `obj`, a decoded JSON value, as a `kind`.

    If a field is missing or does not fit, return a message that names the first such field.
    """
    try:
        return msgspec.convert(obj, kind, strict=True)
    except msgspec.ValidationError as error:
        return BadRequest(_sentence(str(error), kind, obj))
    except RecursionError:
        return _TOO_DEEP


class PlainReader(Generic[S]):
    """Reads plain bodies of one type in one step, without the steps that find and name faults.

    A body is plain if it fits the type, repeats no name, has only names of the type, and has no
    escapes and no colons in its texts. `decode_object` and `convert` would return the same value
    for it.
    """

    def __init__(self, kind: type[S]) -> None:
        self._decode = msgspec.json.Decoder(kind).decode
        fields = msgspec.structs.fields(kind)
        self._required = sum(field.required for field in fields)
        self._optional = [
            f'"{field.encode_name}":'.encode() for field in fields if not field.required
        ]

    def read(self, raw: bytes) -> S | None:
        """Return the value of a plain body. None: the body must be read step by step."""
        # Every name is followed by a colon, and the decoder accepts no body without the required
        # names. So a body with as many colons as required names has each of them once, and no other
        # name. An optional name that the body also has adds one colon.
        # `find` takes 0.2 µs less than `in`, which first checks whether it got a number.
        if raw.find(b"\\") >= 0:
            return None
        colons = raw.count(b":")
        if colons != self._required and colons != self._required + self._given(raw):
            return None
        try:
            return self._decode(raw)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return None

    def _given(self, raw: bytes) -> int:
        """Return how many optional names a body without escapes has.

        Without escapes no text has a quote in it, so `"name":` can only be the name of a field.
        """
        return sum(raw.find(name) >= 0 for name in self._optional)


@cache
def plain_reader(kind: type[S]) -> PlainReader[S]:
    """Return the reader of a type of request, always the same one."""
    return PlainReader(kind)


def unify_spellings(body: dict[str, object], spellings: Mapping[str, str]) -> BadRequest | None:
    """Rename the fields of `body` that are given in another accepted spelling.

    `spellings` maps each such spelling to the field's own name. Return a refusal if two spellings
    of one field are given with different values, else None.
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
    """Raised to end the second parse of a body. Its text is the fault that was found."""


def _second_look(raw: bytes) -> BadRequest | None:
    """Return the fault of a body: a repeated name, or a number too large to read; else None."""
    try:
        _LOOK.decode(raw.decode())
    except _Found as found:
        return BadRequest(str(found))
    except RecursionError:
        return _TOO_DEEP
    except ValueError as error:
        return not_json(raw, error)
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
    """Return how a message names a client's field: by its name only if it matches `_NAME`."""
    return f"Field `{name}`" if _NAME.fullmatch(name) else "A field of the body"


def _clean(decoded: object) -> bool:
    """Return whether no text in `decoded`, keys included, contains NUL or a surrogate."""
    # An explicit stack, since the nesting may be near Python's recursion limit.
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


def _sentence(problem: str, kind: object, obj: object) -> str:
    """Return msgspec's message about `obj`, which is not a `kind`, in this interface's words.

    msgspec's message may quote the client's text, so only names and bounds are taken from it.
    """
    at = _AT.search(problem)
    place = at.group(1) if at else ""
    missing = _MISSING.match(problem)
    if missing:
        if not place and isinstance(obj, dict):
            return missing_field(missing.group(1), obj)
        return f"Field `{place}.{missing.group(1)}` is required."
    subject = f"Field `{place}`" if place else "The body"
    expected = _EXPECTED.match(problem)
    if not expected:
        allowed, told = _allowed(kind, place)
        return (
            f"{subject} must be {' or '.join(allowed)}.{told}"
            if allowed
            else f"{subject} does not have an allowed value."
        )
    kinds, length, sign, bound = expected.groups()
    noun = " or ".join(_NOUNS.get(kind, "another type") for kind in kinds.split(" | "))
    if sign is None:
        value = obj.get(place) if kinds == "int" and isinstance(obj, dict) else None
        return f"{subject} must be {noun}.{_how_to_write(value, place)}"
    limit = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}[sign]
    return f"{subject} must be {noun} of {limit} {bound}{' characters' if length else ''}."


def _allowed(kind: object, place: str) -> tuple[tuple[str, ...], str]:
    """Return the values that a text field of a struct takes, and the field's description.

    The values are () if the field takes any text. The description is '' if there is none.
    """
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return (), ""
    found = [field.type for field in msgspec.structs.fields(kind) if field.encode_name == place]
    shape, told = (found[0] if found else None), ""
    if get_origin(shape) is Annotated:
        shape, meta, *_ = get_args(shape)
        told = f" {meta.description}" if meta.description else ""
    values = get_args(shape) if get_origin(shape) is Literal else ()
    return tuple(str(value) for value in values), told


def _how_to_write(value: object, place: str) -> str:
    """Return how to write an integer that was sent as another kind of value, or ''."""
    if isinstance(value, str):
        told = " Send it without quotes."
    elif isinstance(value, float):
        told = " Send it without a decimal point or an exponent."
    else:
        return ""
    cents = place.endswith("UsdCents")
    return told + (" Amounts are in whole cents: 5 dollars are 500." if cents else "")


_LOOK = json.JSONDecoder(
    object_pairs_hook=_look,
    parse_float=lambda text: _HUGE if isinf(float(text)) else None,
    parse_int=lambda text: _HUGE if len(text) > MAX_DIGITS else None,
)
"""Reads a body only for its names and the sizes of its numbers. Every object is decoded to None."""
