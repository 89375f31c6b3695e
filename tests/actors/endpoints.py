"""Partners' webhook endpoints that answer as a test says, and shortcuts for tests."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import msgspec
import trio

from pgs.actors.kernel.mail import Command
from pgs.actors.kernel.restarts import RESTART_LIMIT
from pgs.actors.messages.account.webhooks import DisableWebhook, SaveWebhook, WebhookSaved
from pgs.actors.messages.courier import (
    Nudge,
    SendTest,
)
from pgs.domain.accounts import Webhook
from pgs.domain.environments import Environment
from pgs.domain.nudges import SIGNATURE_HEADER, TryOutcome, verify_signature
from pgs.storage import attempts as log_rows
from pgs.storage.attempts import NEWEST, Attempt
from pgs.storage.webhooks import find_webhook
from tests.actors.ready_core import ReadyCore

URL = "https://hooks.acme-games.com/pgs?x=1"
OTHER = "https://hooks.acme-games.com/other"


class Answer(msgspec.Struct, frozen=True):
    """An endpoint's response, and the seconds until it comes. `status` None: no response came."""

    status: int | None
    after_s: float = 0.0
    text: str = ""


OK, GONE, DOWN = Answer(200), Answer(404), Answer(500)
HUNG = Answer(None, 5.0)
FOR_EVER = Answer(None, 1e9)


class Post(msgspec.Struct, frozen=True):
    """One try as it was sent. `nudge` is the same object for all tries of one nudge."""

    at: float
    url: str
    body: bytes
    signature: str
    nudge: object

    def signed_by(self, secret: str) -> bool:
        """Return whether it is signed with that secret, at the time in its body."""
        at = msgspec.json.decode(self.body)["at"]
        assert self.signature.startswith(f"t={at},")
        return verify_signature(secret, self.signature, self.body, at)


class Endpoints:
    """All partners' endpoints.

    Each URL has a list of answers. They are given in order, and the last one repeats.
    """

    def __init__(self, *answers: Answer) -> None:
        self.answers: dict[str, list[Answer]] = defaultdict(lambda: list(answers) or [OK])
        self.posts: list[Post] = []
        self.broken: Exception | None = None
        self.running = 0
        self.most_running = 0
        self.ended: list[tuple[float, object, int | None]] = []  # time, nudge, status

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> TryOutcome:
        """Return the next answer of the URL, after the seconds that it takes."""
        assert list(headers) == [SIGNATURE_HEADER]
        nudge = trio.lowlevel.current_task()
        self.posts.append(Post(trio.current_time(), url, body, headers[SIGNATURE_HEADER], nudge))
        if self.broken is not None:
            raise self.broken
        answers = self.answers[url]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await trio.sleep(answer.after_s)
        finally:
            self.running -= 1
        self.ended.append((trio.current_time(), nudge, answer.status))
        error = "no response within 5 seconds" if answer.status is None else None
        return TryOutcome(answer.status, error, round(answer.after_s * 1000), answer.text)

    @property
    def times(self) -> list[float]:
        """When each try began, in seconds rounded to milliseconds."""
        return [round(post.at, 3) for post in self.posts]


async def ask(s: ReadyCore, command: Command[Any], partner: str = "acme") -> Any:
    """Return the reply of a partner's account."""
    return await s.partner(partner).account().ask(command)


async def save(
    s: ReadyCore, url: str = URL, environment: Environment = "test", partner: str = "acme"
) -> str:
    """Save a webhook; return the secret if one was minted, else an empty text."""
    reply = await ask(s, SaveWebhook("ops", environment, url), partner)
    assert isinstance(reply, WebhookSaved), reply
    return reply.secret or ""


async def switch_off(s: ReadyCore, environment: Environment = "test") -> None:
    """Switch an endpoint off."""
    assert isinstance(await ask(s, DisableWebhook("ops", environment)), Webhook)


def nudge(
    s: ReadyCore, match_id: str = "mat_1", environment: Environment = "test", partner: str = "acme"
) -> None:
    """Tell a courier that a match has something new."""
    assert s.partner(partner).courier(environment).tell(Nudge(match_id))


async def send_test(s: ReadyCore, environment: Environment = "test", partner: str = "acme") -> Any:
    """Return the courier's reply to the command to send a test event."""
    return await s.partner(partner).courier(environment).ask(SendTest())


async def webhook(
    s: ReadyCore, environment: Environment = "test", partner: str = "acme"
) -> Webhook:
    """Return an endpoint as its row now is."""
    found = await find_webhook(s.reader, partner, environment)
    assert found is not None
    return found


async def failures(s: ReadyCore, environment: Environment = "test", partner: str = "acme") -> int:
    """Return an endpoint's run of failures."""
    return (await webhook(s, environment, partner)).consecutive_failures


async def log(
    s: ReadyCore, environment: Environment = "test", partner: str = "acme"
) -> list[Attempt]:
    """Return the whole attempt log, the newest first."""
    return await log_rows.attempts_before(s.reader, partner, environment, NEWEST, 0, 10_000)


async def fail(s: ReadyCore, times: int) -> None:
    """Let nudges fail one after the other, at an endpoint that refuses them for good."""
    for _ in range(times):
        nudge(s)
        await trio.sleep(0.01)


def rest(s: ReadyCore) -> None:
    """Let the partner rest, as after too many crashes of its actors."""
    for _ in range(RESTART_LIMIT.restarts + 1):
        s.partner().restarts.crashed(trio.current_time())


def select(s: ReadyCore, sql: str, *params: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query, read from the database file."""
    with closing(sqlite3.connect(s.parts.database.path)) as connection:
        return connection.execute(sql, params).fetchall()


def events(
    s: ReadyCore, action: str, partner: str = "acme"
) -> list[tuple[str, dict[str, Any], int]]:
    """Return actor, detail and time of the events of an action, the oldest first."""
    found = select(
        s,
        "select actor, detail, at from event where partner_id = ? and action = ? order by seq",
        partner,
        action,
    )
    return [(actor, msgspec.json.decode(detail), at) for actor, detail, at in found]
