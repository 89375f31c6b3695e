"""Calls a server over many connections from one thread, as fast as it answers or at a fixed rate.

A server's cost must not depend on what its caller spends. So most cases prepare their requests as
bytes beforehand, and only status, length and body are read from an answer.
"""

import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hdrh.histogram import HdrHistogram

LONGEST_US = 60_000_000  # longest time that a histogram can hold
DIGITS = 3  # significant digits of a histogram's values
READ_BYTES = 256 * 1024
PATIENCE_S = 30.0  # seconds without any answer after which a run fails
RETRY_AFTER = b"retry-after:"
REPEATS_MAX = 30  # times that one request is repeated


class NoAnswers(Exception):
    """The server stopped answering, or closed a connection."""


@dataclass
class Outcome:
    """What a run saw: answers by status, seconds, and the times of answers in microseconds.

    `repeated`: answers that asked to repeat the request later. No other field counts them.
    """

    statuses: dict[int, int] = field(default_factory=dict)
    repeated: int = 0
    seconds: float = 0.0
    times_us: HdrHistogram = field(default_factory=lambda: HdrHistogram(1, LONGEST_US, DIGITS))
    last_s: float = 0.0  # from the first request until the last answer

    @property
    def answers(self) -> int:
        """The number of answers."""
        return sum(self.statuses.values())

    def repeats(
        self, answered: "_Connection", at: float, waiting: "deque[tuple[float, Sent]]"
    ) -> bool:
        """Count a connection's answer; if it asks for a repetition, add the request to `waiting`.

        Return whether the answer asks for a repetition.
        """
        again_s = answered.repeat_after_s()
        if again_s is not None:
            self.repeated += 1
            waiting.append((at + again_s, answered.sent))
            return True
        self.times_us.record_value(max(1, int((at - answered.sent.at) * 1e6)))
        status = int(answered.read[9:12])
        self.statuses[status] = self.statuses.get(status, 0) + 1
        return False

    def bad(self) -> int:
        """Return how many answers had another status than 200."""
        return self.answers - self.statuses.get(200, 0)


@dataclass
class Sent:
    """A request, the moment from which its answer is timed, and how often it was repeated."""

    request: bytes
    at: float
    repeats: int = 0


class _Connection:
    """One keep-alive connection with at most one request under way."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent = Sent(b"", 0.0)
        self.read = b""

    def send(self, sent: "Sent") -> None:
        """Send a request."""
        self.sent, self.read = sent, b""
        self.socket.sendall(sent.request)

    def receive(self) -> tuple[int, bytes] | None:
        """Return status and body once the whole answer is here. Raises `NoAnswers`."""
        data = self.socket.recv(READ_BYTES)
        if not data:
            raise NoAnswers("the server closed a connection")
        self.read = self.read + data if self.read else data
        head = self.read.find(b"\r\n\r\n")
        if head < 0:
            return None
        lowered = self.read[:head].lower()
        mark = lowered.find(b"content-length:")
        if mark < 0:
            raise NoAnswers("an answer has no Content-Length")
        end = lowered.find(b"\r\n", mark)
        length = int(lowered[mark + 15 : end if end >= 0 else head])
        if len(self.read) < head + 4 + length:
            return None
        return int(self.read[9:12]), self.read[head + 4 :]

    def repeat_after_s(self) -> float | None:
        """Return after how many seconds to repeat the request; None if this is its answer."""
        if self.read[9:12] != b"503" or self.sent.repeats >= REPEATS_MAX:
            return None
        lowered = self.read[: self.read.find(b"\r\n\r\n")].lower()
        _, found, value = lowered.partition(RETRY_AFTER)
        if not found:
            return None
        self.sent.repeats += 1
        return float(value.split(b"\r\n", 1)[0])


def post(address: tuple[str, int], path: str, body: bytes, token: str = "") -> bytes:
    """Return a POST request as bytes."""
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n{authorization}"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def get(address: tuple[str, int], path: str, token: str) -> bytes:
    """Return a GET request as bytes."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    ).encode()


def _close(connections: list[_Connection], selector: selectors.BaseSelector) -> None:
    for connection in connections:
        connection.socket.close()
    selector.close()


def _open(
    address: tuple[str, int], connections: int, selector: selectors.BaseSelector
) -> list[_Connection]:
    opened = [_Connection(address) for _ in range(connections)]
    for connection in opened:
        selector.register(connection.socket, selectors.EVENT_READ, connection)
    return opened


def call(
    address: tuple[str, int],
    requests: Iterator[bytes],
    *,
    connections: int,
    check: Callable[[int, bytes], None] | None = None,
    rate: float | None = None,
    patience_s: float = PATIENCE_S,
) -> Outcome:
    """Send all requests and return what came back.

    Without `rate` each connection sends its next request when its last one is answered. With
    `rate` (requests per second), requests are due at even intervals, and the time of each is
    counted from the moment when it was due, so that a server that falls behind cannot hide it.
    `check` gets status and body of each answer. Raises `NoAnswers` after `patience_s` without one.

    A 503 with Retry-After says that nothing was done, so its request is repeated unchanged after
    that time, as every client should do. The wait counts in the answer's time.
    """
    waiting: deque[tuple[float, Sent]] = deque()  # requests to repeat, and when
    outcome, selector = Outcome(), selectors.EpollSelector()
    everyone = _open(address, connections, selector)
    free = list(everyone)
    began = heard = time.perf_counter()
    number, more = 0, True
    try:
        while more or waiting or len(free) < connections:
            now = time.perf_counter()
            while waiting and free and waiting[0][0] <= now:
                free.pop().send(waiting.popleft()[1])
            while more and free and (rate is None or began + number / rate <= now):
                request = next(requests, None)
                if request is None:
                    more = False
                else:
                    free.pop().send(Sent(request, now if rate is None else began + number / rate))
                    number += 1
            if not (more or waiting) and len(free) == connections:
                break  # no request is left, and all are answered
            wait = patience_s
            if more and rate is not None and free:
                wait = max(0.0, began + number / rate - time.perf_counter())
            if waiting and free:
                wait = min(wait, max(0.0, waiting[0][0] - time.perf_counter()))
            for key, _ in selector.select(wait):
                answer = key.data.receive()
                if answer is None:
                    continue
                heard = time.perf_counter()
                free.append(key.data)
                if not outcome.repeats(key.data, heard, waiting) and check is not None:
                    check(*answer)
            if len(free) < connections and time.perf_counter() - heard > patience_s:
                raise NoAnswers(f"no answer for {patience_s:g} s")
    finally:
        _close(everyone, selector)
    outcome.seconds = outcome.last_s = heard - began
    return outcome
