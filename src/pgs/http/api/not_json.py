"""Says why a body is not JSON: the place of the first fault, or what the body is instead."""

import re
from json import JSONDecodeError
from typing import Final

from pgs.domain.errors import BadRequest

_AT_BYTE = re.compile(r"\(byte ([0-9]+)\)")
_FORM = re.compile(rb"[A-Za-z_][A-Za-z0-9_.\[\]%-]*=")
_NAME = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*\s*:")
_VALUE_ENDS: Final = (b'"', b"}", b"]", b"e", b"l", *(b"%d" % digit for digit in range(10)))
"""What a value can end with: a quote, a bracket, a digit, or the end of true, false or null."""

_EXAMPLE: Final = 'Send a JSON object, such as {"gameId": "tic-tac-toe"}.'


def not_json(raw: bytes, error: Exception) -> BadRequest:
    """Return the refusal of a body for which a JSON reader raised `error`."""
    return BadRequest(_why(raw, error))


def _why(raw: bytes, error: Exception) -> str:
    text = raw.strip(b" \t\r\n")
    if not text:
        return f"The body is empty. {_EXAMPLE}"
    if raw.startswith(b"\xef\xbb\xbf"):
        return "The body begins with a byte order mark. Send JSON in UTF-8 without one."
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or raw[:4].count(b"\x00") >= 2:
        return "The body is not in UTF-8: it looks like UTF-16 or UTF-32. Send JSON in UTF-8."
    if _FORM.match(text):
        return f"The body is form-encoded. {_EXAMPLE}"
    if text.startswith(b"--"):
        return f"The body is a multipart form. {_EXAMPLE}"
    try:
        raw.decode()
    except UnicodeDecodeError as broken:
        return f"The body is not valid JSON: {_place(raw, broken.start)} is not UTF-8."
    at = _AT_BYTE.search(str(error))
    if at is not None:
        position = int(at[1])
    elif isinstance(error, JSONDecodeError):
        position = len(error.doc[: error.pos].encode())
    else:
        return "The body is not valid JSON: it ends too early, in the middle of a value."
    return f"The body is not valid JSON from {_place(raw, position)} on.{_cause(raw, position)}"


def _cause(raw: bytes, position: int) -> str:
    """Return the usual cause of a fault, judged by the bytes around its position, or ''."""
    here, before = raw[position : position + 1], raw[:position].rstrip()
    if here == b"'":
        return " JSON has double quotes."
    if here in (b"/", b"#"):
        return " JSON has no comments."
    if here in (b"}", b"]") and before.endswith(b","):
        return " Leave out the comma before it."
    if before.endswith((b"{", b",")) and _NAME.match(raw, position):
        return " Put the name in double quotes."
    if here == b'"' and before.endswith(_VALUE_ENDS):
        return " A comma is missing before it."
    return ""


def _place(raw: bytes, position: int) -> str:
    """Return a byte's place as people count: line and column, both from 1."""
    before = raw[:position]
    line = before.count(b"\n") + 1
    column = position - (before.rfind(b"\n") + 1) + 1
    return f"line {line}, column {column} (byte {position + 1})"
