"""A node that stops hands every shard over, and is given none, whatever happens meanwhile."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import trio

from pgs.domain.leases import HEARTBEAT_S
from pgs.domain.shards import SHARDS, Node
from pgs.storage.postgres import lease, node_looks, shard_keeper
from pgs.storage.postgres.entering import enter
from pgs.storage.postgres.node_writer import NodeWriter
from pgs.storage.postgres.session import WritingSession
from pgs.storage.postgres.shard_sharing import READY_BEATS
from tests.journeys.service import until
from tests.patience import PATIENCE_S
from tests.postgres import Server
from tests.storage.lease_nodes import LeaseNode, database_of_nodes, lease_node, owner_of_all

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
def url(postgres: Server) -> str:
    return database_of_nodes(postgres)


@pytest.fixture
def operator(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection whose statements stand for what an operator does."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the other nodes often, so that a test takes a fraction of a second."""
    monkeypatch.setattr(node_looks, "LOOK_S", 0.02)


async def test_a_node_without_a_session_stops_at_once(url: str) -> None:
    node = LeaseNode(url, "n1")
    with trio.fail_after(PATIENCE_S):
        await node.keeper.stop()
    assert (node.released, node.drops) == ([], 0)


async def test_a_drained_node_without_shards_stops_at_once_and_stays_drained(
    url: str, operator: psycopg.Connection[Any]
) -> None:
    async with owner_of_all(url) as one:
        operator.execute("update node set state = 'draining' where name = 'n1'")
        async with owner_of_all(url, "n2"):
            with trio.fail_after(PATIENCE_S):
                await one.keeper.stop()
    assert operator.execute("select state from node where name = 'n1'").fetchone() == ("draining",)


async def test_a_node_that_is_undrained_while_it_stops_is_given_no_shards(
    url: str, operator: psycopg.Connection[Any]
) -> None:
    async with owner_of_all(url) as one, lease_node(url, "n2") as two:
        operator.execute("update node set state = 'draining' where name = 'n2'")
        await until(lambda: two.keeper.me in running(one))
        await two.keeper.stop()
        operator.execute("update node set state = 'up' where name = 'n2'")
        await trio.sleep(READY_BEATS * HEARTBEAT_S + 0.2)  # several looks at enough beats
        assert len(one.keeper.owned) == SHARDS
        assert one.released == []


async def test_a_node_that_opens_its_session_while_it_stops_is_given_no_shards(
    url: str, operator: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, go_on = trio.Event(), trio.Event()

    async def enter_late(line: lease.WriterLine, me: Node) -> tuple[WritingSession, int]:
        entered = await enter(line, me)
        if me.name == "n2":
            opened.set()
            await go_on.wait()
        return entered

    monkeypatch.setattr(shard_keeper, "enter", enter_late)
    async with owner_of_all(url) as one, lease_node(url, "n2") as two:
        await opened.wait()
        await two.keeper.stop()
        go_on.set()
        await trio.sleep(READY_BEATS * HEARTBEAT_S + 0.2)
        assert two.keeper.me in running(one)
        assert len(one.keeper.owned) == SHARDS
        assert one.released == []


def running(node: LeaseNode) -> tuple[Node, ...]:
    return node.keeper.running or ()


async def test_a_stop_hands_over_the_shards_too_that_the_node_was_just_taking(
    url: str, operator: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, go_on, run = trio.Event(), trio.Event(), NodeWriter.run

    async def tell_late(line: NodeWriter, *what: Any) -> Any:
        result = await run(line, *what)
        if isinstance(result, lease.GrantedShards):
            taken.set()
            await go_on.wait()
        return result

    monkeypatch.setattr(NodeWriter, "run", tell_late)
    state = "select state = 'stopping' from node"
    async with lease_node(url, "n1") as node, trio.open_nursery() as nursery:
        await taken.wait()
        nursery.start_soon(node.keeper.stop)
        await until(lambda: operator.execute(state).fetchone() == (True,))
        go_on.set()
    rows = operator.execute("select state, count(*) from shard group by state").fetchall()
    assert rows == [("free", SHARDS)]
