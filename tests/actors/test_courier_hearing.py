"""A courier that missed a message about a change, or that broke, still keeps every rule."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.actors.delivery.courier import IN_FLIGHT_LIMIT
from pgs.actors.kernel.mail import Message
from pgs.actors.kernel.ref import Ref
from pgs.actors.messages.account.webhooks import DisableWebhook, RotateWebhookSecret
from pgs.actors.messages.courier import EndpointChanged
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
    rest,
    save,
)
from tests.actors.ready_core import ReadyCore, ready_core, until
from tests.virtual import Faults


def rest_after_the_next_commit(s: ReadyCore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the partner rest once its account has committed, so that its couriers hear nothing."""
    submit = s.parts.database.writer.submit

    async def then_rest(tx: Tx) -> Outcome:
        outcome = await submit(tx)
        monkeypatch.undo()
        rest(s)
        return outcome

    monkeypatch.setattr(s.parts.database.writer, "submit", then_rest)


def drop_endpoint_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lose every message that tells a courier of a change."""
    tell = Ref.tell

    def tell_others(ref: Ref, message: Message) -> bool:
        return isinstance(message, EndpointChanged) or tell(ref, message)

    monkeypatch.setattr(Ref, "tell", tell_others)


async def test_a_courier_that_missed_a_saving_sends_its_next_nudge_to_the_new_url(
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


async def test_a_courier_that_missed_a_rotation_signs_its_next_nudge_with_the_new_secret(
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
async def test_an_outcome_after_a_change_that_the_courier_missed_does_not_count(
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
        drop_endpoint_changes(monkeypatch)
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
        # A commit with an unknown outcome breaks the courier.
        faults.fail("commit", sqlite3.OperationalError("disk I/O error"))
        await until(0.5)
        faults.heal()
        for _ in range(20):
            nudge(s)
        await until(3)
        assert endpoints.most_running == IN_FLIGHT_LIMIT
        await until(4.5)  # the nudges sent before have ended, and their slots are free
        assert endpoints.running == IN_FLIGHT_LIMIT
        endpoints.answers[URL] = [OK]
        await until(60)
        assert endpoints.most_running == IN_FLIGHT_LIMIT
        nudge(s)
        await until(61)
        assert (await log(s))[0].delivered
