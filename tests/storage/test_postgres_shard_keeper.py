"""Nodes that keep shards over a real PostgreSQL, with faults."""

import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
import trio

from pgs.domain.shards import SHARDS
from pgs.storage.postgres import shard_sharing
from pgs.storage.postgres.shard_sharing import GIVE_MAX
from tests.journeys.service import until
from tests.patience import PATIENCE_S
from tests.postgres import Server, running_server
from tests.storage.lease_nodes import (
    Claims,
    LeaseNode,
    database_of_nodes,
    lease_node,
    overlaps,
    read_samples,
)

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL server for these tests alone, because one of them crashes it."""
    with running_server() as running:
        yield running


@pytest.fixture
def url(server: Server) -> str:
    """The address of a database with the tables of nodes and shards."""
    return database_of_nodes(server)


async def until_shares(nodes: list[LeaseNode], *shares: int) -> None:
    """Wait until the nodes answer for these numbers of shards, in any order."""
    await until(lambda: sorted(len(node.keeper.owned) for node in nodes) == sorted(shares))


def of_process(nodes: list[LeaseNode]) -> Claims:
    return {node.name: node.samples for node in nodes}


def outage_s(claims: Claims) -> float:
    """Return the longest time without an answer for a shard, after the first answer for it."""
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
            # The shards that it gave away were released first, and both nodes know every owner.
            assert len(one.released) == 32
            [shard, *_] = two.keeper.owned
            await until(lambda: one.keeper.owner_of(shard) == two.keeper.me)


async def test_a_node_gives_few_shards_up_at_once_when_another_joins(url: str) -> None:
    async with lease_node(url, "n1") as one:
        await until_shares([one], SHARDS)
        one.hold = trio.Event()
        async with lease_node(url, "n2") as two:
            await until(lambda: len(one.keeper.owned) < SHARDS)
            await trio.sleep(1)
            assert (len(one.keeper.owned), len(two.keeper.owned)) == (SHARDS - GIVE_MAX, 0)
            one.hold.set()
            await until_shares([one, two], SHARDS // 2, SHARDS // 2)
            assert len(one.released) == SHARDS // 2  # none moved twice


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


async def test_a_node_whose_session_the_server_ends_drops_its_memory_and_no_two_answer(
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


async def test_after_a_crash_of_the_server_each_node_has_its_former_shards_again(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However late a node comes back, nobody takes its shards meanwhile.
    monkeypatch.setattr(shard_sharing, "RETURN_S", PATIENCE_S)
    async with three_nodes(url) as nodes:
        before = {node.name: node.keeper.owned for node in nodes}
        await until(lambda: all(_knows(node, before) for node in nodes))
        drops = [node.drops for node in nodes]
        await trio.to_thread.run_sync(server.crash)
        server.start()
        await until(lambda: all(map(_differs, nodes, drops)))
        await until_shares(nodes, 21, 21, 22)
        assert {node.name: node.keeper.owned for node in nodes} == before
        assert overlaps(of_process(nodes)) == []


def _knows(node: LeaseNode, owners: Mapping[str, frozenset[int]]) -> bool:
    """Return whether a node knows these owners."""
    found = {
        shard: owner.name
        for shard in range(SHARDS)
        if (owner := node.keeper.owner_of(shard)) is not None
    }
    return found == {shard: name for name, shards in owners.items() for shard in shards}


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


async def until_shared_among_three(two: list[LeaseNode], notes: Path) -> None:
    """Wait until two nodes and one in another process answer for all shards, in even shares.

    Which of them has one shard more depends on who was late on a busy machine.
    """

    def shares() -> list[int]:
        there = [len(shards) for _, shards in read_samples(notes)[-1:]]
        return sorted([*there, *(len(node.keeper.owned) for node in two)])

    await until(lambda: shares() == [21, 21, 22])


def samples_since(time_s: float, notes: Path) -> list[tuple[float, frozenset[int]]]:
    """Return the samples that a node in another process took after a time of `perf_counter`."""
    return [(at, shards) for at, shards in read_samples(notes) if at > time_s]


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
        await until_shared_among_three([one, two], notes)
        process.send_signal(how)
        await until_shares([one, two], 32, 32)  # two observers race for the same shards
        if how == signal.SIGSTOP:
            woken_at = time.perf_counter()
            process.send_signal(signal.SIGCONT)
            # It may only now write down a note that it took before it was stopped.
            await until(lambda: len(samples_since(woken_at, notes)) >= 5)
            assert samples_since(woken_at, notes)[0][1] == frozenset()
            await until_shared_among_three([one, two], notes)
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
        # Its locks are free at once, but it may answer from memory until 1.5 s after its last beat.
        await trio.sleep(0.6)
        process.send_signal(signal.SIGCONT)
        await until_held(notes, 0)
        await until_shares([one], 32)
        assert overlaps({"n1": one.samples, "n3": read_samples(notes)}) == []
