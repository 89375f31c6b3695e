"""Parses query strings. Known parameters that are repeated or are not text are refused."""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

from pgs.domain.errors import BadRequest

MAX_PARAMETERS: Final = 32
"""Parameters of a query string. No call knows half as many. MAX_TARGET_BYTES limits their
length."""

UNREADABLE: Final = "\N{REPLACEMENT CHARACTER}"
"""Replaces a value that is not valid text, if the parameter is in `REFUSED_BY_CALL`. It is no
cursor, day, status or game, so the call answers as it answers every other wrong value."""

REFUSED_BY_CALL: Final = frozenset({"cursor", "from", "to", "status", "gameId"})
"""Parameters whose wrong values most calls refuse with a `reason`, such as `malformed_day`. A value
that is not text is a wrong value too, so it must get the same answer."""

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_DIGITS = re.compile(r"[0-9]{1,6}", re.ASCII)

_TOO_MANY: Final = BadRequest("The query string has too many parameters.")


def parse_query(raw: bytes, known: frozenset[str]) -> dict[str, str] | BadRequest:
    """Return the value of each parameter in `known` that the query string `raw` has.

    `raw` is undecoded and without `?`. `+` is a space; a name without `=` has the empty value. A
    repeated known parameter is refused, since only one of its values could be used. A value with a
    bad escape, invalid UTF-8 or NUL is refused, or is `UNREADABLE` if the parameter is in
    `REFUSED_BY_CALL`. Unknown parameters are ignored, whatever they hold.
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
        if name is None or name not in known:
            continue
        if value is None and name in REFUSED_BY_CALL:
            value = UNREADABLE
        if value is None:
            return BadRequest(f"Query parameter `{name}` is not percent-encoded UTF-8 text.")
        if name in found:
            return BadRequest(f"Query parameter `{name}` is given more than once.")
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
