"""What the client does, without input and output: generators that a driver carries out.

A flow yields a step, and the driver sends the step's result into the generator. The drivers in
`client.py` and `trio_client.py` send requests, wait, and use the store; everything else is decided
here.
"""

import json
import logging
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from random import SystemRandom
from typing import Any, Generic, TypeVar

from pgs_client.errors import (
    InvalidCursor,
    NoAnswer,
    PgsError,
    UnexpectedAnswer,
    service_error,
)
from pgs_client.records import Answer, Json, Page, Row, Unreadable

T = TypeVar("T")

QUIET_S = 1.0
"""Seconds to wait after a 429 that does not say how long to wait. `follow` also waits this long
after an empty page that came sooner than this: the service has not held the call, and `follow` must
not call it again and again without a pause."""

MARGIN_S = 15.0
"""Seconds for which the service may be silent beyond the time for which it holds a call."""

_LOG = logging.getLogger("pgs_client")
_CHANCE = SystemRandom().random


@dataclass(frozen=True)
class Timeouts:
    """Seconds that each part of a call may take.

    `answer_s`: for how long the service may be silent. The default exceeds the 10 seconds for which
    the service waits for its settlement. In a call that is held for the feed, the service may be
    silent for `MARGIN_S` longer than it holds the call, whatever `answer_s` is.
    """

    connect_s: float = 5.0
    send_s: float = 5.0
    answer_s: float = 15.0
    pool_s: float = 30.0


@dataclass(frozen=True)
class Retries:
    """How often a call is made, and the pauses between the tries.

    The pause doubles with each try up to `longest_pause_s`, and half of it is drawn at random. It
    is never shorter than the Retry-After of an answer. An answer that asks for more than
    `longest_retry_after_s` is raised without a further try.
    """

    tries: int = 6
    first_pause_s: float = 0.5
    longest_pause_s: float = 8.0
    longest_retry_after_s: float = 60.0

    def pause_s(self, tried: int, retry_after_s: float | None, chance: float) -> float:
        """Return the pause after `tried` tries. `chance`: a random number from 0 to 1."""
        full = min(self.longest_pause_s, self.first_pause_s * 2.0 ** min(tried - 1, 30))
        jittered = full * (0.5 + chance / 2)
        if retry_after_s is None:
            return jittered
        # Clients that were all refused together must not all come back together.
        return max(jittered, retry_after_s + self.first_pause_s * chance)


@dataclass(frozen=True)
class Request:
    """A step: send this and read the whole answer. `path` has the query. Result: Answer or Lost."""

    method: str
    path: str
    content: bytes | None
    answer_s: float


@dataclass(frozen=True)
class Pause:
    """A step: wait. Result: None."""

    seconds: float


@dataclass(frozen=True)
class LoadCursor:
    """A step: read the cursor from the store. Result: the cursor, or None."""


@dataclass(frozen=True)
class Save:
    """A step: write rows and cursor to the store, in one transaction. Result: None."""

    rows: Sequence[Row]
    cursor: str


@dataclass(frozen=True)
class Lost:
    """No whole answer came."""

    error: Exception


