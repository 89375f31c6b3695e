"""How many nudges are in flight, what happens to more, and how a courier recovers from faults."""

import sqlite3
from collections import Counter
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.delivery.courier import IN_FLIGHT_LIMIT, WAITING_LIMIT
from pgs.storage.transactions import Outcome, Tx, WriterFull
from tests.actors.endpoints import (
    DOWN,
    GONE,
    HUNG,
    OK,
    OTHER,
    URL,
    Answer,
    Endpoints,
    failures,
    log,
    nudge,
    rest,
    save,
    webhook,
)
from tests.actors.ready_core import ReadyCore, ready_core, until
from tests.virtual import Faults


async def test_at_most_eight_are_in_flight_and_the_next_begins_when_one_ends(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(
        *[Answer(200, 1.0 + 0.1 * number) for number in range(8)], Answer(200, 1.0)
    )
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        for number in range(11):
            nudge(s, f"mat_{number}")
        await until(60)
        assert endpoints.most_running == IN_FLIGHT_LIMIT == 8
        assert endpoints.times == [0.0] * 8 + [1.0, 1.1, 1.2]
        assert {attempt.match_id for attempt in await log(s)} == {
            f"mat_{number}" for number in range(11)
        }
        assert [attempt.match_id for attempt in (await log(s))[2::-1]] == [
            "mat_8",
            "mat_9",
            "mat_10",
        ]  # the oldest first


async def test_a_nudge_between_two_tries_counts_as_in_flight(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(*[DOWN] * 8, OK)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        for _ in range(9):
            nudge(s)
        await until(0.9)
        assert len(endpoints.posts) == 8
        await until(1.1)
        assert len(endpoints.posts) == 17


async def test_environments_and_partners_have_eight_each(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(HUNG)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await s.open_partner("zebra")
        await save(s)
        await save(s, environment="live")
        await save(s, partner="zebra")
        for _ in range(20):
            nudge(s)
            nudge(s, environment="live")
            nudge(s, partner="zebra")
        await until(1)
        assert endpoints.running == 24


async def test_beyond_256_waiting_nudges_a_further_one_merges_with_the_newest(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints, counted = Endpoints(Answer(200, 0.1)), Counter[str]()
    async with ready_core(
        tmp_path, outbound=endpoints, on_event=lambda name: counted.update([name])
    ) as s:
        await save(s)
        for number in range(IN_FLIGHT_LIMIT + WAITING_LIMIT + 50):
            nudge(s, f"mat_{number}")
        await until(60)
        assert WAITING_LIMIT == 256
        assert counted["nudge_merged"] == 50
        assert len(endpoints.posts) == 264
        matches = {attempt.match_id for attempt in await log(s)}
        assert matches == {*(f"mat_{number}" for number in range(263)), "mat_313"}
        assert len({attempt.nudge_id for attempt in await log(s)}) == 264
        nudge(s, "mat_later")
        await until(61)
        assert (await log(s))[0].match_id == "mat_later"
        assert counted["nudge_merged"] == 50


async def test_a_hung_endpoint_of_hundreds_of_nudges_is_disabled_after_its_first_ten(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(HUNG)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        for _ in range(300):
            nudge(s)
        await until(120)
        assert ((await webhook(s)).enabled, await failures(s)) == (False, 10)
        assert endpoints.most_running == 8
        assert len(endpoints.posts) <= 48
        assert len(await log(s)) == len(endpoints.posts)


# --- faults ---------------------------------------------------------------------------------------


async def works_again(s: ReadyCore, endpoints: Endpoints) -> None:
    """Check that eight nudges at once are sent, logged and counted."""
    endpoints.broken = None
    endpoints.answers.clear()
    endpoints.answers[URL] = [GONE]
    before, logged, sent = await failures(s), len(await log(s)), len(endpoints.posts)
    for _ in range(8):
        nudge(s)
    await trio.sleep(0.1)
    assert (len(endpoints.posts) - sent, len(await log(s)) - logged) == (8, 8)
    assert await failures(s) == min(before + 8, 10)


async def test_an_error_of_our_own_loses_the_nudge_without_counting_and_frees_its_slot(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints, counted = Endpoints(), Counter[str]()
    async with ready_core(
        tmp_path, outbound=endpoints, on_event=lambda name: counted.update([name])
    ) as s:
        await save(s)
        endpoints.broken = ValueError("a fault of ours")
        for _ in range(20):
            nudge(s)
        await until(10)
        assert counted["delivery_broke"] == 20
        assert (await failures(s), await log(s)) == (0, [])
        await works_again(s, endpoints)


async def test_a_try_that_cannot_be_logged_still_frees_its_slot(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, endpoints, counted = Faults(), Endpoints(DOWN), Counter[str]()
    async with ready_core(
        tmp_path, outbound=endpoints, faults=faults, on_event=lambda name: counted.update([name])
    ) as s:
        await save(s)
        faults.fail("insert into attempt")
        for _ in range(20):
            nudge(s)
        await until(60)
        assert len(endpoints.posts) == 60
        assert (counted["attempt_not_logged"], await log(s), await failures(s)) == (60, [], 0)
        faults.heal()
        await works_again(s, endpoints)


@pytest.mark.parametrize("text", ["commit", "insert into attempt"])
async def test_a_courier_that_breaks_makes_no_further_try_of_the_nudges_it_had_sent(
    text: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, endpoints = Faults(), Endpoints(Answer(500, 0.5))
    async with ready_core(tmp_path, outbound=endpoints, faults=faults) as s:
        await save(s)
        for _ in range(12):
            nudge(s)
        # A commit with an unknown outcome, and a bug: both break the courier.
        faults.fail(
            text,
            sqlite3.OperationalError("disk I/O error")
            if text == "commit"
            else sqlite3.ProgrammingError("a bug"),
        )
        await until(0.7)
        faults.heal()
        await until(40)  # after bugs the partner rests
        assert len(endpoints.posts) == 8  # no second tries, and the waiting nudges are lost
        assert await failures(s) == 0
        await works_again(s, endpoints)


async def test_outcomes_wait_while_the_partner_rests_and_count_afterwards(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, GONE, Answer(404, 2.0), OK)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        for _ in range(3):
            nudge(s)
            await trio.sleep(0.01)
        await until(1)
        rest(s)
        await until(30)
        assert await failures(s) == 2
        await until(33)
        assert await failures(s) == 3
        assert len(await log(s)) == 3


async def test_an_outcome_that_the_full_writer_refused_is_handed_in_again_and_counts(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoints = Endpoints(GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        submit, refused = s.parts.database.writer.submit, list[Tx]()

        async def full_at_first(tx: Tx) -> Outcome:
            if len(refused) < 3:
                refused.append(tx)
                raise WriterFull("too many writes wait")
            return await submit(tx)

        monkeypatch.setattr(s.parts.database.writer, "submit", full_at_first)
        nudge(s)
        await until(10)
        assert len(refused) == 3
        assert (await failures(s), len(await log(s)), len(endpoints.posts)) == (1, 1, 1)


async def test_a_partner_that_rests_delays_no_other_partners_nudges(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await s.open_partner("zebra")
        await save(s)
        await save(s, OTHER, partner="zebra")
        rest(s)
        nudge(s, partner="zebra")
        await trio.sleep(0.01)
        assert [post.url for post in endpoints.posts] == [OTHER]


async def test_a_courier_that_was_closed_while_idle_reads_its_endpoint_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        secret = await save(s)
        nudge(s)
        await until(1000)
        assert not s.parts.system.cells  # every actor has been closed
        nudge(s)
        await until(1001)
        assert (await failures(s), len(await log(s))) == (2, 2)
        assert endpoints.posts[1].signed_by(secret)
