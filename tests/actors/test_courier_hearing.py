"""A courier that could not be told of a change, or that broke, sends nothing that it should not and keeps to its limits."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.delivery.courier import IN_FLIGHT_LIMIT
from pgs.actors.kernel.restarts import RESTART_LIMIT
from pgs.actors.messages.account.webhooks import DisableWebhook, RotateWebhookSecret
from pgs.storage.transactions import Outcome, Tx
from tests.actors.endpoints import (
    OK,
    OTHER,
    URL,
    Answer,
    Endpoints,
    ask,
    failures,
    log,
    nudge,
    save,
)
from tests.actors.ready_core import ReadyCore, ready_core, until
from tests.virtual import Faults


def rest_after_the_next_commit(s: ReadyCore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the partner rest from the moment on in which its account has committed, so that nothing can be told to its couriers."""
    submit = s.parts.database.writer.submit

    async def then_rest(tx: Tx) -> Outcome:
        outcome = await submit(tx)
        monkeypatch.undo()
        for _ in range(RESTART_LIMIT.restarts + 1):
            s.partner().restarts.crashed(trio.current_time())
        return outcome

    monkeypatch.setattr(s.parts.database.writer, "submit", then_rest)


async def test_a_saving_that_a_resting_partner_s_courier_is_not_told_of_counts_with_its_next_nudge(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoints = Endpoints()
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        nudge(s)
        await until(1)
        rest_after_the_next_commit(s, monkeypatch)
        await save(s, OTHER)
        await until(40)
        nudge(s)
        await until(41)
        assert [post.url for post in endpoints.posts] == [URL, OTHER]


async def test_a_rotation_that_a_resting_partner_s_courier_is_not_told_of_signs_its_next_nudge(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoints = Endpoints()
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        nudge(s)
        await until(1)
        rest_after_the_next_commit(s, monkeypatch)
        secret = (await ask(s, RotateWebhookSecret("ops", "test"))).secret
        await until(40)
        nudge(s)
        await until(41)
        assert endpoints.posts[1].signed_by(secret)


@pytest.mark.parametrize(
    "change",
    [lambda s: save(s, OTHER), lambda s: ask(s, DisableWebhook("ops", "test"))],
    ids=["saving", "switching off"],
)
async def test_an_outcome_that_comes_before_the_courier_hears_of_a_change_counts_nothing_and_its_nudge_is_cut(
    change: Callable[[ReadyCore], object],
    tmp_path: Path,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endpoints = Endpoints(Answer(500, 0.5))
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        nudge(s)
        await until(0.2)
        monkeypatch.setattr(
            "pgs.actors.account.actor.AccountActor._tell_couriers", lambda *arguments: None
        )
        await change(s)  # type: ignore[misc]  # each case is a coroutine function
        await until(30)
        assert (len(endpoints.posts), len(await log(s)), await failures(s)) == (1, 1, 0)


async def test_no_more_than_eight_are_in_flight_when_a_courier_has_broken_and_sends_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, endpoints = Faults(), Endpoints(OK, Answer(500, 4.0))
    async with ready_core(tmp_path, outbound=endpoints, faults=faults) as s:
        await save(s)
        for _ in range(9):
            nudge(s)
        faults.fail(
            "commit", sqlite3.OperationalError("disk I/O error")
        )  # an unknown outcome ends this life of the courier
        await until(0.5)
        faults.heal()
        for _ in range(20):
            nudge(s)
        await until(3)
        assert endpoints.most_running == IN_FLIGHT_LIMIT
        await until(4.5)  # those of the earlier life have landed, and make room
        assert endpoints.running == IN_FLIGHT_LIMIT
        endpoints.answers[URL] = [OK]
        await until(60)
        assert endpoints.most_running == IN_FLIGHT_LIMIT
        nudge(s)
        await until(61)
        assert (await log(s))[0].delivered
