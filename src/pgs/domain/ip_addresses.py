"""The addresses that a webhook may be delivered to: public ones, according to our own tables.

Python's own test is not good enough: in Python 3.11 `ipaddress.is_global` accepts multicast, NAT64
and 6to4 addresses, and its other answers depend on the interpreter's version.

IPv4: the special ranges are refused, everything else is public.

IPv6: only 2000::/3 is allowed, without its special parts. No other range has ever been assigned as
global unicast (IANA, "IPv6 Address Space"). This rule refuses loopback, link-local, unique local
and multicast addresses. It also refuses the forms that contain an IPv4 address: mapped
(::ffff:0:0/96), compatible (::/96), translated (::ffff:0:0:0/96) and NAT64 (64:ff9b::/96,
64:ff9b:1::/48).
"""

import ipaddress
from collections.abc import Callable, Sequence
from typing import Final

ADDRESSES_MAX: Final = 4
"""Addresses of one DNS answer that a try connects to. An answer with hundreds must not turn a
delivery into a port scan."""

REFUSED_MESSAGE: Final = "this webhook host does not resolve to a public address"
"""The error in the attempt log when the look-up's answer was refused."""

# All blocks of IANA's "IPv4 Special-Purpose Address Registry" (RFC 6890), multicast, and an address
# of Azure. The registry calls some blocks globally reachable: those of AS112 and AMT, and parts of
# 192.0.0.0/24. They lead to the nearest instance of an infrastructure service and never to a
# partner's host.
_SPECIAL_V4: Final = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network, RFC 791; Linux treats 0.0.0.0 as loopback
        "10.0.0.0/8",  # private, RFC 1918
        "100.64.0.0/10",  # carrier-grade NAT, RFC 6598
        "127.0.0.0/8",  # loopback, RFC 1122
        "169.254.0.0/16",  # link-local, RFC 3927; clouds serve machines their metadata there
        "172.16.0.0/12",  # private, RFC 1918
        "192.0.0.0/24",  # IETF protocol assignments, RFC 6890
        "192.0.2.0/24",  # documentation, RFC 5737
        "192.31.196.0/24",  # AS112, RFC 7535
        "192.52.193.0/24",  # AMT, RFC 7450
        "192.88.99.0/24",  # 6to4 relays, deprecated by RFC 7526
        "192.168.0.0/16",  # private, RFC 1918
        "192.175.48.0/24",  # AS112, RFC 7534
        "198.18.0.0/15",  # benchmarking, RFC 2544
        "198.51.100.0/24",  # documentation, RFC 5737
        "203.0.113.0/24",  # documentation, RFC 5737
        "224.0.0.0/4",  # multicast, RFC 5771
        "240.0.0.0/4",  # reserved, RFC 1112; limited broadcast, RFC 919
        # Public in every registry, but inside an Azure machine this address leads to the machine's
        # host (Microsoft, "What is IP address 168.63.129.16?").
        "168.63.129.16/32",
    )
)

_GLOBAL_UNICAST_V6: Final = ipaddress.IPv6Network("2000::/3")  # RFC 4291

# The entries of IANA's "IPv6 Special-Purpose Address Registry" that lie in 2000::/3.
_SPECIAL_V6: Final = tuple(
    ipaddress.IPv6Network(block)
    for block in (
        # IETF protocol assignments, RFC 2928: Teredo, benchmarking, AMT, AS112, ORCHID, drone ids
        "2001::/23",
        "2001:db8::/32",  # documentation, RFC 3849
        "2002::/16",  # 6to4, RFC 3056: contains any IPv4 address
        "2620:4f:8000::/48",  # AS112, RFC 7534
        "3fff::/20",  # documentation, RFC 9637
    )
)


def is_public(address: str) -> bool:
    """Return whether `address` is an IPv4 or IPv6 address on the public internet. Takes any string.

    An address with a zone id is not public, because the zone names an interface of this machine.
    """
    if "%" in address:
        return False
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv4Address):
        return not any(parsed in block for block in _SPECIAL_V4)
    return parsed in _GLOBAL_UNICAST_V6 and not any(parsed in block for block in _SPECIAL_V6)


def check_answer(
    addresses: Sequence[str], is_allowed: Callable[[str], bool] = is_public
) -> tuple[str, ...] | None:
    """Return the addresses to connect to, in order, or None if the whole answer is refused.

    Returns at most `ADDRESSES_MAX` addresses, each once. An answer without addresses is refused. An
    answer with even one address that is not allowed is refused too: somebody who mixes public and
    private addresses for one name wants us to reach the private one. Only tests and the demo, which
    deliver on this machine, pass another `is_allowed`.
    """
    if not addresses or not all(is_allowed(address) for address in addresses):
        return None
    return tuple(dict.fromkeys(addresses))[:ADDRESSES_MAX]
