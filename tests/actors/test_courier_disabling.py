"""How an endpoint comes to be switched off and on again, and what that does to nudges on their way."""

from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.maintenance.chores import REPAIR_S
from pgs.actors.messages.account.webhooks import DisableWebhook, RotateWebhookSecret
from pgs.domain.accounts import Webhook
from pgs.domain.members import PLATFORM
from pgs.storage import accounts, webhooks
from tests.actors.endpoints import (
    DOWN,
    GONE,
    OK,
    OTHER,
    URL,
    Answer,
    Endpoints,
    ask,
    events,
    failures,
    log,
    nudge,
    save,
    send_test,
    switch_off,
    webhook,
)
from tests.actors.ready_core import ReadyCore, at, ready_core, until
from tests.virtual import Faults, seed_scheduler

DISABLED = ("platform", {"environment": "test", "consecutiveFailures": 10})


async def fail(s: ReadyCore, times: int) -> None:
    """Let nudges fail one after the other."""
    for _ in range(times):
        nudge(s)
        await trio.sleep(0.01)


async def test_the_tenth_failed_nudge_in_a_row_disables_the_endpoint(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints, counted = Endpoints(GONE), list[str]()
    async with ready_core(tmp_path, outbound=endpoints, on_event=counted.append) as s:
        await save(s)
        await until(100)
        await fail(s, 9)
        assert await webhook(s) == Webhook(URL, True, 9, at(0), at(0), None)
        assert s.account().webhook_on == {"test"}
        await until(200)
        await fail(s, 1)
        assert await webhook(s) == Webhook(URL, False, 10, at(0), at(0), at(200))
        assert s.account().webhook_on == frozenset()
        assert events(s, "webhook.disabled") == [(*DISABLED, at(200))]
        assert await accounts.read_account(s.reader, "acme") == s.account()
        await fail(s, 5)
        await until(400)
        assert len(endpoints.posts) == len(await log(s)) == 10
        assert (await failures(s), len(events(s, "webhook.disabled"))) == (10, 1)
        assert counted.count("webhook_disabled") == 1


async def test_ten_nudges_of_three_tries_each_are_thirty_calls(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(DOWN)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        for number in range(12):
            nudge(s)
            await until(10 * (number + 1))
        assert len(endpoints.posts) == 30
        assert not (await webhook(s)).enabled


async def test_one_landed_nudge_among_them_starts_the_count_anew(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints(*[GONE] * 9, OK, *[GONE] * 9, OK)) as s:
        await save(s)
        await fail(s, 19)
        assert ((await webhook(s)).enabled, await failures(s)) == (True, 9)
        await fail(s, 1)
        assert await failures(s) == 0


async def test_the_endpoints_of_two_environments_count_apart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        await save(s, OTHER, "live")
        await fail(s, 6)
        for _ in range(6):
            nudge(s, environment="live")
            await trio.sleep(0.01)
        assert (await failures(s), await failures(s, "live")) == (6, 6)
        await fail(s, 4)
        assert ((await webhook(s)).enabled, (await webhook(s, "live")).enabled) == (False, True)
        assert s.account().webhook_on == {"live"}


async def test_the_tenth_failure_ends_the_tries_of_what_is_in_flight_and_what_still_arrives_counts_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(*[GONE] * 9, DOWN, Answer(200, 3.0), Answer(404, 3.0), GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        await fail(s, 9)
        for name in ("mat_between_tries", "mat_landing_late", "mat_failing_late", "mat_the_tenth"):
            nudge(s, name)
            await trio.sleep(0.01)
        await until(60)
        assert [attempt.match_id for attempt in (await log(s))[3::-1]] == [
            "mat_between_tries",
            "mat_the_tenth",
            "mat_landing_late",
            "mat_failing_late",
        ]
        assert len(endpoints.posts) == 13
        assert ((await webhook(s)).enabled, await failures(s)) == (False, 10)


async def test_nudges_that_wait_are_dropped_with_the_endpoint(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(Answer(404, 0.5))
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        for _ in range(100):
            nudge(s)
        await until(60)
        assert (
            len(endpoints.posts) == 16
        )  # eight land together, then eight more, two of which are the ninth and tenth failure
        assert ((await webhook(s)).enabled, await failures(s)) == (False, 10)
        await save(s)
        nudge(s)
        await until(120)
        assert len(endpoints.posts) == 17


async def test_a_failure_too_many_is_recorded_with_its_event_or_not_at_all(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, endpoints = Faults(), Endpoints(GONE)
    async with ready_core(tmp_path, outbound=endpoints, faults=faults) as s:
        await save(s)
        await fail(s, 9)
        faults.fail("insert into event")
        await fail(s, 1)
        assert ((await webhook(s)).enabled, await failures(s), (await webhook(s)).disabled_at) == (
            True,
            10,
            None,
        )
        assert s.account().webhook_on == {"test"}
        await fail(s, 3)  # nothing is sent though the row says that it is on
        assert len(endpoints.posts) == 10
        assert (await send_test(s)).reason == "webhook_not_enabled"
        faults.heal()
        nudge(s)  # the next transition brings it up again
        await trio.sleep(0.01)
        assert ((await webhook(s)).enabled, await failures(s)) == (False, 10)
        assert [event[:2] for event in events(s, "webhook.disabled")] == [DISABLED]


@pytest.mark.parametrize("restarts", [True, False])
async def test_a_crash_between_the_count_and_its_consequence_is_made_good_without_a_nudge(
    restarts: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, outbound=Endpoints(GONE), faults=faults) as s:
        await save(s)
        await save(s, OTHER, "live")
        await fail(s, 9)
        faults.fail("insert into event")
        await fail(s, 1)
        faults.heal()
        assert (await webhook(s)).enabled
        if not restarts:
            await until(REPAIR_S + 1)
            assert ((await webhook(s)).enabled, (await webhook(s)).disabled_at) == (
                False,
                at(int(REPAIR_S)),
            )
            assert [event[:2] for event in events(s, "webhook.disabled")] == [DISABLED]
            return
    async with ready_core(tmp_path, outbound=Endpoints(GONE)) as s:
        await trio.sleep(0.01)
        assert ((await webhook(s)).enabled, await failures(s)) == (False, 10)
        assert (await webhook(s)).disabled_at is not None
        assert [event[:2] for event in events(s, "webhook.disabled")] == [DISABLED]
        assert s.account().webhook_on == {"live"}
        assert await failures(s, "live") == 0


async def test_a_run_that_restarts_find_short_of_ten_goes_on_to_ten(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints(GONE)) as s:
        await save(s)
        await fail(s, 9)
    async with ready_core(tmp_path, outbound=Endpoints(GONE)) as s:
        assert ((await webhook(s)).enabled, await failures(s)) == (True, 9)
        await fail(s, 1)
        assert not (await webhook(s)).enabled


# --- saved, switched off, rotated -------------------------------------------------------------------------------------------------


async def test_saving_the_url_again_switches_on_clears_the_run_and_keeps_the_secret(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        secret = await save(s)
        await fail(s, 10)
        await until(50)
        assert await save(s, OTHER) == ""
        assert await webhook(s) == Webhook(OTHER, True, 0, at(0), at(0), None)
        assert s.account().webhook_on == {"test"}
        nudge(s)
        await trio.sleep(0.01)
        assert endpoints.posts[-1].url == OTHER
        assert endpoints.posts[-1].signed_by(secret)
        assert await failures(s) == 1


async def test_saving_the_url_clears_a_run_that_has_disabled_nothing_yet(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints(GONE)) as s:
        await save(s)
        await fail(s, 9)
        await save(s)
        assert await failures(s) == 0
        await fail(s, 9)
        assert ((await webhook(s)).enabled, await failures(s)) == (True, 9)
        await fail(s, 1)
        assert not (await webhook(s)).enabled


@pytest.mark.parametrize("how", ["saved", "switched off", "account off"])
async def test_saving_switching_off_and_an_account_off_end_the_tries_still_due(
    how: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, DOWN, Answer(404, 3.0), Answer(200, 4.0), GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        await fail(s, 1)
        for _ in range(3):  # one between its tries, one that will fail, one that will land
            nudge(s)
        await until(0.5)
        assert len(endpoints.posts) == 4
        if how == "saved":
            await save(s)
        elif how == "switched off":
            await switch_off(s)
        else:
            await s.switch(False)
        await until(60)
        assert len(endpoints.posts) == 4
        assert [attempt.status_code for attempt in await log(s)] == [200, 404, 500, 404]
        assert await failures(s) == (0 if how == "saved" else 1)
        assert (await webhook(s)).disabled_at == (at(0) if how == "switched off" else None)
        if how == "account off":
            await s.switch(True)
        elif how == "switched off":
            await save(s)
        nudge(s)
        await until(61)
        assert len(endpoints.posts) == 5


async def test_an_endpoint_that_its_partner_switched_off_tells_who_and_when(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints(GONE)) as s:
        await save(s)
        await fail(s, 4)
        await until(30)
        await switch_off(s)
        assert await webhook(s) == Webhook(URL, False, 4, at(0), at(0), at(30))
        assert events(s, "webhook.disabled") == [
            ("ops", {"environment": "test", "consecutiveFailures": 4}, at(30))
        ]
        await until(40)
        await switch_off(s)  # again: no change, no second entry
        assert (await webhook(s)).disabled_at == at(30)
        assert len(events(s, "webhook.disabled")) == 1


async def test_rotating_changes_the_secret_alone_and_leaves_a_nudge_under_way_its_bytes(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, DOWN, DOWN, DOWN, OK)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        old = await save(s)
        await fail(s, 1)
        nudge(s)
        await until(2)
        new = (await ask(s, RotateWebhookSecret("ops", "test"))).secret
        assert await webhook(s) == Webhook(URL, True, 1, at(0), at(2), None)
        assert new != old
        assert events(s, "webhook.secret_rotated") == [("ops", {"environment": "test"}, at(2))]
        await until(20)
        assert await failures(s) == 2  # all three tries were made, and counted
        nudge(s)
        await until(21)
        under_way, after = endpoints.posts[1:4], endpoints.posts[4]
        assert len({(post.body, post.signature) for post in under_way}) == 1
        assert under_way[0].signed_by(old)
        assert after.signed_by(new)
        assert not after.signed_by(old)


async def test_rotating_neither_switches_on_nor_clears_a_run(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        await fail(s, 10)
        await ask(s, RotateWebhookSecret("ops", "test"))
        assert ((await webhook(s)).enabled, await failures(s)) == (False, 10)
        await fail(s, 1)
        assert len(endpoints.posts) == 10


async def test_a_nudge_that_waits_is_signed_with_the_secret_of_the_moment_in_which_it_is_sent(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(Answer(200, 2.0))
    async with ready_core(tmp_path, outbound=endpoints) as s:
        old = await save(s)
        for _ in range(9):
            nudge(s)
        await until(1)
        new = (await ask(s, RotateWebhookSecret("ops", "test"))).secret
        await until(10)
        assert [post.signed_by(old) for post in endpoints.posts] == [True] * 8 + [False]
        assert endpoints.posts[8].signed_by(new)


# --- what was decided elsewhere meanwhile -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [GONE, OK])
async def test_a_count_that_comes_after_a_saving_the_courier_has_not_heard_of_changes_nothing(
    late: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, GONE, Answer(late.status, 2.0), GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        await fail(s, 2)
        nudge(s)
        await until(1)
        await s.write_past_the_actors(webhooks.save_url("acme", "test", OTHER))
        await until(3)
        assert (await failures(s), len(await log(s))) == (0, 3)
        await fail(s, 1)
        assert (await failures(s), endpoints.posts[-1].url) == (1, OTHER)


@pytest.mark.parametrize("late", [GONE, OK])
async def test_a_count_that_comes_after_a_disabling_the_courier_has_not_heard_of_changes_nothing(
    late: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, GONE, Answer(late.status, 2.0), GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        await fail(s, 2)
        nudge(s)
        await until(1)
        await s.write_past_the_actors(webhooks.disable("acme", "test", at(1)))
        await until(3)
        assert (await failures(s), len(await log(s))) == (2, 3)
        await fail(s, 1)
        assert len(endpoints.posts) == 3


async def test_a_disabling_for_a_run_that_a_saving_has_cleared_is_left_undone(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints()) as s:
        await save(s)
        await save(s)
        answer = await ask(s, DisableWebhook(PLATFORM, "test", 1))
        assert answer == await webhook(s)
        assert (await webhook(s)).enabled
        assert events(s, "webhook.disabled") == []
        await ask(s, DisableWebhook(PLATFORM, "test", 2))
        assert not (await webhook(s)).enabled


async def test_a_webhook_that_is_not_there_can_be_neither_rotated_nor_switched_off(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints()) as s:
        await save(s, environment="live")
        revision = s.account().revision
        for command in (RotateWebhookSecret("ops", "test"), DisableWebhook("ops", "test")):
            assert (await ask(s, command)).reason == "webhook_not_configured"
        assert s.account().revision == revision


async def test_what_the_registry_shows_as_off_is_sent_nothing_whoever_has_missed_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        s.parts.registry.publish(msgspec.structs.replace(s.account(), webhook_on=frozenset()))
        nudge(s)
        await until(1)
        assert endpoints.posts == []


@pytest.mark.parametrize("seed", range(16))
async def test_a_saving_at_the_moment_of_the_tenth_failure_leaves_the_endpoint_on(
    seed: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    seed_scheduler(seed)
    async with ready_core(tmp_path, outbound=Endpoints(*[GONE] * 9, Answer(404, 1.0), OK)) as s:
        await save(s)
        await fail(s, 9)
        nudge(s)
        began = trio.current_time()
        await trio.sleep_until(began + 1.0)
        for _ in range(
            seed % 4
        ):  # a little before the count, or between the count and what follows on it
            await trio.lowlevel.checkpoint()
        await save(s)
        await trio.sleep(0.1)
        assert ((await webhook(s)).enabled, await failures(s)) == (True, 0)
        assert s.account().webhook_on == {"test"}
