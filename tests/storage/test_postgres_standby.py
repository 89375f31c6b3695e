"""A commit whose wait for a standby was cancelled is not taken for committed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from pgs.domain.shards import Node
from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import Lost
from pgs.storage.postgres.session import WriterSession
from tests import postgres
from tests.storage.lease_nodes import database_of_nodes
from tests.storage.polling import until_now

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

WAITING = "select pid from pg_stat_activity where wait_event = 'SyncRep'"
CANCEL = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch) -> Iterator[psycopg.Connection]:
    """A connection to a server of its own, which can be told to wait for a standby."""
    for name, value in (("wal_level", "replica"), ("max_wal_senders", "2")):
        monkeypatch.setitem(postgres.OPTIONS, name, value)
    with (
        postgres.running_server() as server,
        psycopg.connect(database_of_nodes(server), autocommit=True) as connection,
    ):
        yield connection


def test_a_commit_whose_wait_for_the_standby_was_cancelled_is_taken_for_lost(
    operator: psycopg.Connection,
) -> None:
    info = operator.info
    url = f"postgresql://pgs@/{info.dbname}?host={info.host}"
    session = WriterSession(url, "pgs n1", 1, lease.number_of("n1"))
    try:
        number = lease.enter(session, Node("n1", "n1:8000"))
        operator.execute("alter system set synchronous_standby_names = 'nowhere'")
        operator.execute("select pg_reload_conf()")
        until_now(
            lambda: session.connection.command("show synchronous_standby_names") == [("nowhere",)]
        )
        with ThreadPoolExecutor(1) as thread:
            beats = [thread.submit(lease.beat, session, "n1", number)]

            def is_waiting() -> bool:
                # The server begins to wait for standbys a moment after it has read its settings.
                if beats[-1].done():
                    beats.append(thread.submit(lease.beat, session, "n1", number))
                return operator.execute(WAITING).fetchone() is not None

            until_now(is_waiting)
            operator.execute(CANCEL)
            with pytest.raises(Lost, match="not confirmed"):
                beats[-1].result()
        # Every beat is in the row, though no standby has it. The count began at 1.
        assert operator.execute("select beat from node").fetchone() == (1 + len(beats),)
    finally:
        session.close()
