"""Opens connections to PostgreSQL. Other threads run while a connection is being opened.

libpq's own call that connects would keep the interpreter's lock until the server has answered. If a
server accepted the connection and then sent nothing, the event loop would stop.
"""

from __future__ import annotations

import select
from socket import SOCK_STREAM, getaddrinfo
from time import monotonic  # noqa: TID251  this thread has no event loop to wait with
from typing import Final

from psycopg import Error, conninfo, pq

from pgs.storage.transactions import StoreOutage

CONNECT_S: Final = 2
"""Seconds that a connection may take to open, for each IP address of the host."""

SILENT_S: Final = 3
"""Seconds after which a connection is given up if the other side does not confirm what was sent:
less than the 5 s for which a caller of an actor waits."""

IDLE_IN_TRANSACTION_S: Final = 3
"""Seconds after which the server ends a session that has begun a transaction and sends no more. Its
locks would stop every other session that writes the same rows."""

STATEMENT_S: Final = 5
"""Seconds that a statement of the writer or of a call may take. The longest takes milliseconds."""

_SETTINGS: Final = {
    "client_encoding": "UTF8",
    "idle_session_timeout": "0",
    "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_S}s",
}

_WAITS: Final = {
    pq.PollingStatus.READING: select.POLLIN,
    pq.PollingStatus.WRITING: select.POLLOUT,
}


def connect(url: str, name: str, **settings: str) -> pq.abc.PGconn:
    """Return a connection to the server of `url` that takes writes. Blocks the caller's thread.

    `url` names one host, or none for the server on this machine. The server lists the session under
    `name`. `settings` are settings of the server for this session. Raises `StoreOutage`.
    """
    ours = _SETTINGS | {"statement_timeout": f"{STATEMENT_S}s"} | settings
    options = " ".join(f"-c {key}={value}" for key, value in ours.items())
    try:
        info = conninfo.make_conninfo(
            url,
            application_name=name,
            # A standby would refuse the writer's statements, and may lack the newest commits.
            target_session_attrs="primary",
            keepalives_idle=1,
            keepalives_interval=1,
            keepalives_count=SILENT_S,
            tcp_user_timeout=SILENT_S * 1000,
            options=options,
        )
        attempts = _attempts(info)
    except Error as error:
        raise StoreOutage(f"PGS_DATABASE_URL: {error}") from error
    failed: list[str] = []
    for attempt in attempts:
        opened = pq.PGconn.connect_start(attempt.encode())
        try:
            why = _open(opened)
        except Error as error:
            why = str(error)
        except BaseException:
            opened.finish()
            raise
        if why is None:
            return opened
        opened.finish()
        failed.append(why)
    raise StoreOutage(f"the database cannot be reached: {'; '.join(failed)}")


def _attempts(info: str) -> list[str]:
    """Return a connection string for each IP address of the host.

    If libpq looked the name up itself, it would keep the interpreter's lock meanwhile. Raises
    psycopg's `Error` and `StoreOutage`.
    """
    told = conninfo.conninfo_to_dict(info)
    host = str(told.get("host") or "")
    if not host or host[0] in "/@" or "," in host or told.get("hostaddr"):
        return [info]
    return [conninfo.make_conninfo(info, hostaddr=address) for address in look_up(host)]


def look_up(host: str) -> list[str]:
    """Return the IP addresses of a name, each once. Raises `StoreOutage`."""
    try:
        found = getaddrinfo(host, None, type=SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # UnicodeError: the name has an empty or long part
        raise StoreOutage(f"the database cannot be reached: {host}: {error}") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _open(opened: pq.abc.PGconn) -> str | None:
    """Drive a connection until it is open; return why it cannot be opened, None if it is."""
    give_up_at = monotonic() + CONNECT_S
    while opened.status != pq.ConnStatus.BAD:
        status = opened.connect_poll()
        if status == pq.PollingStatus.OK:
            return None
        if status == pq.PollingStatus.FAILED:
            break
        left_s = give_up_at - monotonic()
        wait = select.poll()
        wait.register(opened.socket, _WAITS[pq.PollingStatus(status)])
        if left_s <= 0 or not wait.poll(left_s * 1000):
            where = opened.host.decode() or "the server"
            return f"{where} has not answered within {CONNECT_S} s"
    return opened.get_error_message().strip() or "the connection failed"
