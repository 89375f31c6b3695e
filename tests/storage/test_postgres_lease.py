"""The lease of the shards over a real PostgreSQL, with faults."""

import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
import trio

from pgs.domain.leases import Beat
from pgs.domain.shards import SHARDS, Node
from pgs.storage import postgres as room
from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import Connection, Lost, connect
from pgs.storage.postgres.session import WriterSession
from tests.journeys.service import until
from tests.postgres import Server, running_server
from tests.storage.lease_nodes import Claims, LeaseNode, lease_node, overlaps, read_samples

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

PATIENCE_S = 30
ROOT = Path(__file__).parents[2]
TABLES = (Path(room.__file__).parent / "nodes.sql").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL of these tests alone, because one of them crashes it."""
    with running_server() as running:
        yield running


@pytest.fixture
def url(server: Server) -> str:
    """The address of a database with the tables of nodes and shards."""
    address = server.new_database()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(TABLES.encode())
    return address


def session_of(url: str, name: str) -> WriterSession:
    return WriterSession(url, f"pgs {name}", 1, lease.number_of(name))


@pytest.fixture
def sessions(url: str) -> Iterator[Callable[[str], tuple[WriterSession, int]]]:
    """Open sessions by the name of their node; they end with the test."""
    opened = []

    def enter(name: str) -> tuple[WriterSession, int]:
        session = session_of(url, name)
        opened.append(session)
        return session, lease.enter(session, Node(name, f"{name}:8000"))

    yield enter
    for session in opened:
        session.close()


Enter = Callable[[str], tuple[WriterSession, int]]


def take_from_ended(session: WriterSession, name: str, number: int, shard: int) -> Beat | None:
    """Take a shard whose session has ended, as soon as the server has noticed that."""
    give_up_at = time.monotonic() + PATIENCE_S
    while not (taken := lease.take(session, name, number, [shard]).shards):
        assert time.monotonic() < give_up_at
        time.sleep(0.01)
    return taken[shard]


def test_a_session_that_has_ended_is_lost_at_every_use(sessions: Enter) -> None:
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
    assert lease.look(two.connection).owners == {1: "n1", 2: "n1", 3: "n2"}


def test_the_locks_of_a_session_that_ended_are_free_and_its_last_beat_is_told(
    sessions: Enter,
) -> None:
    (one, first), (two, second) = sessions("n1"), sessions("n2")
    lease.take(one, "n1", first, [5])
    assert lease.beat(one, "n1", first) == 2
    one.close()
    last = take_from_ended(two, "n2", second, 5)
    assert last is not None
    assert (last.node, last.session, last.count) == ("n1", first, 2)


def test_a_shard_that_was_handed_over_has_no_last_beat(sessions: Enter) -> None:
    (one, first), (two, second) = sessions("n1"), sessions("n2")
    lease.take(one, "n1", first, [5, 6])
    lease.hand_over(one, "n1", first, [5])
    assert lease.take(two, "n2", second, [5, 6]).shards == {5: None}


def test_a_node_that_has_begun_anew_leaves_no_beat_of_its_session_before(
    sessions: Enter, url: str
) -> None:
    (one, first), (two, second) = sessions("n1"), sessions("n2")
    lease.take(one, "n1", first, [5])
    one.close()
    sessions("n1")
    last = take_from_ended(two, "n2", second, 5)
    assert last is not None
    assert (last.session, last.count) == (first, -1)


def test_a_session_that_gives_up_what_it_does_not_hold_is_lost(sessions: Enter) -> None:
    one, first = sessions("n1")
    lease.take(one, "n1", first, [5])
    lease.hand_over(one, "n1", first, [5])
    with pytest.raises(Lost):
        lease.hand_over(one, "n1", first, [5])


def test_a_session_whose_node_has_a_newer_one_beats_no_more(url: str, sessions: Enter) -> None:
    one, first = sessions("n1")
    sessions("n1")  # ends the one before
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


def test_a_node_that_is_drained_stays_so_in_its_next_session_and_a_stopped_one_does_not(
    sessions: Enter, url: str
) -> None:
    one, _ = sessions("n1")
    states: list[tuple[lease.State, lease.State]] = [("draining", "draining"), ("stopping", "up")]
    for state, then in states:
        assert lease.set_state(one.connection, "n1", state)
        one, _ = sessions("n1")
        assert [seen.state for seen in lease.look(one.connection).nodes] == [then]
    assert not lease.set_state(one.connection, "n9", "up")


# Whole nodes


async def until_shares(nodes: list[LeaseNode], *shares: int) -> None:
    """Wait until the nodes answer for these numbers of shards, in any order."""
    await until(lambda: sorted(len(node.keeper.owned) for node in nodes) == sorted(shares))


def of_process(nodes: list[LeaseNode]) -> Claims:
    return {node.name: node.samples for node in nodes}


def outage_s(claims: Claims) -> float:
    """Return the longest time for which nobody answered for some shard, once all were owned."""
    samples = sorted(sample for listed in claims.values() for sample in listed)
    last: dict[int, float] = {}
    longest = 0.0
    for at, shards in samples:
        for shard in shards:
            longest = max(longest, at - last.get(shard, at))
            last[shard] = at
    return longest


@asynccontextmanager
async def three_nodes(url: str) -> AsyncIterator[list[LeaseNode]]:
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(lease_node(url, f"n{n}")) for n in (1, 2, 3)]
        await until_shares(nodes, 21, 21, 22)
        yield nodes


async def test_nodes_that_join_share_the_shards_and_never_answer_for_the_same_one(
    url: str,
) -> None:
    async with lease_node(url, "n1") as one:
        await until_shares([one], SHARDS)
        async with lease_node(url, "n2") as two:
            await until_shares([one, two], 32, 32)
            assert overlaps(of_process([one, two])) == []
            # What it gave away was released first, and each shard knows its owner at both nodes.
            assert len(one.released) == 32
            [shard, *_] = two.keeper.owned
            await until(lambda: one.keeper.owner_of(shard) == two.keeper.me)


async def test_a_node_that_stops_hands_all_its_shards_over_at_once(url: str) -> None:
    async with three_nodes(url) as nodes:
        first, *others = nodes
        with trio.fail_after(PATIENCE_S):
            await first.keeper.stop()
        assert first.keeper.owned == frozenset()
        await until_shares(others, 32, 32)
        await trio.sleep(0.3)
        assert first.keeper.owned == frozenset()
        assert overlaps(of_process(nodes)) == []


async def test_a_node_that_is_drained_gives_its_shards_up_and_takes_them_again(url: str) -> None:
    async with three_nodes(url) as nodes:
        first, *others = nodes
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("update node set state = 'draining' where name = 'n1'")
            await until_shares(others, 32, 32)
            assert first.keeper.owned == frozenset()
            connection.execute("update node set state = 'up' where name = 'n1'")
        await until_shares(nodes, 21, 21, 22)
        assert overlaps(of_process(nodes)) == []


async def test_a_session_that_the_server_ends_costs_its_node_what_it_knew_and_no_overlap(
    url: str,
) -> None:
    async with three_nodes(url) as nodes:
        first = nodes[0]
        with psycopg.connect(url, autocommit=True) as connection:
            for _ in range(3):
                drops = first.drops
                connection.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where application_name = 'pgs n1'"
                )
                await until(partial(_differs, first, drops))
                await until_shares(nodes, 21, 21, 22)
        assert overlaps(of_process(nodes)) == []


def _differs(node: LeaseNode, drops: int) -> bool:
    return node.drops != drops


async def test_after_a_crash_of_the_server_every_shard_has_one_owner_again(
    server: Server, url: str
) -> None:
    async with three_nodes(url) as nodes:
        await trio.to_thread.run_sync(server.crash)
        await trio.sleep(0.5)
        # Not in a thread: the server ends with the thread that started it.
        server.start()
        await until(lambda: all(node.drops for node in nodes))
        await until_shares(nodes, 21, 21, 22)
        assert overlaps(of_process(nodes)) == []


@asynccontextmanager
async def node_process(url: str, name: str, notes: Path) -> AsyncIterator[trio.Process]:
    """Run a node in a process of its own, until the block ends."""
    command = [sys.executable, "-m", "tests.storage.lease_nodes", url, name, str(notes)]
    async with trio.open_nursery() as nursery:
        process = await nursery.start(partial(trio.run_process, command, cwd=ROOT, check=False))
        yield process
        process.kill()


async def until_held(notes: Path, number: int) -> None:
    """Wait until a node in another process answers for as many shards."""
    await until(lambda: [len(shards) for _, shards in read_samples(notes)[-1:]] == [number])


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_the_shards_of_a_node_that_dies_or_hangs_are_taken_and_a_late_waking_changes_nothing(
    url: str, tmp_path: Path, how: signal.Signals
) -> None:
    notes = tmp_path / "n3"
    async with (
        lease_node(url, "n1") as one,
        lease_node(url, "n2") as two,
        node_process(url, "n3", notes) as process,
    ):
        await until_held(notes, 21)
        await until_shares([one, two], 21, 22)
        process.send_signal(how)
        await until_shares([one, two], 32, 32)  # two observers race for the same shards
        held_before = {shard for _, shards in read_samples(notes)[-1:] for shard in shards}
        assert len(held_before) == 21
        if how == signal.SIGSTOP:
            size = len(read_samples(notes))
            process.send_signal(signal.SIGCONT)
            await until(lambda: len(read_samples(notes)) >= size + 5)
            woken = read_samples(notes)[size:]
            assert woken[0][1] == frozenset()
            await until_held(notes, 21)
        claims = {**of_process([one, two]), "n3": read_samples(notes)}
        assert overlaps(claims) == []
        print(f"{how.name}: nobody answered for a shard for {outage_s(claims):.2f} s at most")


async def test_a_paused_node_that_wakes_while_it_may_still_answer_meets_no_other_owner(
    url: str, tmp_path: Path
) -> None:
    notes = tmp_path / "n3"
    async with lease_node(url, "n1") as one, node_process(url, "n3", notes) as process:
        await until_held(notes, 32)
        process.send_signal(signal.SIGSTOP)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid, 2000) from pg_stat_activity "
                "where application_name = 'pgs n3'"
            )
        # Its locks are free at once, and its memory is good for up to 1.5 s after its last beat.
        await trio.sleep(0.6)
        process.send_signal(signal.SIGCONT)
        await until_held(notes, 0)
        await until_shares([one], 32)
        assert overlaps({"n1": one.samples, "n3": read_samples(notes)}) == []


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
