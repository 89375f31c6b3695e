"""Checks of host names in origins, webhook URLs and admin domains, with the public suffix list."""

import re
from functools import cache

from publicsuffixlist import PublicSuffixList

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)


def is_dns_name(host: str) -> bool:
    """Return whether `host` is a lower-case ASCII DNS name that cannot be read as an IP address.

    A label has 1 to 63 letters, digits and hyphens, and no hyphen at its ends. The name has at most
    253 characters and no trailing dot. Its last label is not a number such as `7` or `0x7f`,
    because browsers (WHATWG URL, "ends in a number") and getaddrinfo would read the name as an IPv4
    address.
    """
    return (
        len(host) <= 253
        and _NAME.fullmatch(host) is not None
        and _NUMBER.fullmatch(host.rpartition(".")[2]) is None
    )


def is_dotted_name(host: str) -> bool:
    """Return whether `host` is a DNS name of at least two labels."""
    return "." in host and is_dns_name(host)


def is_public_suffix(host: str) -> bool:
    """Return whether a name is itself a listed public suffix: `com`, `co.uk`, `github.io`."""
    return _suffixes().publicsuffix(host) == host


def is_below_public_suffix(host: str) -> bool:
    """Return whether a name is below a listed public suffix, as `example.co.uk` is."""
    return _suffixes().privatesuffix(host) is not None


def read_suffixes() -> None:
    """Read the public suffix list now, so that no request has to wait for it.

    Reading takes 100 ms and blocks the whole process.
    """
    _suffixes()


@cache
def _suffixes() -> PublicSuffixList:
    # Reads a file of the package publicsuffixlist, once.
    return PublicSuffixList(accept_unknown=False)
