"""Chores of webhook endpoints: the attempt log is kept for exactly thirty days."""

from collections import Counter
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.maintenance.chores import PRUNE_S
from pgs.actors.maintenance.webhooks import PAGE, prune_attempts
from pgs.actors.partners import PartnerDirectory
from pgs.app import MAKERS
from pgs.domain.environments import Environment
from pgs.domain.nudges import KEEP_ATTEMPTS_S
from pgs.domain.shards import shard_of
from pgs.storage import attempts as rows
from pgs.storage.attempts import Attempt
from pgs.storage.columns import NEWEST
from pgs.storage.transactions import Tx
from tests.actors.courier_core import core_with_endpoint, courier_core
from tests.actors.endpoints import Endpoints
from tests.actors.ready_core import ReadyCore, ready_core, until
from tests.virtual import START, Faults

OLD = START - KEEP_ATTEMPTS_S


async def write(
    s: ReadyCore, times: list[int], partner: str = "acme", environment: Environment = "test"
) -> None:
    """Log tries made at these times, in this order."""
    for begin in range(0, len(times), 1000):
        stmts = tuple(
            rows.insert_attempt(
                partner,
                environment,
                Attempt(seq, f"att_{seq}", "ndg_1", at, 1, True, 200, 5, "", "mat_1", False, None),
            )
            for seq, at in enumerate(times[begin : begin + 1000], begin + 1)
        )
        await s.parts.database.writer.submit(Tx(partner, stmts))


async def left(s: ReadyCore, partner: str = "acme", environment: Environment = "test") -> list[int]:
    """Return the sequences that are still in rows."""
    return [
        attempt.seq
        for attempt in await rows.attempts_before(s.reader, partner, environment, NEWEST, 0, 10_000)
    ][::-1]


def test_the_log_is_kept_for_thirty_days() -> None:
    assert KEEP_ATTEMPTS_S == 30 * 86_400


async def test_tries_are_deleted_after_thirty_days_and_not_before(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        times = [OLD - 86_400, OLD - 1, OLD, OLD + 1, START - 5]
        await write(s, times)
        since = OLD
        shown = [
            a.seq for a in await rows.attempts_before(s.reader, "acme", "test", NEWEST, since, 10)
        ]
        assert shown == [5, 4]  # reads are exact, whether or not the rows have gone
        await prune_attempts(s.parts, s.core.directory)
        assert await left(s) == [4, 5]
        await until(1)
        await prune_attempts(s.parts, s.core.directory)
        assert await left(s) == [5]


async def test_old_tries_are_deleted_in_pages_for_each_partner_and_environment(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        await write(s, [OLD - 4000 + number for number in range(1600)] + [START] * 3)
        await write(s, [OLD - 4000 + number for number in range(700)] + [START], environment="live")
        await write(s, [OLD - 9000, START], partner="zebra")
        await write(s, [START - 1], partner="young")
        written: list[Tx] = []
        submit = s.parts.database.writer.submit

        async def watched(tx: Tx) -> object:
            written.append(tx)
            before = len(await left(s))
            outcome = await submit(tx)
            assert before - len(await left(s)) <= PAGE
            return outcome

        monkeypatch.setattr(s.parts.database.writer, "submit", watched)
        await prune_attempts(s.parts, s.core.directory)
        assert await left(s) == [1601, 1602, 1603]
        assert await left(s, environment="live") == [701]
        assert await left(s, "zebra") == [2]
        assert await left(s, "young") == [1]
        assert all(stmt.named["partner_id"] == tx.partner_id for tx in written for stmt in tx.stmts)
        assert {tx.partner_id for tx in written} == {"acme", "zebra"}


async def test_pruning_on_one_of_several_nodes_leaves_the_partners_of_others_and_ends(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("zebra")
        # More than a page of another node's rows are older than all of this one's.
        await write(s, [OLD - 9000] * (PAGE + 1), partner="zebra")
        await write(s, [OLD - 4000 + number for number in range(2 * PAGE + 1)] + [START])
        await write(s, [OLD - 1, OLD, OLD + 1], environment="live")
        shards = {shard_of("acme")}
        assert shard_of("zebra") not in shards
        directory = PartnerDirectory(
            s.parts, MAKERS, s.core.directory.admission, shards.__contains__
        )
        with trio.fail_after(60):
            await prune_attempts(s.parts, directory)
        assert await left(s) == [2 * PAGE + 2]
        assert await left(s, environment="live") == [3]
        assert len(await left(s, "zebra")) == PAGE + 1


@pytest.mark.usefixtures("rare_chores")
async def test_old_tries_are_deleted_every_hour_and_a_broken_disk_does_not_end_that_chore(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, counted = Faults(), Counter[str]()
    async with ready_core(
        tmp_path, faults=faults, on_event=lambda name: counted.update([name])
    ) as s:
        await until(1)
        await write(s, [OLD - 5, OLD + 1800, OLD + 5400, START])
        await until(PRUNE_S - 1)
        assert await left(s) == [1, 2, 3, 4]
        await until(PRUNE_S + 1)
        assert await left(s) == [3, 4]
        faults.fail("delete from attempt")
        await until(2 * PRUNE_S + 1)
        assert (await left(s), counted["pruning_failed"]) == ([3, 4], 1)
        faults.heal()
        await until(3 * PRUNE_S + 1)
        assert await left(s) == [4]


async def test_a_start_deletes_tries_that_grew_old_while_the_service_was_down(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await trio.sleep(0.01)
        await write(s, [OLD - 5, START])
    async with ready_core(tmp_path) as s:
        await trio.sleep(0.01)
        assert await left(s) == [2]


async def test_a_courier_continues_its_numbers_in_the_log_after_all_old_tries_were_deleted(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with courier_core(tmp_path, Endpoints()) as s:
        await trio.sleep(0.01)
        await s.save_webhook()
        s.nudge()
        await trio.sleep(0.01)
        await s.write_without_the_actors(
            rows.delete_old_attempts("acme", "test", NEWEST, START + 9)
        )
        assert await s.attempts() == []
        s.nudge()
        await trio.sleep(0.01)
        assert [attempt.seq for attempt in await s.attempts()] == [2]


async def test_an_endpoint_short_of_ten_failures_is_left_alone(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints()) as s:
        await until(600)
        assert s.parts.system.cells == set()  # its courier was not woken
