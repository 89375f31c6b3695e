"""For every test: nothing leaves this machine, and no result depends on its speed."""

import ipaddress
import socket
import sys
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings

settings.register_profile("pgs", deadline=None)
settings.load_profile("pgs")


@pytest.fixture(autouse=True)
def _log_as_it_was() -> Iterator[None]:
    """What a command line under test does to the log ends with its test."""
    was = structlog.get_config()
    yield
    structlog.configure(**was)


def _is_local(host: object) -> bool:
    """Return whether `host` names this machine.

    That is loopback, the unspecified address, or localhost and the names below it.
    """
    if host is None:
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    if name in ("", "localhost") or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_the_network(event: str, arguments: tuple[object, ...]) -> None:
    """Raise AssertionError where a test would connect or look up a name beyond loopback.

    No code under test takes that error for an outage.
    """
    if event == "socket.connect":
        address = arguments[1]
        if isinstance(address, tuple) and not _is_local(address[0]):
            raise AssertionError(f"a test connects to {address!r}: loopback only")
    elif (
        event == "socket.getaddrinfo"
        and not _is_literal_or_local(arguments[0])
        and not _is_numeric_only()
    ):
        raise AssertionError(f"a test looks up {arguments[0]!r}: loopback only")


def _is_numeric_only() -> bool:
    """Return whether a look-up takes no names. trio begins each of its own with such a one."""
    return bool(sys._getframe(2).f_locals.get("flags", 0) & socket.AI_NUMERICHOST)


def _is_literal_or_local(host: object) -> bool:
    """Whether looking up `host` asks no name server: `_is_local`, or an address written out."""
    if _is_local(host):
        return True
    try:
        ipaddress.ip_address(
            host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        )
    except ValueError:
        return False
    return True


sys.addaudithook(_refuse_the_network)
