"""A node's keeper when the server refuses a step, does not answer it or ends its session."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import psycopg
import pytest
import trio
from structlog.testing import capture_logs
from structlog.typing import EventDict

from pgs.domain.leases import HOLD_S, TAKE_S
from pgs.domain.shards import SHARDS
from pgs.storage.postgres import node_looks
from pgs.storage.postgres import shard_keeper as rules
from pgs.storage.postgres.lease import number_of
from pgs.storage.postgres.session import WriterSession
from pgs.storage.postgres.shard_sharing import GIVE_MAX
from tests.journeys.service import until
from tests.postgres import Server
from tests.storage.lease_nodes import LeaseNode, database_of_nodes, lease_node, owner_of_all

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

REFUSE = (
    "create function refuse() returns trigger language plpgsql as "
    "$$ begin raise exception 'refused by the test'; end $$"
)


@pytest.fixture
def url(postgres: Server) -> str:
    return database_of_nodes(postgres)


@pytest.fixture
def operator(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection whose statements stand for what an operator or a fault does."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(REFUSE)
        yield connection


@pytest.fixture
def logs() -> Iterator[list[EventDict]]:
    with capture_logs() as captured:
        yield captured


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the other nodes often, so that a test takes a fraction of a second."""
    monkeypatch.setattr(rules, "LOOK_S", 0.02)
    monkeypatch.setattr(node_looks, "LOOK_S", 0.02)


@contextmanager
def refused(operator: psycopg.Connection[Any], when: str) -> Iterator[None]:
    """Let the server refuse some changes of rows for a block: "update on shard", for one."""
    table = when.split()[-1]
    operator.execute(
        f"create trigger refused before {when} for each row execute function refuse()".encode()
    )
    yield
    operator.execute(f"drop trigger refused on {table}".encode())


async def test_a_node_that_starts_slowly_after_a_crash_keeps_its_session(
    url: str, logs: list[EventDict]
) -> None:
    """Its row still has the last beat of the process that crashed."""
    async with lease_node(url, "n2") as crashed:
        await until(lambda: len(crashed.keeper.owned) == SHARDS)
    await trio.to_thread.run_sync(
        lambda: WriterSession(url, "pgs n2", 9, number_of("n2")).close()  # ends the old session
    )
    starting = await trio.to_thread.run_sync(
        lambda: WriterSession(url, "pgs n2", 10, number_of("n2"))
    )
    try:
        async with owner_of_all(url):
            await trio.sleep(TAKE_S + 0.5)
            ((one,),) = await trio.to_thread.run_sync(starting.connection.command, "select 1")
            assert one == 1
    finally:
        starting.close()
    assert "silent_session_ended" not in {entry["event"] for entry in logs}


async def test_a_node_that_loses_its_session_while_it_waits_for_the_previous_owner_waits_on(
    url: str, operator: psycopg.Connection[Any], logs: list[EventDict]
) -> None:
    async with owner_of_all(url):
        pass  # it crashes, and could still answer from memory
    logs.clear()
    begun = perf_counter()
    async with lease_node(url, "n2") as node:
        await until_told(logs, "shards_taken")
        logs.clear()
        operator.execute(
            "select pg_terminate_backend(pid, 5000) from pg_locks "
            "where locktype = 'advisory' and granted and pid <> pg_backend_pid()"
        )
        await until_told(logs, "shards_taken")
        await until(lambda: any(owned for _, owned in node.samples))
    assert min(at for at, owned in node.samples if owned) >= begun + HOLD_S


async def until_told(logs: list[EventDict], event: str) -> None:
    await until(lambda: event in {entry["event"] for entry in logs})


async def test_a_node_names_itself_as_owner_of_its_shards_and_no_owner_while_it_knows_none(
    url: str,
) -> None:
    node = LeaseNode(url, "n1")
    assert node.keeper.owner_of(0) is None
    async with owner_of_all(url) as node:
        assert node.keeper.owner_of(0) == node.keeper.me


async def test_a_stop_that_the_server_refuses_drops_every_shard(
    url: str, operator: psycopg.Connection[Any]
) -> None:
    async with owner_of_all(url) as node:
        with refused(operator, "update of state on node"):
            await node.keeper.stop()
        assert node.keeper.owned == frozenset()
        assert (node.released, node.drops) == ([], 1)


async def test_the_only_node_keeps_its_shards_while_it_is_drained(
    url: str, operator: psycopg.Connection[Any]
) -> None:
    async with owner_of_all(url) as node:
        operator.execute("update node set state = 'draining'")
        await trio.sleep(0.2)  # several looks
        assert len(node.keeper.owned) == SHARDS
        assert node.released == []


async def test_a_node_whose_beat_gets_no_answer_gives_its_session_up_and_opens_another(
    url: str,
    operator: psycopg.Connection[Any],
    logs: list[EventDict],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules, "BEAT_TIMEOUT_S", 0.2)
    async with owner_of_all(url) as node:
        with operator.transaction():
            operator.execute("select from node for update")
            await until_told(logs, "session_silent")
            assert node.keeper.owned == frozenset()
            assert node.drops >= 1
        await until(lambda: len(node.keeper.owned) == SHARDS)


