"""Partners' webhook endpoints that answer as a test says."""

from collections import defaultdict
from collections.abc import Mapping

import msgspec
import trio

from pgs.domain.nudges import SIGNATURE_HEADER, TryOutcome, verify_signature

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
        """Return whether this try is signed with the secret, at the time in its body."""
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

    def close_idle(self) -> None:
        """Do nothing: there are no connections."""

    def close(self) -> None:
        """Do nothing: there are no connections."""

    @property
    def times(self) -> list[float]:
        """When each try began, in seconds rounded to milliseconds."""
        return [round(post.at, 3) for post in self.posts]
