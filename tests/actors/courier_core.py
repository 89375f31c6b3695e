"""A core that sends its nudges to a test's endpoints, and shortcuts for tests of couriers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from pgs.actors.kernel.restarts import RESTART_LIMIT
from pgs.actors.messages.account.webhooks import DisableWebhook, SaveWebhook, WebhookSaved
from pgs.actors.messages.courier import Nudge, Resend, SendTest
from pgs.actors.ports import NudgePort
from pgs.domain.accounts import Webhook
from pgs.domain.environments import Environment
from pgs.storage import attempts as log_rows
from pgs.storage.attempts import Attempt
from pgs.storage.columns import NEWEST
from pgs.storage.webhooks import find_webhook
from tests.actors.endpoints import URL
from tests.actors.people import ask
from tests.actors.ready_core import ReadyCore, ready_core


class CourierCore(ReadyCore):
    """A core, and shortcuts for webhooks. Without arguments they mean acme's endpoint in test."""

    async def save_webhook(
        self, url: str = URL, environment: Environment = "test", partner: str = "acme"
    ) -> str:
        """Save a webhook; return the secret if one was minted, else an empty text."""
        reply = await ask(self, SaveWebhook("ops", environment, url), partner)
        assert isinstance(reply, WebhookSaved), reply
        return reply.secret or ""

    async def switch_off_webhook(self, environment: Environment = "test") -> None:
        assert isinstance(await ask(self, DisableWebhook("ops", environment)), Webhook)

    def nudge(
        self,
        match_id: str = "mat_1",
        environment: Environment = "test",
        partner: str = "acme",
        *,
        times: int = 1,
    ) -> None:
        """Tell a courier, `times` times at once, that a match has something new."""
        for _ in range(times):
            assert self.partner(partner).courier(environment).tell(Nudge(match_id))

    async def fail_nudges(self, times: int) -> None:
        """Let nudges fail one after the other, at an endpoint that refuses them for good."""
        for _ in range(times):
            self.nudge()
            await trio.sleep(0.01)

    async def send_test(self, environment: Environment = "test", partner: str = "acme") -> Any:
        """Return the courier's reply to the command to send a test event."""
        return await self.partner(partner).courier(environment).ask(SendTest())

    async def resend(self, match_id: str = "mat_1") -> Any:
        """Return the courier's reply to the command to send a nudge about a match again."""
        return await self.partner().courier("test").ask(Resend(match_id))

    async def webhook(self, environment: Environment = "test", partner: str = "acme") -> Webhook:
        """Return an endpoint's current row."""
        found = await find_webhook(self.reader, partner, environment)
        assert found is not None
        return found

    async def failures(self, environment: Environment = "test", partner: str = "acme") -> int:
        """Return an endpoint's run of failures."""
        return (await self.webhook(environment, partner)).consecutive_failures

    async def attempts(
        self, environment: Environment = "test", partner: str = "acme"
    ) -> list[Attempt]:
        """Return the whole attempt log, the newest first."""
        return await log_rows.attempts_before(self.reader, partner, environment, NEWEST, 0, 10_000)

    def degrade_partner(self) -> None:
        """Let the partner be degraded, as after too many crashes of its actors."""
        for _ in range(RESTART_LIMIT.restarts + 1):
            self.partner().restarts.crashed(trio.current_time())


@asynccontextmanager
async def courier_core(
    folder: Path, outbound: NudgePort, **options: Any
) -> AsyncIterator[CourierCore]:
    """Open a core that sends its nudges through `outbound`. `options`: those of `ready_core`."""
    async with ready_core(folder, outbound=outbound, **options) as s:
        yield CourierCore(s.core)


@asynccontextmanager
async def core_with_endpoint(
    folder: Path, outbound: NudgePort, **options: Any
) -> AsyncIterator[CourierCore]:
    """Open a core like `courier_core`, and save acme's webhook for test."""
    async with courier_core(folder, outbound, **options) as s:
        await s.save_webhook()
        yield s
