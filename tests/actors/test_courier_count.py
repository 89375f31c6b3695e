"""The run of failures after any mixture of outcomes equals the count of a separate model."""

from pathlib import Path
from random import Random

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.webhooks import RotateWebhookSecret
from pgs.domain import nudges
from pgs.domain.nudges import FAILURES_TO_DISABLE, TRY_AT_S, TryOutcome
from tests.actors.account_changes import events_of
from tests.actors.courier_core import courier_core
from tests.actors.endpoints import OTHER, URL, Answer, Endpoints
from tests.actors.people import ask
from tests.virtual import seed_scheduler

STATUSES = (None, 404, 410, 500, 503, 302)


class Model(Endpoints):
    """Endpoints that compute the expected run of failures from their answers and the test's acts.

    No two things happen at the same moment in a test, so that there is one order of completion.
    """

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.random = random
        self.failing = 0.9
        self.run, self.enabled, self.disablings = 0, False, 0
        self.cut: set[object] = set()
        self.open: dict[object, int] = {}  # nudges in flight, and their tries so far

    async def post(self, url: str, body: bytes, headers: object) -> TryOutcome:
        me = trio.lowlevel.current_task()
        assert me not in self.cut, "a try after the cut"
        assert self.enabled
        self.open[me] = self.open.get(me, 0) + 1
        status = self.random.choice(STATUSES) if self.random.random() < self.failing else 200
        self.answers[url] = [
            Answer(
                status, 0.001 + self.random.random() * (5 if self.random.random() < 0.2 else 0.5)
            )
        ]
        outcome = await super().post(url, body, headers)  # type: ignore[arg-type]  # passed on
        verdict = nudges.verdict(outcome)
        if verdict != "retry" or self.open[me] == len(TRY_AT_S):
            del self.open[me]
            if me not in self.cut:
                self.completed(verdict == "delivered")
        return outcome

    def completed(self, delivered: bool) -> None:
        self.run = 0 if delivered else self.run + 1
        if self.run == FAILURES_TO_DISABLE:
            self.enabled = False
            self.disablings += 1
            self.cut_all()

    def cut_all(self) -> None:
        self.cut |= self.open.keys()


@pytest.mark.parametrize("seed", range(6))
async def test_the_count_equals_the_failures_since_the_last_delivery_or_saving(
    seed: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    seed_scheduler(seed)
    random = Random(seed)
    model = Model(random)
    async with courier_core(tmp_path, model, seed=seed) as s:
        await s.save_webhook()
        model.enabled, seen = True, set[int]()
        for _ in range(250):
            await trio.sleep(random.random() * 1.5)
            act = random.random()
            if act < 0.80:
                s.nudge()
            elif act < 0.815 and model.enabled:
                await s.switch_off_webhook()
                model.enabled = False
                model.disablings += 1
                model.cut_all()
            elif act < 0.85 and (not model.enabled or act < 0.82):
                await s.save_webhook(random.choice((URL, OTHER)))
                model.enabled, model.run = True, 0
                model.cut_all()
            elif act < 0.89:
                await ask(s, RotateWebhookSecret("ops", "test"))
            elif act < 0.91:
                await s.switch(False)
                model.cut_all()
                await s.switch(True)
            else:
                model.failing = random.choice((0.5, 0.97, 1.0))
            await trio.testing.wait_all_tasks_blocked(0.0002)
            assert ((await s.webhook()).consecutive_failures, (await s.webhook()).enabled) == (
                model.run,
                model.enabled,
            )
            seen.add(model.run)
        await trio.sleep(60)
        assert ((await s.webhook()).consecutive_failures, (await s.webhook()).enabled) == (
            model.run,
            model.enabled,
        )
        assert len(events_of(s, "webhook.disabled")) == model.disablings
        assert len(await s.attempts()) == len(model.posts)
        assert len(seen) > 6, seen  # the runs were of many lengths
        assert model.cut  # and some nudges were cut
