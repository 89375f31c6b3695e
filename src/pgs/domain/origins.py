"""Web origins that may embed the frame, spelled as a browser sends them.

An origin goes into a `frame-ancestors` policy and is compared with what browsers send. So this
parser is strict: it refuses what a lenient one would repair. The spelling is that of WHATWG URL,
"host serializing".
"""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from pgs.domain.environments import Environment
from pgs.domain.hosts import is_dotted_name

MAX_ORIGINS: Final = 128
"""Origins of one environment of a partner, as the interface promises. One header contains them
all."""

LIVE_ORIGIN: Final = (
    "A live origin is https only, with a dotted host name. Register this one for test."
)

_ORIGIN = re.compile(
    r"([Hh][Tt][Tt][Pp][Ss]?)://(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253}))"
    r"(?::([1-9][0-9]{0,4}))?",
    re.ASCII,
)
_DEFAULT_PORTS = {"http": 80, "https": 443}
"""Port of each scheme if an origin names none. Browsers leave it out, so it is not stored."""


def normalise_origin(text: str, environment: Environment) -> str | None:
    """Return the origin as a browser sends it, or None if this environment does not allow it.

    Takes any string. Live allows `https` and a dotted name. Test also allows `http`, `localhost`
    and IP addresses. A path is never allowed, not even `/`.
    """
    found = _ORIGIN.fullmatch(text)
    if found is None:
        return None
    scheme, literal, name, port = found[1].lower(), found[2], found[3], found[4]
    if environment == "live" and (scheme != "https" or literal is not None):
        return None
    host = _ipv6(literal) if literal is not None else _name(name.lower(), environment)
    if host is None:
        return None
    if port is None or int(port) == _DEFAULT_PORTS[scheme]:
        return f"{scheme}://{host}"
    return f"{scheme}://{host}:{port}" if int(port) <= 65535 else None


def _name(host: str, environment: Environment) -> str | None:
    if is_dotted_name(host):
        return host if all(_is_sound(label) for label in host.split(".")) else None
    if environment == "live":
        return None
    return host if host == "localhost" or _is_ipv4(host) else None


def _is_ipv4(host: str) -> bool:
    """Return whether `host` is four decimal numbers. Short, octal and hex forms are refused."""
    try:
        IPv4Address(host)
    except AddressValueError:
        return False
    return True


def _ipv6(literal: str) -> str | None:
    """Return an IPv6 address in brackets as browsers spell it, or None if it is not one.

    Browsers follow RFC 5952, but never write a dotted IPv4 tail. From Python 3.13 on,
    `str(IPv6Address)` writes mapped addresses with such a tail.
    """
    try:
        number = int(IPv6Address(literal))
    except AddressValueError:
        return None
    pieces = [f"{number >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    start, length = _longest_run_of_zeros(pieces)
    if length < 2:
        return f"[{':'.join(pieces)}]"
    return f"[{':'.join(pieces[:start])}::{':'.join(pieces[start + length :])}]"


def _longest_run_of_zeros(pieces: list[str]) -> tuple[int, int]:
    best, run = (0, 0), 0
    for index, piece in enumerate(pieces):
        run = run + 1 if piece == "0" else 0
        if run > best[1]:
            best = (index - run + 1, run)
    return best


def _is_sound(label: str) -> bool:
    """Return whether browsers send this label.

    They send labels without `xn--` in front, and valid A-labels. An A-label is valid here if it can
    be decoded; the decoded characters are not checked.
    """
    if not label.startswith("xn--"):
        return True
    try:
        decoded = label[4:].encode("ascii").decode("punycode")
        return not decoded.isascii() and decoded.encode("punycode").decode("ascii") == label[4:]
    except ValueError:
        return False
