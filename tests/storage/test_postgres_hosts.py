"""An address with several hosts: which of the servers the writer uses, and how soon."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from time import perf_counter

import msgspec
import psycopg
import pytest
from psycopg import conninfo

from pgs.storage.postgres import hosts
from pgs.storage.postgres.hosts import (
    ASK_S,
    HEAD_START_S,
    hosts_of,
    primary_elsewhere,
    primary_of,
)
from pgs.storage.postgres.session import WriterSession
from pgs.storage.transactions import StoreOutage
from tests import postgres
from tests.postgres import Server, running_server
from tests.storage.polling import until_now

WRITES_TO_THE_LOG = "select pg_logical_emit_message(true, 'test', '')"
SESSIONS = "select count(*) from pg_stat_activity where application_name like 'pgs n1%'"


class Hosts(msgspec.Struct, frozen=True):
    """Two servers. `one` is asked first."""

    one: Server
    two: Server

    @property
    def url(self) -> str:
        """The address of both."""
        return f"postgresql://pgs@/postgres?host={self.one.folder},{self.two.folder}"

    def found(self, last: str | None = None) -> str:
        """Return the folder of the server that is found."""
        known = None if last is None else {"host": last, "port": "5432"}
        ((found),) = hosts_of(primary_of(self.url, "pgs n1", known))
        return found["host"]


@pytest.fixture(scope="module")
def servers() -> Iterator[Hosts]:
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in (("wal_level", "replica"), ("max_wal_senders", "2")):
            patch.setitem(postgres.OPTIONS, name, value)  # without them no commit waits
        yield Hosts(*(stack.enter_context(running_server()) for _ in range(2)))


@pytest.fixture
def both(servers: Hosts) -> Iterator[Hosts]:
    yield servers
    for server in (servers.one, servers.two):
        confirm(server, True)


def run(server: Server, statement: str) -> list[tuple[object, ...]]:
    """Return the rows of a statement at a server."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        done = connection.execute(statement.encode())
        return done.fetchall() if done.description else []


def confirm(server: Server, confirms: bool) -> None:
    """Let a server confirm commits, or wait with each for a standby that never comes."""
    names = "" if confirms else "nowhere"
    run(server, f"alter system set synchronous_standby_names = '{names}'")
    run(server, "select pg_reload_conf()")
    until_now(lambda: run(server, "show synchronous_standby_names") == [(names,)])
    if not confirms:  # the server begins to wait a moment after it has read its settings
        until_now(lambda: _waits(server))


def _waits(server: Server) -> bool:
    try:
        primary_of(f"{server.url('postgres')},/nowhere", "pgs trial")
    except StoreOutage:
        return True
    return False


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("postgresql://pgs@db-1/pgs", [{"host": "db-1", "port": "5432"}]),
        (
            "postgresql://pgs@db-1,db-2:6432/pgs",
            [{"host": "db-1", "port": "5432"}, {"host": "db-2", "port": "6432"}],
        ),
        ("host=a,b port=1", [{"host": "a", "port": "1"}, {"host": "b", "port": "1"}]),
        (
            "host=a,b hostaddr=10.0.0.1,10.0.0.2 port=1",
            [
                {"host": "a", "hostaddr": "10.0.0.1", "port": "1"},
                {"host": "b", "hostaddr": "10.0.0.2", "port": "1"},
            ],
        ),
        (
            "hostaddr=10.0.0.1,10.0.0.2 port=1",
            [{"hostaddr": "10.0.0.1", "port": "1"}, {"hostaddr": "10.0.0.2", "port": "1"}],
        ),
        ("dbname=pgs", []),
    ],
)
def test_the_hosts_of_an_address_are_told_apart(url: str, found: list[dict[str, str]]) -> None:
    assert hosts_of(url) == found


def test_what_an_address_leaves_out_is_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGHOST", "c,d")
    monkeypatch.setenv("PGPORT", "6543")
    assert hosts_of("host=a,b") == [{"host": "a", "port": "6543"}, {"host": "b", "port": "6543"}]
    assert hosts_of("dbname=pgs") == [{"host": "c", "port": "6543"}, {"host": "d", "port": "6543"}]
    # A list of ports leaves nothing out: libpq uses its own port for an empty place.
    assert [host["port"] for host in hosts_of("postgresql://a,b:6432/pgs")] == ["5432", "6432"]


class Opened(msgspec.Struct, frozen=True):
    """What libpq says of a connection that is open."""

    host: bytes
    hostaddr: bytes
    port: bytes


class Confirming:
    """A connection to a server that confirms each commit."""

    def __init__(self, opened: Opened, warn: Callable[[str], None]) -> None:
        self.opened = opened

    def command(self, statement: str, *values: object) -> None:
        """Confirm at once."""

    def close(self) -> None:
        """Nothing stays open."""


def resolved(address: str, name: str) -> Opened:
    """Return a connection to a host, where `old` and `alias` have the same IP address."""
    told = {key: str(word).encode() for key, word in conninfo.conninfo_to_dict(address).items()}
    addresses = {b"old": b"10.0.0.1", b"alias": b"10.0.0.1", b"new": b"10.0.0.2"}
    return Opened(told["host"], addresses[told["host"]], told["port"])


