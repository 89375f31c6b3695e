"""A courier that missed a message about a change, or that broke, still keeps every rule."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from trio.testing import MockClock

from pgs.actors.delivery.courier import IN_FLIGHT_LIMIT
from pgs.actors.kernel.mail import Command, Message
from pgs.actors.kernel.ref import Ref
from pgs.actors.messages.account.webhooks import DisableWebhook, RotateWebhookSecret, SaveWebhook
from pgs.actors.messages.courier import EndpointChanged
from pgs.storage.transactions import Outcome, Tx
from tests.actors.courier_core import CourierCore, core_with_endpoint, courier_core
from tests.actors.endpoints import OK, OTHER, URL, Answer, Endpoints
from tests.actors.people import ask
from tests.actors.ready_core import until
from tests.virtual import Faults


def degrade_after_the_next_commit(s: CourierCore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Degrade the partner once its account has committed, so that its couriers miss the change."""
    submit = s.parts.database.writer.submit

    async def then_rest(tx: Tx) -> Outcome:
        outcome = await submit(tx)
        monkeypatch.undo()
        s.degrade_partner()
        return outcome

    monkeypatch.setattr(s.parts.database.writer, "submit", then_rest)


def drop_endpoint_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lose every message that tells a courier of a change."""
    tell = Ref.tell

    def tell_others(ref: Ref, message: Message) -> bool:
        return isinstance(message, EndpointChanged) or tell(ref, message)

    monkeypatch.setattr(Ref, "tell", tell_others)


async def nudge_around_a_missed_change(
    s: CourierCore, change: Command[Any], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Send a nudge before and one after a change that the courier misses; return its reply."""
    await s.save_webhook()
    s.nudge()
    await until(1)
    degrade_after_the_next_commit(s, monkeypatch)
    reply = await ask(s, change)
    await until(40)
    s.nudge()
    await until(41)
    return reply


async def test_a_courier_that_missed_a_saving_sends_its_next_nudge_to_the_new_url(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoints = Endpoints()
    async with courier_core(tmp_path, endpoints) as s:
        await nudge_around_a_missed_change(s, SaveWebhook("ops", "test", OTHER), monkeypatch)
        assert [post.url for post in endpoints.posts] == [URL, OTHER]


async def test_a_courier_that_missed_a_rotation_signs_its_next_nudge_with_the_new_secret(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoints = Endpoints()
    async with courier_core(tmp_path, endpoints) as s:
        rotation = RotateWebhookSecret("ops", "test")
        rotated = await nudge_around_a_missed_change(s, rotation, monkeypatch)
        assert endpoints.posts[1].signed_by(rotated.secret)


@pytest.mark.parametrize(
    "change",
    [SaveWebhook("ops", "test", OTHER), DisableWebhook("ops", "test")],
    ids=["saving", "switching off"],
)
async def test_an_outcome_after_a_change_that_the_courier_missed_does_not_count(
    change: Command[Any],
    tmp_path: Path,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endpoints = Endpoints(Answer(500, 0.5))
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge()
        await until(0.2)
        drop_endpoint_changes(monkeypatch)
        await ask(s, change)
        await until(30)
        assert (len(endpoints.posts), len(await s.attempts()), await s.failures()) == (1, 1, 0)


async def test_no_more_than_eight_are_in_flight_when_a_courier_has_broken_and_sends_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, endpoints = Faults(), Endpoints(OK, Answer(500, 4.0))
    async with core_with_endpoint(tmp_path, endpoints, faults=faults) as s:
        s.nudge(times=9)
        # A commit with an unknown outcome breaks the courier.
        faults.fail("commit", apsw.IOError("disk I/O error"))
        await until(0.5)
        faults.heal()
        s.nudge(times=20)
        await until(3)
        assert endpoints.most_running == IN_FLIGHT_LIMIT
        await until(4.5)  # the nudges sent before have ended, and their slots are free
        assert endpoints.running == IN_FLIGHT_LIMIT
        endpoints.answers[URL] = [OK]
        await until(60)
        assert endpoints.most_running == IN_FLIGHT_LIMIT
        s.nudge()
        await until(61)
        assert (await s.attempts())[0].delivered
