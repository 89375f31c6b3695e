"""The lease of the shards over a real PostgreSQL, with faults."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pgs.domain.leases import Beat, Last
from pgs.domain.shards import Node
from pgs.storage import migrations
from pgs.storage.postgres import lease
from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import Connection, Lost
from pgs.storage.postgres.nodes import mark
from pgs.storage.postgres.session import WriterSession
from tests.postgres import Server
from tests.storage.lease_nodes import database_of_nodes
from tests.storage.polling import until_now

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
TABLES = (migrations.POSTGRES / "0003_nodes.sql").read_text(encoding="utf-8")


@pytest.fixture
def url(postgres: Server) -> str:
    """The address of a database with the tables of nodes and shards."""
    return database_of_nodes(postgres)


def session_of(url: str, name: str) -> WriterSession:
    return WriterSession(url, f"pgs {name}", 1, lease.number_of(name))


@pytest.fixture
def sessions(url: str) -> Iterator[Callable[[str], tuple[WriterSession, int]]]:
    """Return a function that opens a session of a named node; all end with the test."""
    opened = []

    def enter(name: str) -> tuple[WriterSession, int]:
        session = session_of(url, name)
        opened.append(session)
        return session, lease.enter(session, Node(name, f"{name}:8000"))

    yield enter
    for session in opened:
        session.close()


Enter = Callable[[str], tuple[WriterSession, int]]


def take_from_ended(session: WriterSession, name: str, number: int, shard: int) -> Last | None:
    """Take a shard whose session has ended, as soon as the server has noticed that."""
    taken: dict[int, Last | None] = {}

    def is_taken() -> bool:
        taken.update(lease.take(session, name, number, [shard]).shards)
        return bool(taken)

    until_now(is_taken)
    return taken[shard]


def test_every_use_of_a_session_that_has_ended_raises_lost(sessions: Enter) -> None:
    (one, first), (two, _) = sessions("n1"), sessions("n2")
    seen, _ = lease.look(two.connection).nodes
    lease.end_session(two.connection, seen)
    for _ in range(3):
        with pytest.raises(Lost):
            lease.beat(one, "n1", first)


def test_a_shard_is_locked_by_one_session_alone(sessions: Enter) -> None:
    (one, first), (two, second) = sessions("n1"), sessions("n2")
    assert lease.take(one, "n1", first, [1, 2]).shards == {1: None, 2: None}
    assert list(lease.take(two, "n2", second, [1, 2, 3]).shards) == [3]
    seen = lease.look(two.connection)
    assert seen.owners == {1: "n1", 2: "n1", 3: "n2"}
    assert seen.epochs == {1: 1, 2: 1, 3: 1}


def test_the_locks_of_a_session_that_ended_are_free_and_its_last_beat_is_told(
    sessions: Enter,
) -> None:
    (one, first), (two, second) = sessions("n1"), sessions("n2")
    lease.take(one, "n1", first, [5])
    assert lease.beat(one, "n1", first) == 2
    one.close()
    last = take_from_ended(two, "n2", second, 5)
    assert last is not None
    assert (last.beat, last.epoch) == (Beat("n1", first, 2), 1)
    assert lease.look(two.connection).epochs == {5: 2}


def test_a_shard_that_was_handed_over_has_no_last_beat(sessions: Enter) -> None:
    (one, first), (two, second) = sessions("n1"), sessions("n2")
    lease.take(one, "n1", first, [5, 6])
    lease.hand_over(one, "n1", first, [5])
    assert lease.take(two, "n2", second, [5, 6]).shards == {5: None}


def test_the_last_beat_of_a_session_is_unknown_once_its_node_has_a_newer_session(
    sessions: Enter, url: str
) -> None:
    (one, first), (two, second) = sessions("n1"), sessions("n2")
    lease.take(one, "n1", first, [5])
    one.close()
    sessions("n1")
    last = take_from_ended(two, "n2", second, 5)
    assert last is not None
    assert (last.beat.session, last.beat.count) == (first, -1)


def test_a_session_that_gives_up_what_it_does_not_hold_is_lost(sessions: Enter) -> None:
    one, first = sessions("n1")
    lease.take(one, "n1", first, [5])
    lease.hand_over(one, "n1", first, [5])
    with pytest.raises(Lost):
        lease.hand_over(one, "n1", first, [5])


def test_a_session_whose_node_has_a_newer_one_can_make_no_beat(url: str, sessions: Enter) -> None:
    one, first = sessions("n1")
    sessions("n1")  # ends the previous one
    with pytest.raises(Lost):
        lease.beat(one, "n1", first)


def test_a_session_is_ended_only_while_it_is_the_one_that_was_seen(sessions: Enter) -> None:
    (_, _), (two, _) = sessions("n1"), sessions("n2")
    [seen, _] = lease.look(two.connection).nodes
    sessions("n1")  # a new process of that node, with a session of its own
    assert lease.end_session(two.connection, seen) is False
    [again, _] = lease.look(two.connection).nodes
    assert again.pid != seen.pid
    assert lease.end_session(two.connection, again) is True
    [gone, _] = lease.look(two.connection).nodes
    assert gone.pid is None


def test_no_session_ends_itself(sessions: Enter) -> None:
    one, _ = sessions("n1")
    [seen] = lease.look(one.connection).nodes
    assert lease.end_session(one.connection, seen) is False


def test_a_node_that_is_drained_stays_so_when_it_stops_and_starts_and_another_does_not(
    sessions: Enter, url: str
) -> None:
    for draining, then in ((False, "up"), (True, "draining")):
        one, _ = sessions("n1")
        mark(url, "n1", draining=draining)
        lease.stop(one, "n1")
        assert states_of(one) == ["stopping"]
        one, _ = sessions("n1")
        assert states_of(one) == [then]


def test_a_drained_node_that_stops_is_stopping_whatever_an_operator_says_until_its_session_ends(
    sessions: Enter, url: str
) -> None:
    (one, _), (two, _) = sessions("n1"), sessions("n2")
    mark(url, "n1", draining=True)
    lease.stop(one, "n1")
    for draining in (False, True, False):
        seen = mark(url, "n1", draining=draining).find("n1")
        assert seen is not None
        assert (seen.state, seen.running) == ("stopping", True)
    one.close()
    until_now(lambda: states_of(two) == ["up", "up"])


def states_of(session: WriterSession) -> list[lease.State]:
    return [seen.state for seen in lease.look(session.connection).nodes]


def test_a_lock_belongs_to_its_session_and_not_to_the_address(url: str) -> None:
    session = session_of(url, "n1")
    other = Connection(connect(url, "other"), lambda _: None)
    try:
        number = lease.enter(session, Node("n1", "n1:8000"))
        lease.take(session, "n1", number, [1])
        ((free,),) = other.command("select pg_try_advisory_lock(1, 1)")
        assert not free
    finally:
        other.close()
        session.close()
