"""The format of operator requests and answers: one JSON object a line, in both directions.

A request is `{"command": name, "args": {…}}`. Its answer is one of:

- `{"result": …}`;
- `{"refusal": {"error", "reason"?, …}}` when the service refuses the command;
- `{"failure": {"error"}}` when the request cannot be understood, when a fault stopped the command,
  or when nobody can carry it out at the moment, for example because the service is too busy.
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
escaped as six bytes."""


class BadCall(Exception):
    """A request that cannot be encoded or decoded; the message says why.

    `argument` is the name of the wrong argument as in the args struct, and `problem` says what the
    argument must be. Both are None when the fault is not in one argument.
    """

    def __init__(
        self, message: str, argument: str | None = None, problem: str | None = None
    ) -> None:
        super().__init__(message)
        self.argument = argument
        self.problem = problem


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command's name, and its arguments as JSON that is not decoded yet."""

    command: Annotated[str, Meta(max_length=64)]
    args: msgspec.Raw = msgspec.Raw(b"{}")


class Done(msgspec.Struct, frozen=True):
    """The command was carried out. `result` is its record as JSON."""

    result: msgspec.Raw


class Refused(msgspec.Struct, frozen=True):
    """The service refused the command.

    `reason` is a reason of the API's error table, None if the refusal has no code. `extras` are the
    fields that go with it.
    """

    error: str
    reason: str | None = None
    extras: Mapping[str, Extra] = {}


class Failed(msgspec.Struct, frozen=True):
    """The command was not understood, was stopped by a fault, or cannot be carried out now.

    `error` says which.
    """

    error: str


Answer = Done | Refused | Failed


def answer_to(outcome: object) -> Answer:
    """Return the answer for a command's outcome: a refusal, a `BadRequest` or a record."""
    if isinstance(outcome, Refusal):
        return Refused(message_of(outcome), outcome.reason, outcome.extras)
    if isinstance(outcome, BadRequest):
        return Refused(outcome.message)
    return Done(msgspec.Raw(msgspec.json.encode(outcome)))


def encode_request(command: str, args: object) -> bytes:
    """Return a request as a line.

    Raises `BadCall` for text that is not valid Unicode, and for a line over `MAX_REQUEST_BYTES`.
    """
    try:
        line = msgspec.json.encode({"command": command, "args": args}) + b"\n"
    except UnicodeEncodeError:
        raise BadCall("an argument is not valid Unicode text") from None
    if len(line) > MAX_REQUEST_BYTES:
        raise BadCall(f"the arguments are over {MAX_REQUEST_BYTES} bytes")
    return line


def decode_request(line: bytes) -> Request:
    """Return the request that a line holds. Raises `BadCall`."""
    return _decode(line, Request)


def decode_args(args: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Return a command's arguments.

    Raises `BadCall`, also for a text with a NUL character, which PostgreSQL cannot store.
    """
    decoded = _decode(args, kind)
    for name in decoded.__struct_fields__:
        value = getattr(decoded, name)
        # msgspec accepts NUL. It refuses half a surrogate pair by itself.
        if isinstance(value, str) and "\0" in value:
            raise BadCall(f"{name} holds a NUL", name, "must not hold a NUL character")
    return decoded


def _decode(text: bytes | msgspec.Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except RecursionError:
        raise BadCall("the request is nested too deeply") from None
    except ValueError as error:  # from msgspec, or for text that is not UTF-8
        raise _bad_value(str(error)) from None


def _bad_value(message: str) -> BadCall:
    """Return msgspec's message as a `BadCall`.

    A message about a bound, such as ``Expected `int` <= 9 - at `$.floorUsdCents` ``, is split into
    the argument's name and the bound.
    """
    found = _BOUND.fullmatch(message)
    if found is None:
        return BadCall(message)
    length, sign, limit, name = found.groups()
    direction = "at most" if sign == "<=" else "at least"
    unit = "" if not length else " character" if int(limit) == 1 else " characters"
    argument = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)
    return BadCall(message, argument, f"must be {direction} {int(limit):,}{unit}")


def encode_answer(answer: Answer) -> bytes:
    """Return an answer as a line."""
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
    """Return the answer that a line holds. Raises ValueError when it holds none."""
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
