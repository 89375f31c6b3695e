"""Parses query strings. Repeated known parameters and invalid UTF-8 are refused."""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

from pgs.domain.errors import BadRequest

MAX_PARAMETERS: Final = 32
"""Parameters of a query string. No call knows half as many. MAX_TARGET_BYTES limits their
length."""

UNREADABLE_CURSOR: Final = "\N{REPLACEMENT CHARACTER}"
"""Replaces a cursor that is not valid text. The call refuses it with `invalid_cursor`, like every
other cursor that was not issued here."""

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_DIGITS = re.compile(r"[0-9]{1,6}", re.ASCII)

_TOO_MANY: Final = BadRequest("The query string has too many parameters.")
_NOT_TEXT: Final = BadRequest("The query string is not percent-encoded UTF-8 text.")


def parse_query(raw: bytes, known: frozenset[str]) -> dict[str, str] | BadRequest:
    """Return the value of each parameter in `known` that the query string `raw` has.

    `raw` is undecoded and without `?`. `+` is a space; a name without `=` has the empty value. A
    repeated known parameter is refused, since only one of its values could be used. Bad escapes and
    NUL are refused, except in a cursor. Unknown parameters are ignored, even repeated ones.
    """
    if not raw:
        return {}
    pairs = raw.split(b"&")
    if len(pairs) > MAX_PARAMETERS:
        return _TOO_MANY
    found: dict[str, str] = {}
    for pair in pairs:
        if not pair:
            continue
        raw_name, _, raw_value = pair.partition(b"=")
        name, value = _text(raw_name), _text(raw_value)
        if value is None and name == "cursor" and name in known:
            value = UNREADABLE_CURSOR
        if name is None or value is None:
            return _NOT_TEXT
        if name in found:
            return BadRequest(f"Query parameter `{name}` is given more than once.")
        if name in known:
            found[name] = value
    return found


def int_param(
    params: dict[str, str], name: str, lo: int, hi: int, default: int
) -> int | BadRequest:
    """Return parameter `name` as an integer from `lo` to `hi`, both included.

    Return `default` if the parameter is absent. Its value must be 1 to 6 ASCII digits. Signs,
    spaces and full-width digits, which `int` would accept, are refused.
    """
    text = params.get(name)
    if text is None:
        return default
    if _DIGITS.fullmatch(text) and lo <= int(text) <= hi:
        return int(text)
    return BadRequest(f"Query parameter `{name}` must be a whole number from {lo} to {hi}.")


def _text(raw: bytes) -> str | None:
    """Return the decoded text of a name or a value; None if it is not valid text."""
    if _BAD_ESCAPE.search(raw):
        return None
    try:
        text = unquote_to_bytes(raw.replace(b"+", b" ")).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text
