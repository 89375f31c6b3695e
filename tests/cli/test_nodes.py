"""`pgs node`: what it shows of nodes that run, stop and crash, and how it drains one."""

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import psycopg
import pytest
import trio

from pgs.domain.shards import SHARDS
from tests.cli.support import pgs, process
from tests.journeys.service import until
from tests.postgres import Server
from tests.storage.lease_nodes import LeaseNode, database_of_nodes, lease_node


@pytest.fixture
def url(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a database with the tables of nodes; the commands find it in a setting."""
    address = database_of_nodes(postgres)
    monkeypatch.setenv("PGS_DATABASE_URL", address)
    return address


@asynccontextmanager
async def running(url: str, *names: str) -> AsyncIterator[dict[str, LeaseNode]]:
    """Run nodes for a block, which begins once they have shared all shards out."""
    async with AsyncExitStack() as stack:
        nodes = {name: await stack.enter_async_context(lease_node(url, name)) for name in names}

        async def shared() -> bool:
            counts = [len(node.keeper.owned) for node in nodes.values()]
            return sum(counts) == SHARDS and max(counts) - min(counts) <= 1

        await until(shared)
        yield nodes


async def run(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own: the nodes of this one write to its output."""
    return await trio.to_thread.run_sync(lambda: process("node", *arguments, PGS_DATABASE_URL=url))


async def call(url: str, *arguments: str) -> Any:
    """Return the JSON answer of a command."""
    done = await run(url, *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


async def counts(url: str) -> dict[str, int]:
    return {node["name"]: len(node["shards"]) for node in (await call(url, "list"))["nodes"]}


def test_without_postgresql_there_are_no_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGS_DATABASE_URL", raising=False)
    for arguments in (["list"], ["drain", "a"], ["undrain", "a"], ["remove", "a"]):
        refused = pgs("node", *arguments)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "there is no PGS_DATABASE_URL" in refused.stderr


def test_a_server_that_is_not_there_is_an_error_of_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGS_DATABASE_URL", "postgresql://127.0.0.1:1/pgs")
    refused = pgs("node", "list")
    assert refused.exit_code == 1
    assert "the database cannot be reached" in refused.stderr


@pytest.mark.postgres
@pytest.mark.slow
def test_a_database_that_no_service_has_opened_has_no_nodes(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGS_DATABASE_URL", postgres.new_database())
    refused = pgs("node", "list")
    assert refused.exit_code == 1
    assert "no node has started on this database yet" in refused.stderr


@pytest.mark.postgres
@pytest.mark.slow
async def test_the_list_shows_what_runs_and_what_each_node_owns(url: str) -> None:
    async with running(url, "a", "b"):
        seen = await call(url, "list")
        assert seen["ownerless"] == 0
        assert [(n["name"], n["address"], n["state"], n["running"]) for n in seen["nodes"]] == [
            ("a", "a:8000", "up", True),
            ("b", "b:8000", "up", True),
        ]
        shards = [shard for node in seen["nodes"] for shard in node["shards"]]
        assert sorted(shards) == list(range(SHARDS))
        shown = (await run(url, "list")).stdout
        assert "Nodes: 2" in shown
        assert "no owner" not in shown

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        )
    assert not any(node["running"] for node in (await call(url, "list"))["nodes"])
    shown = (await run(url, "list")).stdout
    assert "down" in shown
    assert f"{SHARDS} shards have no owner" in shown


@pytest.mark.postgres
@pytest.mark.slow
async def test_a_drained_node_owns_nothing_until_it_is_undrained(url: str) -> None:
    async with running(url, "a", "b", "c") as nodes:
        drained = await call(url, "drain", "b")
        assert {n["name"]: n["state"] for n in drained["nodes"]}["b"] == "draining"
        assert (await counts(url))["b"] == 0
        assert len(set(nodes["b"].released)) >= SHARDS // 3  # each was handed over, not lost
        assert nodes["b"].drops == 0
        await call(url, "drain", "b")  # again: nothing is left to do
        await call(url, "undrain", "b")

        async def shared() -> bool:
            return sorted((await counts(url)).values()) == [21, 21, 22]

        await until(shared)


@pytest.mark.postgres
@pytest.mark.slow
async def test_the_only_node_keeps_its_shards_and_the_command_says_so(url: str) -> None:
    async with running(url, "a") as nodes:
        refused = await run(url, "drain", "a", "--wait", "1")
        assert refused.returncode == 1
        assert f"node a still owns {SHARDS} shards" in refused.stderr
        assert len(nodes["a"].keeper.owned) == SHARDS
        at_once = await run(url, "drain", "a", "--wait", "0")
        assert at_once.returncode == 0
        assert f"owns {SHARDS} shards" in at_once.stdout
        async with lease_node(url, "b") as other:

            async def taken() -> bool:
                return len(other.keeper.owned) == SHARDS

            await until(taken)  # the mark stayed


@pytest.mark.postgres
@pytest.mark.slow
async def test_a_node_that_never_started_is_unknown_and_one_that_stops_is_left_alone(
    url: str,
) -> None:
    async with running(url, "a", "b") as nodes:
        for verb in ("drain", "undrain"):
            refused = await run(url, verb, "nobody")
            assert refused.returncode == 1
            assert "there is no node nobody" in refused.stderr
        await nodes["b"].keeper.stop()
        refused = await run(url, "undrain", "b")
        assert refused.returncode == 1
        assert "node b is stopping" in refused.stderr


@pytest.mark.postgres
@pytest.mark.slow
async def test_a_node_that_does_not_run_is_removed_and_may_come_back(url: str) -> None:
    async with running(url, "a", "b"):
        refused = await run(url, "remove", "b")
        assert refused.returncode == 1
        assert "node b runs" in refused.stderr
        unknown = await run(url, "remove", "nobody")
        assert unknown.returncode == 1
        assert "there is no node nobody" in unknown.stderr
        assert set(await counts(url)) == {"a", "b"}
    async with running(url, "a"):
        left = await call(url, "remove", "b")
        assert [(n["name"], len(n["shards"])) for n in left["nodes"]] == [("a", SHARDS)]
        assert "there is no node b" in (await run(url, "remove", "b")).stderr
        async with lease_node(url, "b") as back:
            await until(lambda: len(back.keeper.owned) == SHARDS // 2)
            assert set(await counts(url)) == {"a", "b"}
    assert "Node a is removed." in (await run(url, "remove", "a")).stdout


@pytest.mark.postgres
@pytest.mark.slow
async def test_shards_of_a_node_that_was_removed_before_anybody_took_them_are_taken(
    url: str,
) -> None:
    async with running(url, "b"):
        pass
    await call(url, "remove", "b")
    async with running(url, "a"):  # owns all of them
        assert await counts(url) == {"a": SHARDS}
