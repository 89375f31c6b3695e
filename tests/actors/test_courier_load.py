"""How many nudges are in flight, what happens to more, and how a courier recovers from faults."""

from collections import Counter
from pathlib import Path

import apsw
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.delivery.courier import IN_FLIGHT_LIMIT, WAITING_LIMIT
from pgs.storage.transactions import Outcome, Tx, WriterFull
from tests.actors.courier_core import CourierCore, core_with_endpoint, courier_core
from tests.actors.endpoints import DOWN, GONE, HUNG, OK, OTHER, URL, Answer, Endpoints
from tests.actors.ready_core import until
from tests.virtual import Faults


async def test_at_most_eight_are_in_flight_and_the_next_begins_when_one_ends(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(
        *[Answer(200, 1.0 + 0.1 * number) for number in range(8)], Answer(200, 1.0)
    )
    async with core_with_endpoint(tmp_path, endpoints) as s:
        for number in range(11):
            s.nudge(f"mat_{number}")
        await until(60)
        assert endpoints.most_running == IN_FLIGHT_LIMIT == 8
        assert endpoints.times == [0.0] * 8 + [1.0, 1.1, 1.2]
        assert {attempt.match_id for attempt in await s.attempts()} == {
            f"mat_{number}" for number in range(11)
        }
        assert [attempt.match_id for attempt in (await s.attempts())[2::-1]] == [
            "mat_8",
            "mat_9",
            "mat_10",
        ]  # the oldest first


async def test_a_nudge_between_two_tries_counts_as_in_flight(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(*[DOWN] * 8, OK)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge(times=9)
        await until(0.9)
        assert len(endpoints.posts) == 8
        await until(1.1)
        assert len(endpoints.posts) == 17


async def test_environments_and_partners_have_eight_each(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(HUNG)
    async with courier_core(tmp_path, endpoints) as s:
        await s.open_partner("zebra")
        await s.save_webhook()
        await s.save_webhook(environment="live")
        await s.save_webhook(partner="zebra")
        for _ in range(20):
            s.nudge()
            s.nudge(environment="live")
            s.nudge(partner="zebra")
        await until(1)
        assert endpoints.running == 24


async def test_beyond_256_waiting_nudges_a_further_one_merges_with_the_newest(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints, counted = Endpoints(Answer(200, 0.1)), Counter[str]()
    async with courier_core(tmp_path, endpoints, on_event=lambda name: counted.update([name])) as s:
        await s.save_webhook()
        for number in range(IN_FLIGHT_LIMIT + WAITING_LIMIT + 50):
            s.nudge(f"mat_{number}")
        await until(60)
        assert WAITING_LIMIT == 256
        assert counted["nudge_merged"] == 50
        assert len(endpoints.posts) == 264
        matches = {attempt.match_id for attempt in await s.attempts()}
        assert matches == {*(f"mat_{number}" for number in range(263)), "mat_313"}
        assert len({attempt.nudge_id for attempt in await s.attempts()}) == 264
        s.nudge("mat_later")
        await until(61)
        assert (await s.attempts())[0].match_id == "mat_later"
        assert counted["nudge_merged"] == 50


async def test_a_hung_endpoint_of_hundreds_of_nudges_is_disabled_after_its_first_ten(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(HUNG)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge(times=300)
        await until(120)
        assert ((await s.webhook()).enabled, await s.failures()) == (False, 10)
        assert endpoints.most_running == 8
        assert len(endpoints.posts) <= 48
        assert len(await s.attempts()) == len(endpoints.posts)


# --- faults ---------------------------------------------------------------------------------------


async def works_again(s: CourierCore, endpoints: Endpoints) -> None:
    """Check that eight nudges at once are sent, logged and counted."""
    endpoints.broken = None
    endpoints.answers.clear()
    endpoints.answers[URL] = [GONE]
    before, logged, sent = await s.failures(), len(await s.attempts()), len(endpoints.posts)
    s.nudge(times=8)
    await trio.sleep(0.1)
    assert (len(endpoints.posts) - sent, len(await s.attempts()) - logged) == (8, 8)
    assert await s.failures() == min(before + 8, 10)


async def test_an_error_of_our_own_loses_the_nudge_without_counting_it_and_frees_its_slot(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints, counted = Endpoints(), Counter[str]()
    async with courier_core(tmp_path, endpoints, on_event=lambda name: counted.update([name])) as s:
        await s.save_webhook()
        endpoints.broken = ValueError("a fault of ours")
        s.nudge(times=20)
        await until(10)
        assert counted["delivery_broke"] == 20
        assert (await s.failures(), await s.attempts()) == (0, [])
        await works_again(s, endpoints)


async def test_a_try_that_cannot_be_logged_still_frees_its_slot(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, endpoints, counted = Faults(), Endpoints(DOWN), Counter[str]()
    async with courier_core(
        tmp_path, endpoints, faults=faults, on_event=lambda name: counted.update([name])
    ) as s:
        await s.save_webhook()
        faults.fail("insert into attempt")
        s.nudge(times=20)
        await until(60)
        assert len(endpoints.posts) == 60
        assert (counted["attempt_not_logged"], await s.attempts(), await s.failures()) == (
            60,
            [],
            0,
        )
        faults.heal()
        await works_again(s, endpoints)


@pytest.mark.parametrize("text", ["commit", "insert into attempt"])
async def test_a_courier_that_breaks_makes_no_further_try_of_the_nudges_in_flight(
    text: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, endpoints = Faults(), Endpoints(Answer(500, 0.5))
    async with core_with_endpoint(tmp_path, endpoints, faults=faults) as s:
        s.nudge(times=12)
        # A commit with an unknown outcome, and a bug: both break the courier.
        faults.fail(
            text,
            apsw.IOError("disk I/O error") if text == "commit" else apsw.MisuseError("a bug"),
        )
        await until(0.7)
        faults.heal()
        await until(40)  # after bugs the partner is degraded
        assert len(endpoints.posts) == 8  # no second tries, and the waiting nudges are lost
        assert await s.failures() == 0
        await works_again(s, endpoints)


async def test_outcomes_wait_while_the_partner_is_degraded_and_count_afterwards(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, GONE, Answer(404, 2.0), OK)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        for _ in range(3):
            s.nudge()
            await trio.sleep(0.01)
        await until(1)
        s.degrade_partner()
        await until(30)
        assert await s.failures() == 2
        await until(33)
        assert await s.failures() == 3
        assert len(await s.attempts()) == 3


async def test_an_outcome_that_the_full_writer_refused_is_handed_in_again_and_counts(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoints = Endpoints(GONE)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        submit, refused = s.parts.database.writer.submit, list[Tx]()

        async def full_at_first(tx: Tx) -> Outcome:
            if len(refused) < 3:
                refused.append(tx)
                raise WriterFull("too many writes wait")
            return await submit(tx)

        monkeypatch.setattr(s.parts.database.writer, "submit", full_at_first)
        s.nudge()
        await until(10)
        assert len(refused) == 3
        assert (await s.failures(), len(await s.attempts()), len(endpoints.posts)) == (1, 1, 1)


async def test_a_degraded_partner_delays_no_other_partners_nudges(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with courier_core(tmp_path, endpoints) as s:
        await s.open_partner("zebra")
        await s.save_webhook()
        await s.save_webhook(OTHER, partner="zebra")
        s.degrade_partner()
        s.nudge(partner="zebra")
        await trio.sleep(0.01)
        assert [post.url for post in endpoints.posts] == [OTHER]


async def test_a_courier_that_was_closed_while_idle_reads_its_endpoint_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with courier_core(tmp_path, endpoints) as s:
        secret = await s.save_webhook()
        s.nudge()
        await until(1000)
        assert not s.parts.system.cells  # every actor has been closed
        s.nudge()
        await until(1001)
        assert (await s.failures(), len(await s.attempts())) == (2, 2)
        assert endpoints.posts[1].signed_by(secret)
