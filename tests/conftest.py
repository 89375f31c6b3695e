"""Rules for every test: no connection leaves this machine, and hypothesis sets no deadline."""

import ipaddress
import socket
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import coverage
import pytest
import structlog
from hypothesis import settings

if TYPE_CHECKING:
    from tests.postgres import Server

settings.register_profile("pgs", deadline=None)
settings.load_profile("pgs")


ON_POSTGRES = pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.slow])
"""The second engine, for a fixture that runs a test on each. The everyday run leaves it out."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long tests first, so that no process of a run is left with one at the end."""
    items.sort(key=_length)


def _length(item: pytest.Item) -> int:
    """Return 0 for a long test, 1 for a long one that is parametrized, and 2 for any other."""
    marks = {mark.name for mark in item.iter_markers()}
    # Tests on PostgreSQL are short. Those of a browser share it with the rest of their file.
    if not marks & {"torture", "slow", "exhaustive"} or marks & {"postgres", "browser"}:
        return 2
    return 1 if "parametrize" in marks else 0


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Save what a process of the run has measured.

    Otherwise it is saved when the process exits. pytest-xdist kills a process that takes more than
    10 s to exit (its `EXIT_TIMEOUT`), as on a busy machine, and the coverage then lacks its part.
    """
    measuring = coverage.Coverage.current()
    if measuring is not None and hasattr(session.config, "workerinput"):
        measuring.save()


@pytest.fixture(scope="session")
def postgres() -> Iterator["Server"]:
    """A PostgreSQL that the tests of this process share, each with a database of its own."""
    # Imported here, because most runs need no driver.
    from tests.postgres import running_server

    with running_server() as server:
        yield server


@pytest.fixture(autouse=True)
def _log_as_it_was() -> Iterator[None]:
    """Restore structlog's configuration after each test: a command under test changes it."""
    was = structlog.get_config()
    yield
    structlog.configure(**was)


def _is_local(host: object) -> bool:
    """Return whether `host` names this machine.

    Such names are loopback, the unspecified address, localhost and names below localhost.
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
    """Raise AssertionError when a test connects or looks up a name beyond loopback.

    Code under test does not take this error for an outage, as it would take an OSError.
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
    """Return whether a look-up accepts addresses only. trio first tries each host in this way."""
    # The audit event has no flags, so they are read from the frame of the call.
    return bool(sys._getframe(2).f_locals.get("flags", 0) & socket.AI_NUMERICHOST)


def _is_literal_or_local(host: object) -> bool:
    """Return whether `host` can be looked up without a name server: it is local or an address."""
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
