"""Host names as registered origins, webhook addresses and admin domains may spell them, and which of them are everybody's."""

import re
from functools import cache

from publicsuffixlist import PublicSuffixList

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)


def is_dns_name(host: str) -> bool:
    """Return whether `host` is a lower-case ASCII DNS name that nobody can read as an IP address.

    Labels of 1 to 63 letters, digits and hyphens, a hyphen neither first nor last; 253 characters in all; no trailing dot. A name
    whose last label is a number (`0x7f` too) is an IPv4 address to browsers (WHATWG URL, "ends in a number") and to getaddrinfo.
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
    """Return whether a name is itself a listed public suffix (`com`, `co.uk`, `github.io`). One that the list does not know is none."""
    return _suffixes().publicsuffix(host) == host


def is_below_public_suffix(host: str) -> bool:
    """Return whether a name lies below a listed public suffix."""
    return _suffixes().privatesuffix(host) is not None


def read_suffixes() -> None:
    """Read the public suffix list now. It takes 100 ms, in which a service that reads it on first use answers nobody."""
    _suffixes()


@cache
def _suffixes() -> PublicSuffixList:
    """Read the public suffix list, which its package carries as a file, on first use."""
    return PublicSuffixList(accept_unknown=False)
