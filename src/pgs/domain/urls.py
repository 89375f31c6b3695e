"""Webhook addresses: which URLs may be registered, and how they are stored.

Registration looks at the shape alone; whether the name leads to a public address is checked at every delivery. The parser is our
own and strict: each known trick lives on two parsers reading one text differently, so a text that needs repair is refused.
"""

import re
from typing import Final

import idna

from pgs.domain.hosts import is_below_public_suffix, is_dotted_name

URL_MAX: Final = 2048
"""Characters of a webhook's URL, as sent and as stored, as the interface promises."""

# The host is whatever stands before port, path and query; what it may be is decided label by label below.
# Path and query: RFC 3986's characters, with `[`, `]` and `|`, which query strings carry unescaped. No fragment: it is never sent.
_URL = re.compile(
    r"[Hh][Tt][Tt][Pp][Ss]://"
    r"([^\x00-\x20\x7f/?#@:\\\[\]%]+)"
    r"(?::([1-9][0-9]{0,4}))?"
    r"((?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@/\[\]|-]|%[0-9A-Fa-f]{2})*)?"
    r"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?\[\]|-]|%[0-9A-Fa-f]{2})*)?)",
    re.ASCII,
)

_NO_HOSTS_BELOW = (
    ".arpa",
    ".onion",
)  # reverse look-ups and Tor: names that public DNS gives to no web server


def normalise_webhook_url(text: str) -> str | None:
    """Return the URL as it is stored, or None when it cannot be a webhook's. Takes any string.

    Scheme and host come out in lower case, labels in other scripts as A-labels; port, path and query stay as they were sent.
    """
    if len(text) > URL_MAX:
        return None
    found = _URL.fullmatch(text)
    if found is None or (found[2] is not None and int(found[2]) > 65535):
        return None
    host = _host(found[1])
    if host is None:
        return None
    port = "" if found[2] is None else f":{found[2]}"
    url = f"https://{host}{port}{found[3]}"
    return url if len(url) <= URL_MAX else None


def _host(text: str) -> str | None:
    labels = [_label(label) for label in text.split(".")]
    host = ".".join(label or "" for label in labels)
    if None in labels or not is_dotted_name(host) or host.endswith(_NO_HOSTS_BELOW):
        return None
    # None where the name is itself a listed suffix, or lies below none.
    return host if is_below_public_suffix(host) else None


def _label(text: str) -> str | None:
    """Give the label in ASCII and lower case, or None where that would take IDNA's mapping, or IDNA 2008 has no such label."""
    if text.isascii() and text[:4].lower() != "xn--":
        return text.lower()
    if (
        len(text) > 63
    ):  # too long in ASCII already, and IDNA's checks cost more the longer the label
        return None
    try:
        if text.isascii():
            unicode_label = idna.ulabel(text.lower())
            return (
                text.lower() if idna.alabel(unicode_label) == text.lower().encode("ascii") else None
            )
        return idna.alabel(text).decode("ascii")
    except (idna.IDNAError, ValueError):
        return None