async def test_a_node_leaves_a_server_that_confirms_no_beat_once_another_takes_writes(
    url: str,
    operator: psycopg.Connection[Any],
    logs: list[EventDict],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules, "LATE_S", 0.1)
    async with owner_of_all(url) as node:
        with operator.transaction():
            operator.execute("select from node for update")
            node.moved = True
            await until_told(logs, "primary_elsewhere")
            assert node.keeper.owned == frozenset()
            assert node.drops >= 1
        ends = {"session_silent", "session_ended", "primary_elsewhere"}
        told = [one["event"] for one in logs if one["event"] in ends]
        assert told[0] == "primary_elsewhere"  # later sessions may end otherwise
        node.moved = False
        await until(lambda: len(node.keeper.owned) == SHARDS)


async def test_a_node_stays_at_a_server_that_confirms_its_beats(
    url: str, operator: psycopg.Connection[Any]
) -> None:
    async with owner_of_all(url) as node:
        node.moved = True
        ((before,),) = operator.execute("select beat from node").fetchall()
        await until(lambda: operator.execute("select beat from node").fetchall() > [(before + 3,)])
        assert node.drops == 0
        assert len(node.keeper.owned) == SHARDS


async def test_shards_that_cannot_be_taken_are_taken_on_a_later_session(
    url: str, operator: psycopg.Connection[Any], logs: list[EventDict]
) -> None:
    async with lease_node(url, "n1") as node:
        with refused(operator, "insert on shard"):
            await until_told(logs, "shards_not_taken")
            assert node.keeper.owned == frozenset()
        await until(lambda: len(node.keeper.owned) == SHARDS)
        assert node.drops >= 1


async def test_shards_that_cannot_be_handed_over_are_given_up_with_the_session(
    url: str, operator: psycopg.Connection[Any], logs: list[EventDict]
) -> None:
    async with owner_of_all(url) as one:
        with refused(operator, "update of state on shard"):
            async with lease_node(url, "n2"):
                await until_told(logs, "shard_not_handed_over")
                assert one.drops >= 1
    free = "select count(*) from shard where state = 'free'"
    assert operator.execute(free.encode()).fetchone() == (0,)


async def test_a_look_that_fails_is_logged_and_repeated_on_a_new_connection(
    url: str, operator: psycopg.Connection[Any], logs: list[EventDict]
) -> None:
    async with owner_of_all(url) as node:
        operator.execute(
            "select pg_terminate_backend(pid, 2000) from pg_stat_activity "
            "where application_name = 'pgs n1 watch'"
        )
        await until_told(logs, "look_failed")
        # It looks again: the next node gets its share.
        async with lease_node(url, "n2"):
            await until(lambda: len(node.keeper.owned) == SHARDS // 2)
        assert node.drops == 0


async def test_a_look_without_an_answer_is_given_up_and_repeated_on_a_new_connection(
    url: str, operator: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_looks, "LOOK_LIMIT_S", 0.1)
    async with owner_of_all(url) as node:
        pids = _watchers(operator)
        with operator.transaction():
            operator.execute("lock table node in access exclusive mode")
            await trio.sleep(0.3)
        await until(lambda: bool(_watchers(operator) - pids))
        async with lease_node(url, "n2"):
            await until(lambda: len(node.keeper.owned) == SHARDS // 2)


def _watchers(operator: psycopg.Connection[Any]) -> set[int]:
    found = operator.execute(
        "select pid from pg_stat_activity where application_name = 'pgs n1 watch'"
    )
    return {int(pid) for (pid,) in found.fetchall()}


async def test_a_shard_that_is_released_after_its_session_has_ended_stays_with_the_next_one(
    url: str, operator: psycopg.Connection[Any]
) -> None:
    async with owner_of_all(url) as node:
        released = trio.Event()
        node.hold = released
        operator.execute(
            "insert into node values ('n2', 2, 'n2:8000', nextval('node_session'), 9, 'up')"
        )
        operator.execute("select pg_advisory_lock(2, 2)")
        await until(lambda: len(node.keeper.owned) == SHARDS - GIVE_MAX)
        operator.execute("select pg_advisory_unlock(2, 2)")
        with refused(operator, "update of beat on node"):
            await until(lambda: node.drops == 1)
        node.hold = None
        released.set()
        await until(lambda: len(node.keeper.owned) == SHARDS)
        assert operator.execute("select count(*) from shard where state = 'free'").fetchone() == (
            0,
        )


async def test_a_node_answers_only_for_shards_whose_locks_it_was_granted(
    url: str, operator: psycopg.Connection[Any], logs: list[EventDict]
) -> None:
    operator.execute("select pg_advisory_lock(1, s) from generate_series(0, 63) s")
    async with lease_node(url, "n1") as node:
        await until_told(logs, "session_opened")
        await trio.sleep(0.1)  # several looks
        assert node.keeper.owned == frozenset()
        operator.execute("select pg_advisory_unlock_all()")
        await until(lambda: len(node.keeper.owned) == SHARDS)
        assert node.drops == 0
