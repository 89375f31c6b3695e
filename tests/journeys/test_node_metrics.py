"""What an operator sees of shards: the metrics of each node, and the notes of its readiness."""

from pathlib import Path

import msgspec
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from pgs.config import Config
from pgs.domain.shards import SHARDS
from pgs.metrics import Metrics
from pgs.storage.engines import mark_node
from tests.journeys.installation import OneNode, Seeded, node_in_process, settled
from tests.journeys.service import in_process, until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


def of_node(node: OneNode) -> dict[str, float]:
    """Return a node's series about shards, by name."""
    metrics = Metrics()
    metrics.watch(node.service.core, lambda: 0, lambda: 0)
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(metrics.scrape().decode())
        for sample in family.samples
        if sample.name.startswith("pgs_node_")
    }


async def notes_of(node: OneNode) -> dict[str, str]:
    status, told = await node.service.internal.get("/internal/readyz")
    assert status == 200, told
    return dict(msgspec.json.decode(told))


async def test_the_nodes_show_all_shards_between_them_and_what_became_of_a_lost_session(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with node_in_process(seeded, tmp_path, "n1") as one:
        async with node_in_process(seeded, tmp_path, "n2") as two:
            await settled(one, two)
            for node in (one, two):
                shown = of_node(node)
                assert shown["pgs_node_shards"] == SHARDS / 2
                assert 0 <= shown["pgs_node_beat_age_seconds"] < 1.5
                assert shown["pgs_node_sessions_total"] == 1
                assert shown["pgs_node_shards_taken_over_total"] == 0
                assert "node" not in await notes_of(node)
            with psycopg.connect(seeded.url, autocommit=True) as connection:
                connection.execute(
                    "select pg_terminate_backend(l.pid) from pg_locks l "
                    "join node n on n.number = l.objid::bigint and n.name = 'n2' "
                    "where l.locktype = 'advisory' and l.classid = 2"
                )
            await until(lambda: of_node(two)["pgs_node_sessions_total"] == 2)
            await settled(one, two)
        await settled(one)
        shown = of_node(one)
        assert shown["pgs_node_shards"] == SHARDS
        assert shown["pgs_node_others_ended_total"] == 0


async def shards_of(node: OneNode) -> dict[str, float]:
    status, told = await node.service.internal.get("/internal/shards")
    assert status == 200, told
    answer = msgspec.json.decode(told)
    assert answer["node"] == node.name
    return dict(answer["shards"])


async def test_each_node_says_for_which_shards_it_answers_and_since_when(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with node_in_process(seeded, tmp_path, "n1") as one:
        await settled(one)
        first = await shards_of(one)
        assert sorted(map(int, first)) == list(range(SHARDS))
        assert all(seconds >= 0 for seconds in first.values())
        async with node_in_process(seeded, tmp_path, "n2") as two:
            await settled(one, two)
            kept, taken = await shards_of(one), await shards_of(two)
            assert sorted(map(int, kept.keys() | taken.keys())) == list(range(SHARDS))
            assert not kept.keys() & taken.keys()
            # The first node has answered for what it kept since before the second one started.
            assert min(kept.values()) > max(taken.values())


async def test_readiness_says_that_a_node_is_drained(tmp_path: Path, seeded: Seeded) -> None:
    config = Config(database_url=seeded.url)
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(seeded, tmp_path, "n2") as two,
    ):
        await settled(one, two)
        mark_node(config, "n2", draining=True)
        await settled(one)
        assert (await notes_of(two))["node"] == "it is drained: `pgs node undrain n2` ends that"
        assert "node" not in await notes_of(one)
        mark_node(config, "n2", draining=False)
        await settled(one, two)
        assert "node" not in await notes_of(two)


async def test_a_process_that_is_the_only_one_shows_all_shards(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        assert await service.internal.get("/internal/shards") == (
            404,
            b'{"error":"This process is not one of several nodes."}',
        )
        shown = of_node(OneNode("alone", service))
        assert shown == {
            "pgs_node_shards": SHARDS,
            "pgs_node_beat_age_seconds": 0,
            "pgs_node_sessions_total": 0,
            "pgs_node_shards_taken_over_total": 0,
            "pgs_node_others_ended_total": 0,
        }
