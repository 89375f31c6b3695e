"""What an operator's command is asked and answered with: one JSON object a line, in either direction.

A request is `{"command": name, "args": {…}}`. Its answer is `{"result": …}`, or `{"refusal": {"error", "reason"?, …}}` when the service
will not, or `{"failure": {"error"}}` when the request cannot be understood or something broke.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from pgs.domain.errors import BadRequest, Extra, Refusal, message_of

T = TypeVar("T", bound=msgspec.Struct)

_BOUND = re.compile(
    r"Expected `(?:int|str)`( of length)? ([<>]=) (-?[0-9]+) - at `\$\.([A-Za-z]+)`"
)

MAX_REQUEST_BYTES = 1 << 20
"""Bytes of one operator's request. Rake terms of 100,000 characters fit, even if every character is
escaped."""


class BadCall(Exception):
    """A request that names no command, or lacks what the command takes; the message says what is wrong with it.

    `argument` is the one that is wrong, as its record spells it, and `problem` what it would have to be; both None where it is none.
    """

    def __init__(
        self, message: str, argument: str | None = None, problem: str | None = None
    ) -> None:
        super().__init__(message)
        self.argument = argument
        self.problem = problem


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command by its name, with its arguments still as they came."""

    command: Annotated[str, Meta(max_length=64)]
    args: msgspec.Raw = msgspec.Raw(b"{}")


class Done(msgspec.Struct, frozen=True):
    """What a command answered, as JSON."""

    result: msgspec.Raw


class Refused(msgspec.Struct, frozen=True):
    """Why the service will not. `reason` is of the error catalogue, `extras` are its row's additional fields."""

    error: str
    reason: str | None = None
    extras: Mapping[str, Extra] = {}


class Failed(msgspec.Struct, frozen=True):
    """What stood in the way of a command."""

    error: str


Answer = Done | Refused | Failed


def answer_to(outcome: object) -> Answer:
    """Return the answer that a command's outcome makes."""
    if isinstance(outcome, Refusal):
        return Refused(message_of(outcome), outcome.reason, outcome.extras)
    if isinstance(outcome, BadRequest):
        return Refused(outcome.message)
    return Done(msgspec.Raw(msgspec.json.encode(outcome)))


def encode_request(command: str, args: object) -> bytes:
    """Return a request's line. Raises `BadCall` for a text that no JSON can carry, and for a line over the limit."""
    try:
        line = msgspec.json.encode({"command": command, "args": args}) + b"\n"
    except UnicodeEncodeError:
        raise BadCall("an argument is not valid Unicode text") from None
    if len(line) > MAX_REQUEST_BYTES:
        raise BadCall(f"the arguments are over {MAX_REQUEST_BYTES} bytes")
    return line


def decode_request(line: bytes) -> Request:
    """Return the request of a line. Raises `BadCall`."""
    return _decode(line, Request)


def decode_args(args: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Return a command's arguments. Raises `BadCall`, for a NUL in a text too: databases differ about it."""
    decoded = _decode(args, kind)
    for name in decoded.__struct_fields__:
        value = getattr(decoded, name)
        if (
            isinstance(value, str) and "\0" in value
        ):  # msgspec lets NUL pass; half a surrogate pair it refuses by itself
            raise BadCall(f"{name} holds a NUL", name, "must not hold a NUL character")
    return decoded


def _decode(text: bytes | msgspec.Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except RecursionError:
        raise BadCall("the request is nested too deeply") from None
    except ValueError as error:  # msgspec's own errors are of this kind, and so is bad UTF-8
        raise _bad_value(str(error)) from None


def _bad_value(message: str) -> BadCall:
    """Return msgspec's refusal, such as ``Expected `int` <= 9 - at `$.floorUsdCents` ``, taken apart where it is about a bound."""
    found = _BOUND.fullmatch(message)
    if found is None:
        return BadCall(message)
    length, sign, limit, name = found.groups()
    bound = f"{'at most' if sign == '<=' else 'at least'} {int(limit):,}{' characters' if length else ''}"
    return BadCall(
        message, re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name), f"must be {bound}"
    )


def encode_answer(answer: Answer) -> bytes:
    """Return an answer's line."""
    body: dict[str, Any]
    if isinstance(answer, Done):
        body = {"result": answer.result}
    elif isinstance(answer, Failed):
        body = {"failure": {"error": answer.error}}
    else:
        reason = {} if answer.reason is None else {"reason": answer.reason}
        body = {"refusal": {"error": answer.error, **reason, **answer.extras}}
    return msgspec.json.encode(body) + b"\n"


def decode_answer(line: bytes) -> Answer:
    """Return the answer of a line. Raises ValueError when it is none."""
    body = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    ((kind, value),) = body.items()
    if kind == "result":
        return Done(value)
    if kind == "failure":
        return msgspec.json.decode(value, type=Failed)
    if kind != "refusal":
        raise ValueError(f"no such answer: {kind}")
    fields = msgspec.json.decode(value, type=dict[str, Any])
    return Refused(str(fields.pop("error", "")), fields.pop("reason", None), fields)
