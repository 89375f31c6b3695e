"""Finds the server that takes writes among the hosts of an address.

After a fail-over an old primary may still run. It accepts connections and writes, but no standby
confirms its commits, so each of them waits for as long as the server runs. Therefore the hosts are
asked one after the other to commit, and the first whose commit is confirmed is the server to use.
This commit changes nothing and takes no lock. Then the writer opens its session, with that server
only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Final

from psycopg import Error, conninfo, pq
from trio.socket import AF_UNIX, SHUT_RDWR, SOCK_STREAM, fromfd

from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import Connection, Lost, StatementRefused
from pgs.storage.postgres.statements import literals
from pgs.storage.transactions import StoreOutage

HEAD_START_S: Final = 0.3
"""Seconds that a host has before the next one is asked, too. A sound host answers in a few
milliseconds, so the others are seldom asked."""

ASK_S: Final = 2.5
"""Seconds for any of the hosts to confirm a commit: more than a connection may take to open. A
server without its standby confirms none."""

LEFT_AFTER_S: Final = ASK_S
"""Seconds after which a client that asked a host for a commit has given up. While the commit waits
for a standby, the server does not notice that the client has left, and keeps its session. So the
next time that the same host is asked, sessions that have waited for longer than this are ended
first."""

# Written to the write-ahead log, so that the commit waits for the standby. Nobody reads it.
_COMMIT: Final = "select pg_logical_emit_message(true, 'pgs', '')"

_END_OLDER: Final = (
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 "
    "and datname = current_database() and pid <> pg_backend_pid() and wait_event = 'SyncRep' "
    "and state_change < now() - make_interval(secs => $2::float8)"
)

_PARTS: Final = ("host", "hostaddr", "port")

_USUAL_PORT: Final = "5432"  # libpq's port for a host without a port in the list


def hosts_of(url: str) -> list[dict[str, str]]:
    """Return the host, port and IP address of each server that an address names.

    Values that the address leaves out are those that libpq would use: `PGHOST`, `PGPORT` and so on.
    Raises `StoreOutage`.
    """
    try:
        told = conninfo.conninfo_to_dict(url)
    except Error as error:
        raise StoreOutage(f"PGS_DATABASE_URL: {error}") from error
    usual = {
        one.keyword.decode(): one.val.decode() for one in pq.Conninfo.get_defaults() if one.val
    }
    known = {name: str(told.get(name) or usual.get(name, "")) for name in _PARTS}
    if told.get("host") and not told.get("hostaddr"):
        known["hostaddr"] = ""  # PGHOSTADDR belongs to another host
    parts = {name: words.split(",") for name, words in known.items() if words}
    count = max((len(parts.get(name, ())) for name in ("host", "hostaddr")), default=0)
    found = []
    for number in range(count):
        one = {
            name: words[number] if len(words) > 1 else words[0]
            for name, words in parts.items()
            if len(words) in (1, count)
        }
        one["port"] = one.get("port") or _USUAL_PORT
        found.append({name: word for name, word in one.items() if word})
    return found


def primary_of(url: str, name: str, last: Mapping[str, str] | None = None) -> str:
    """Return the address of the one server among the hosts of `url` that confirms commits.

    An address with one host is returned as it is. `name` is what the server's table of sessions
    shows. `last` are host and port of the server that was used last: it is asked first. Raises
    `StoreOutage`.
    """
    hosts = hosts_of(url)
    if len(hosts) < 2:
        return url
    # The sort keeps the order of the others.
    hosts.sort(key=lambda host: last is None or not _is_same(host, last))
    addresses = [conninfo.make_conninfo(url, **_only(host)) for host in hosts]
    return first_of(addresses, f"{name} asks", HEAD_START_S)


def primary_elsewhere(url: str, name: str, used: Mapping[str, str]) -> dict[str, str] | None:
    """Return a host other than `used` that confirms commits, or None if there is none.

    If there is one, a standby was promoted, and `used` may never confirm a commit again. `used` has
    the host, IP address and port of a session. The result can be passed to `primary_of` as `last`.
    """
    others = [host for host in hosts_of(url) if not _is_same(host, used)]
    if not others:
        return None
    addresses = [conninfo.make_conninfo(url, **_only(host)) for host in others]
    try:
        found = first_of(
            addresses, f"{name} asks", 0, (used["hostaddr"] or used["host"], used["port"])
        )
    except StoreOutage:
        return None
    name, port = _place(others[addresses.index(found)])
    return {"host": name, "port": port}


def _is_same(host: Mapping[str, str], last: Mapping[str, str]) -> bool:
    return _place(host) == (last.get("host"), last.get("port"))


def _place(host: Mapping[str, str]) -> tuple[str, str]:
    return host.get("host") or host.get("hostaddr", ""), host["port"]


def _only(host: Mapping[str, str]) -> dict[str, str]:
    return {name: host.get(name, "") for name in _PARTS}


def first_of(
    addresses: Sequence[str], name: str, head_start_s: float, besides: tuple[str, str] | None = None
) -> str:
    """Return the first of the addresses whose server confirms a commit. Raises `StoreOutage`.

    The next one is asked after `head_start_s` seconds without an answer. `besides` names a server
    that is not asked, by its IP address (or the folder of its socket) and its port, so that it is
    recognised under any host name.
    """
    answers: SimpleQueue[_Asking] = SimpleQueue()
    asked: list[_Asking] = []
    failed: list[str] = []
    left_s = ASK_S  # how long to go on waiting for an answer
    try:
        while left_s > 0 and len(failed) < len(addresses):
            wait_s = left_s
            if len(asked) < len(addresses):
                asked.append(_Asking(addresses[len(asked)], name, besides, answers))
                wait_s = min(head_start_s, left_s)
            try:
                answer = answers.get(timeout=wait_s)
            except Empty:
                left_s -= wait_s
                continue
            if answer.error is None:
                return answer.address
            failed.append(answer.error)
    finally:
        for one in asked:
            one.end()
    if len(failed) < len(addresses):
        failed.append("no other host of PGS_DATABASE_URL confirms a commit in time")
    raise StoreOutage("; ".join(failed))


class _Asking:
    """Asks one host for a commit, in a thread that puts this object into `answers`.

    `error` says why the host is not the server to use; None if it is.
    """

    def __init__(
        self,
        address: str,
        name: str,
        besides: tuple[str, str] | None,
        answers: SimpleQueue[_Asking],
    ) -> None:
        self.address = address
        self.error: str | None = "its thread has ended"
        self._name = name[:63]
        self._besides = besides
        self._answers = answers
        self._connection: Connection | None = None
        self._ended = False
        self._guard = threading.Lock()  # guards the connection's socket
        threading.Thread(target=self._run, name="pgs-asks", daemon=True).start()

    def _run(self) -> None:
        try:
            self._ask()
            self.error = None
        except (StoreOutage, StatementRefused) as error:
            self.error = str(error)
        finally:
            self._answers.put(self)

    def _ask(self) -> None:
        warnings: list[str] = []
        connection = Connection(connect(self.address, self._name), warnings.append)
        with self._guard:
            self._connection = connection
        try:
            if self._ended:
                raise Lost("another host was found")
            opened = connection.opened
            place = (opened.hostaddr.decode() or opened.host.decode(), opened.port.decode())
            if place == self._besides:  # the same server under another name
                raise Lost("it is the server in use")
            connection.command(_END_OLDER, *literals([self._name, str(LEFT_AFTER_S)]))
            warnings.clear()
            connection.command(_COMMIT)
            if warnings:
                raise Lost(f"the commit was not confirmed: {warnings[0]}")
        finally:
            with self._guard:
                self._connection = None
            connection.close()

    def end(self) -> None:
        """Make the thread end, even while it waits for the server."""
        self._ended = True
        with self._guard:
            if self._connection is not None:
                shut(self._connection)


def shut(connection: Connection) -> None:
    """Shut a connection's socket, from any thread. This ends every wait for the server.

    The caller makes sure that no other thread closes the connection at the same time.
    """
    # Shut only the socket: another thread may be using the rest of the connection.
    with suppress(OSError, Error):
        number = connection.opened.socket
        wire = fromfd(number, AF_UNIX, SOCK_STREAM)  # the shutdown ignores the family
        with wire, suppress(OSError):
            wire.shutdown(SHUT_RDWR)


@contextmanager
def shut_after(connection: Connection, seconds: float) -> Iterator[None]:
    """Shut a connection's socket if the block takes longer; it then raises `Lost`."""
    timer = threading.Timer(seconds, shut, [connection])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
