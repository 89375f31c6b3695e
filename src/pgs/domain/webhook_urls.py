"""Webhook addresses: which URLs may be registered, and how they are stored.

Registration checks only how the URL is written. Every delivery checks that the name resolves to
public addresses. The parser is our own, and it refuses a text that would need repair: attacks use
texts that two parsers read differently.
"""

import re
from typing import Final

import idna

from pgs.domain.hosts import is_below_public_suffix, is_dotted_name

URL_MAX: Final = 2048
"""Characters of a webhook's URL, as sent and as stored, as the interface promises."""

# The host is all text before port, path and query; its labels are checked one by one below. Path
# and query may have RFC 3986's characters, and `[`, `]` and `|`, which many clients leave unescaped
# in query strings. A fragment is refused because it is never sent.
_URL = re.compile(
    r"[Hh][Tt][Tt][Pp][Ss]://"
    r"([^\x00-\x20\x7f/?#@:\\\[\]%]+)"
    r"(?::([1-9][0-9]{0,4}))?"
    r"((?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@/\[\]|-]|%[0-9A-Fa-f]{2})*)?"
    r"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?\[\]|-]|%[0-9A-Fa-f]{2})*)?)",
    re.ASCII,
)

# Reverse look-ups and Tor: public DNS has no web servers below these names.
_NO_HOSTS_BELOW = (".arpa", ".onion")


def normalise_webhook_url(text: str) -> str | None:
    """Return the URL as it is stored, or None when it cannot be a webhook's. Takes any string.

    Scheme and host become lower case, and labels in other scripts become A-labels. Port, path and
    query stay as they were sent.
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
    # A partner cannot own a public suffix, or a name that is not below a listed suffix.
    return host if is_below_public_suffix(host) else None


def _label(text: str) -> str | None:
    """Return the label in lower-case ASCII, or None if IDNA 2008 does not allow it.

    Labels that only IDNA's mapping would make valid are not allowed either.
    """
    if text.isascii() and text[:4].lower() != "xn--":
        return text.lower()
    if len(text) > 63:  # too long for a label; the cost of IDNA's checks grows with the length
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
