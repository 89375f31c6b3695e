"""URLs of services in the settings: https for any host, http only for this machine."""

import ipaddress
import re
from typing import Final

import msgspec

from pgs.domain.hosts import is_dns_name

URL_MAX: Final = 2048
"""Characters of a URL in the settings: as many as a webhook's address may have."""

_URL = re.compile(
    r"(https?)://(?:([A-Za-z0-9.-]+)|\[([0-9A-Fa-f:.]+)\])(?::([1-9][0-9]{0,4}))?"
    r"((?:/[!$->@-\[\]-~]*)?(?:\?[!$-\[\]-~]*)?)",
    re.ASCII,
)


class ServiceUrl(msgspec.Struct, frozen=True):
    """A parsed URL. `host` is lower-case without brackets, `target` goes into the request line."""

    secure: bool
    host: str
    port: int
    target: str


def parse_service_url(text: str) -> ServiceUrl | None:
    """Return the parsed URL, or None if `text` is not a URL or is http to another machine.

    Takes any string. Refuses what two parsers might read differently: user names, fragments,
    spaces, backslashes and characters beyond ASCII.
    """
    found = _URL.fullmatch(text) if len(text) <= URL_MAX else None
    if found is None:
        return None
    scheme, name, v6, port, target = found.groups()
    host = (name or v6).lower()
    if not (is_dns_name(host) if name and not _is_address(host) else _is_address(host)):
        return None
    secure = scheme == "https"
    number = int(port) if port else 443 if secure else 80
    if number > 65535 or not (secure or is_loopback_host(host)):
        return None
    return ServiceUrl(secure, host, number, target if target.startswith("/") else f"/{target}")


def is_loopback_host(host: str) -> bool:
    """Return whether `host`, any string without brackets, is `localhost` or a loopback address."""
    return host == "localhost" or is_loopback(host)


def is_loopback(address: str) -> bool:
    """Return whether `address`, any string, is a loopback address in its usual spelling."""
    return _is_address(address) and ipaddress.ip_address(address).is_loopback


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text