Step = Request | Pause | LoadCursor | Save
Flow = Generator[Step, Any, T]


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call of the service. `read` turns a successful answer into what the caller gets.

    `echo`: fields that the answer to this call must repeat. `is_settled` tells whether a successful
    answer needs no further try. Every call may be repeated: reads change nothing, a session costs
    nothing, a seat is named by its idempotency key, and a cancellation or decision counts once.
    """

    method: str
    path: str
    read: Callable[[Json, Answer], T]
    sent: Json | None = None
    echo: Json = field(default_factory=dict)
    held_s: float = 0.0
    is_settled: Callable[[T], bool] = lambda _: True


def attempt(
    call: Call[T],
    timeouts: Timeouts,
    retries: Retries,
    chance: Callable[[], float] = _CHANCE,
) -> Flow[T]:
    """Return what a call reads, after at most `retries.tries` tries. Raises `PgsError`."""
    content = None if call.sent is None else json.dumps(call.sent).encode()
    answer_s = timeouts.answer_s if not call.held_s else call.held_s + MARGIN_S
    request = Request(call.method, call.path, content, answer_s)
    for tried in range(1, retries.tries + 1):
        heard = yield request
        retry_after_s = None
        try:
            read = _judge(call, heard)
        except PgsError as error:
            retry_after_s = error.retry_after_s
            too_long = retry_after_s is not None and retry_after_s > retries.longest_retry_after_s
            if not error.may_pass or too_long or tried == retries.tries:
                raise
        else:
            if call.is_settled(read) or tried == retries.tries:
                return read
        yield Pause(retries.pause_s(tried, retry_after_s, chance()))
    raise ValueError("Retries.tries must be at least 1")


def _judge(call: Call[T], heard: Answer | Lost) -> T:
    """Return what an answer says. Raises `PgsError`."""
    if isinstance(heard, Lost):
        name = type(heard.error).__name__
        raise NoAnswer(f"no answer to {call.method} {call.path}: {name}") from heard.error
    sent = _json_object(heard.content)
    if heard.status >= 400:
        retry_after_s = _retry_after(heard)
        if heard.status == 429 and retry_after_s is None:
            retry_after_s = QUIET_S
        request_id = heard.headers.get("x-request-id")
        error = service_error(heard.status, sent or {}, request_id, retry_after_s)
        error.answer = heard
        raise error
    if heard.status != 200 or sent is None:
        raise UnexpectedAnswer(
            f"{call.method} {call.path} was answered with {heard.status} and no JSON object",
            may_pass=heard.status == 200,
        )
    strange = [name for name, value in call.echo.items() if sent.get(name) != value]
    if strange:
        raise UnexpectedAnswer(
            f"the answer to {call.method} {call.path} belongs to another call: {strange}",
            may_pass=True,
        )
    try:
        return call.read(sent, heard)
    except Unreadable as error:
        raise UnexpectedAnswer(
            f"the answer to {call.method} {call.path} cannot be read: {error}", may_pass=True
        ) from error


def _json_object(content: bytes) -> Json | None:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _retry_after(answer: Answer) -> float | None:
    said = answer.headers.get("retry-after", "")
    return float(said) if said.isascii() and said.isdigit() and len(said) <= 9 else None


@dataclass(frozen=True)
class Feed:
    """How the feed is read.

    `results` takes a cursor, and the seconds for which the service is to hold the call. It returns
    the call.
    """

    results: Callable[[str | None, int], Call[Page[Row]]]
    timeouts: Timeouts
    retries: Retries


def read_on(feed: Feed, wait_s: int) -> Flow[Page[Row]]:
    """Return the next page of the feed, after the store has taken its rows and its cursor.

    A cursor that the service refuses is dropped: the feed is read from its beginning. The store
    keeps the rows that it has.
    """
    cursor: str | None = yield LoadCursor()
    try:
        page = yield from _page(feed, cursor, wait_s)
    except InvalidCursor:
        if cursor is None:
            raise
        _LOG.warning("the feed's cursor is not valid any more; reading from the beginning")
        page = yield from _page(feed, None, 0)
    if page.next_cursor is not None and (page.items or page.next_cursor != cursor):
        yield Save(page.items, page.next_cursor)
    return page


def _page(feed: Feed, cursor: str | None, wait_s: int) -> Flow[Page[Row]]:
    return (yield from attempt(feed.results(cursor, wait_s), feed.timeouts, feed.retries))


def wait_for_rows(feed: Feed, wait_s: int) -> Flow[tuple[Row, ...]]:
    """Return the next rows, however long they take, after the store has taken them.

    If a call fails and may succeed later, this logs a warning, and tries again after a pause. It
    raises every other failure.
    """
    while True:
        try:
            page = yield from read_on(feed, wait_s)
        except PgsError as error:
            if not error.may_pass:
                raise
            _LOG.warning("the feed cannot be read, trying again: %s", error)
            yield Pause(max(feed.retries.longest_pause_s, error.retry_after_s or 0.0))
            continue
        if page.items:
            return page.items
        if not page.has_more and page.took_s < QUIET_S:
            yield Pause(QUIET_S)
