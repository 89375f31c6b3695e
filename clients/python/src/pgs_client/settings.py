"""What `Client` and `TrioClient` share: their settings, and how they use httpx."""

import re
import secrets
import socket
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx

from pgs_client.flows import Request, Retries, Timeouts
from pgs_client.records import Answer

API_VERSION: Final = 1
"""The version of the interface that this client speaks. It is sent with every call."""

USER_AGENT: Final = "pgs-client-python/0.1.0"

LOST: Final = (httpx.TransportError, httpx.StreamError, httpx.DecodingError, httpx.InvalidURL)
"""What httpx raises if no whole answer comes."""

SEEN_MAX: Final = 256
"""Request ids that a client remembers: those of its newest answers. If a proxy sends an answer
twice, the next call on the same connection receives the second copy (see `SeenAnswers`). httpx
opens at most 100 connections, so fewer than 256 other answers usually come between the two."""

_KEY = re.compile(r"pgs_(test|live)_[0-9A-Za-z]{46}", re.ASCII)


def new_idempotency_key() -> str:
    """Return a new name for a purchase. Store it with the purchase before the first call."""
    return secrets.token_hex(16)


@dataclass(frozen=True)
class Settings:
    """Where and how the client calls. Raises ValueError for an address or a key that is wrong."""

    base_url: str
    key: str = field(repr=False)
    timeouts: Timeouts
    retries: Retries
    plain_http: bool

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        loopback = parts.hostname in ("127.0.0.1", "::1", "localhost")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise ValueError("base_url must be an https address without a query")
        if parts.scheme == "http" and not (loopback or self.plain_http):
            raise ValueError("base_url must be https: plain http would show the key to others")
        if not _KEY.fullmatch(self.key):
            raise ValueError("the key must be pgs_test_ or pgs_live_ and 46 letters or digits")

    @property
    def environment(self) -> str:
        """The environment of the key: test or live."""
        return "test" if self.key.startswith("pgs_test_") else "live"

    def headers(self, request: Request) -> dict[str, str]:
        """Return the headers of a request."""
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Accept": "application/json",
            "User-Agent": USER_AGENT,
            "X-Service-Api-Version": str(API_VERSION),
        }
        if request.content is not None:
            headers["Content-Type"] = "application/json"
        if request.method != "GET":
            headers["Content-Length"] = str(len(request.content or b""))
        return headers

    def url(self, request: Request) -> str:
        """Return the address of a request."""
        return self.base_url.rstrip("/") + request.path

    def extensions(self, request: Request) -> dict[str, dict[str, float]]:
        """Return the timeouts of a request, as httpx takes them."""
        limits = self.timeouts
        return {
            "timeout": {
                "connect": limits.connect_s,
                "write": limits.send_s,
                "read": request.answer_s,
                "pool": limits.pool_s,
            }
        }


class AnsweredAlready(Exception):
    """The answer belongs to an earlier call. This call may still be carried out."""


class SeenAnswers:
    """Tells whether an answer came before, by its request id. Threads may share it.

    A proxy that sends an answer twice leaves the second copy on the connection, where the next call
    would take it for its own.
    """

    def __init__(self) -> None:
        self._seen: deque[str | None] = deque(maxlen=SEEN_MAX)
        self._lock = threading.Lock()

    def came_before(self, response: httpx.Response) -> bool:
        """Return whether this answer came before, and remember it.

        If it came before, its connection is shut down, because further answers on it would reach
        the wrong calls.
        """
        request_id = response.headers.get("x-request-id")
        with self._lock:
            if request_id is None or request_id not in self._seen:
                self._seen.append(request_id)
                return False
        stream = response.extensions.get("network_stream")
        connection = None if stream is None else stream.get_extra_info("socket")
        if connection is not None:
            # To the pool, the connection now looks as if the service had ended it.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        return True


def answer_of(response: httpx.Response, took_s: float) -> Answer:
    """Return a response that was read to its end."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, response.content, took_s)