def test_one_server_under_two_names_or_with_the_port_of_the_environment_counts_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hosts, "connect", resolved)
    monkeypatch.setattr(hosts, "Connection", Confirming)
    monkeypatch.setenv("PGPORT", "6543")
    used = {"host": "old", "hostaddr": "10.0.0.1", "port": "6543"}
    assert primary_elsewhere("host=old,alias", "pgs n1", used) is None
    assert primary_elsewhere("host=old,alias,new", "pgs n1", used) == {
        "host": "new",
        "port": "6543",
    }
    # The name of the session's host leads to the promoted server by now, as `alias` does.
    moved = {"host": "old", "hostaddr": "10.0.0.9", "port": "6543"}
    assert primary_elsewhere("host=old,alias", "pgs n1", moved) == {"host": "alias", "port": "6543"}


def test_an_address_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(StoreOutage, match="PGS_DATABASE_URL"):
        hosts_of("nonsense")


def test_an_address_with_one_host_is_not_asked() -> None:
    assert primary_of("postgresql://nowhere/pgs", "pgs n1") == "postgresql://nowhere/pgs"


@pytest.mark.postgres
@pytest.mark.slow
def test_the_first_host_is_used_if_it_confirms_commits(both: Hosts) -> None:
    assert both.found() == str(both.one.folder)
    assert both.found(last=str(both.two.folder)) == str(both.two.folder)
    assert both.found(last="/elsewhere") == str(both.one.folder)


@pytest.mark.postgres
@pytest.mark.slow
def test_an_old_primary_whose_commits_nobody_confirms_is_soon_passed_over(both: Hosts) -> None:
    confirm(both.one, False)
    begun = perf_counter()
    assert both.found() == str(both.two.folder)
    assert perf_counter() - begun < ASK_S
    confirm(both.two, False)
    with pytest.raises(StoreOutage, match="no other host of PGS_DATABASE_URL confirms"):
        both.found()
    confirm(both.one, True)
    assert both.found(last=str(both.two.folder)) == str(both.one.folder)


@pytest.mark.postgres
@pytest.mark.slow
def test_another_host_that_confirms_commits_is_found_and_one_that_does_not_is_not(
    both: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = ({"host": str(server.folder), "port": "5432"} for server in (both.one, both.two))
    assert primary_elsewhere(both.url, "pgs n1", one | {"hostaddr": ""}) == two
    assert primary_elsewhere(both.url, "pgs n1", two | {"hostaddr": ""}) == one
    confirm(both.two, False)
    monkeypatch.setattr(hosts, "ASK_S", HEAD_START_S * 2)
    assert primary_elsewhere(both.url, "pgs n1", one | {"hostaddr": ""}) is None
    assert primary_elsewhere(both.one.url("postgres"), "pgs n1", one | {"hostaddr": ""}) is None


@pytest.mark.postgres
@pytest.mark.slow
def test_a_writer_opens_its_session_at_the_server_that_confirms(both: Hosts) -> None:
    confirm(both.one, False)
    session = WriterSession(both.url, "pgs n1", 1)
    try:
        assert session.address["host"] == str(both.two.folder)
        (found,) = run(both.two, "select count(*) from pg_locks where locktype = 'advisory'")
        assert found == (1,)
        assert run(both.one, "select count(*) from pg_locks where locktype = 'advisory'") == [(0,)]
        again = WriterSession(both.url, "pgs n1", 2, last=session.address)
        again.close()
    finally:
        session.close()


@pytest.mark.postgres
@pytest.mark.slow
def test_no_sessions_are_left_behind_however_often_a_host_is_asked(
    both: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "ASK_S", HEAD_START_S * 2)
    monkeypatch.setattr(hosts, "LEFT_AFTER_S", 0.0)
    confirm(both.one, False)
    for _ in range(4):
        assert both.found() == str(both.two.folder)
    # The server does not notice that the client has gone while it waits for the standby.
    until_now(lambda: run(both.one, SESSIONS)[0] <= (1,))
    until_now(lambda: run(both.two, SESSIONS) == [(0,)])


@pytest.mark.postgres
@pytest.mark.slow
def test_a_host_that_is_down_or_a_standby_is_passed_over(both: Hosts) -> None:
    with running_server() as third:
        third.stop()
        behind = f"postgresql://pgs@/postgres?host={third.folder},{both.two.folder}"
        ((down),) = hosts_of(primary_of(behind, "pgs n1"))
        assert down["host"] == str(both.two.folder)
        (third.folder / "data" / "standby.signal").touch()
        third.start()
        assert run(third, "select pg_is_in_recovery()") == [(True,)]
        ((standby),) = hosts_of(primary_of(behind, "pgs n1"))
        assert standby["host"] == str(both.two.folder)
        with pytest.raises(StoreOutage):
            primary_of(f"postgresql://pgs@/postgres?host={third.folder},/nowhere", "pgs n1")


@pytest.mark.postgres
@pytest.mark.slow
def test_a_first_commit_that_is_not_confirmed_ends_the_session(
    both: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs.storage.postgres.session.SILENT_S", 0.2)
    session = WriterSession(both.url, "pgs n1", 1)
    try:
        confirm(both.one, False)
        with pytest.raises(StoreOutage):
            session.confirm(lambda held: held.connection.command(WRITES_TO_THE_LOG))
    finally:
        session.close()
